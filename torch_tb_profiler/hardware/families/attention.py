"""Scaled dot product attention, forward and backward; causal masks and windows are counted exactly."""

from __future__ import annotations

import math
from functools import partial

import msgspec

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.families import paged_attention
from torch_tb_profiler.hardware.work import Work, described, matrix_work, model, models_beside

modelled = models_beside(__file__)

SOURCE = (
    "2·B·H·pairs·(d_qk + d_v) FLOPs, pairs: unmasked query-key pairs; Q, K, V and the mask read"
    " once, the output written once"
)
_BACKWARD = (
    "2·B·H·pairs·(3·d_qk + 2·d_v) FLOPs: the scores again, dV, dP, dQ, dK"
    " (torch.utils.flop_counter); O, dO, Q, K, V and the logsumexp read, dQ, dK, dV written"
)
_VARIABLE = (
    "; with unknown sequence lengths, the minimum for the number of tokens, the number of sequences"
    " and the longest one, which all other sequences being equal gives"
)
WHOLE = 1 << 40
"""A window without an end."""


class Window(msgspec.Struct, frozen=True):
    """Query i sees keys ``i + offset - left`` to ``i + offset + right``.

    ``offset`` is 0, or keys - queries if ``bottom_right``.
    """

    left: int = WHOLE
    right: int = WHOLE
    bottom_right: bool = False

    def pairs(self, queries: int, keys: int) -> int:
        """Number of visible pairs."""
        offset = keys - queries if self.bottom_right else 0
        beyond = _below(queries, keys, offset - self.left - 1)
        return _below(queries, keys, offset + self.right) - beyond


def _below(queries: int, keys: int, diagonal: int) -> int:
    """Pairs with ``key <= query + diagonal``: the sum of ``clamp(i + diagonal + 1, 0, keys)``."""

    def total(count: int) -> int:
        full = min(max(count, 0), keys)
        return full * (full + 1) // 2 + max(count - keys, 0) * keys

    return total(diagonal + queries) - total(diagonal)


class _Schema(msgspec.Struct, frozen=True):
    """Argument indices of a schema; -1: no such argument. Key and value follow ``first``, the
    query.
    """

    causal: int
    first: int = 0
    mask: int = -1
    out: int = -1
    """The forward's output, which the backward reads."""
    statistics: int = -1
    """The logsumexp, which the backward reads; by default it follows the output."""
    lengths: int = -1
    """Cumulative sequence lengths of the queries; those of the keys follow."""
    longest: int = -1
    """The longest query; that of the keys follows."""
    window: int = -1
    secret: tuple[int, ...] = ()
    """Tensors whose values select the keys (used lengths, pages): with one, the work is unknown."""
    paged: tuple[int, ...] = ()
    """Tensors whose values select the keys where a server's step tells the lengths."""
    beside: int = -1
    """A second part of the query, whose keys are the values (``qv``)."""
    local: int = -1
    """Window size of CUTLASS kernels, whose ``causal`` is a custom_mask_type."""
    heads_last: bool = False
    """Tensors are (batch, sequence, head, element) instead of (batch, head, sequence, element)."""
    bottom_right: bool = False


_flash = partial(_Schema, heads_last=True, bottom_right=True)
_ROWS, *_ = rows_beside(__file__)
_FORWARD = described(_ROWS["forward"], _Schema)
_QUANTIZED: dict[str, tuple[int, _Schema]] = {
    "aten::_scaled_dot_product_flash_attention": (10, _Schema(causal=7)),
    "aten::_flash_attention_forward": (
        18,
        _flash(causal=8, lengths=3, longest=5, window=14, secret=(16,)),
    ),
}
"""Overloads with scales of eight-bit operands, recognised by their number of arguments."""
_BACKWARDS = described(_ROWS["backward"], _Schema)
_SERVED = [name for name, schema in _FORWARD.items() if schema.paged]
_SERVED_SOURCE = f"{SOURCE}{_VARIABLE}; with pages or used lengths, {paged_attention.SOURCE}"


@model("attention", *_SERVED, source=_SERVED_SOURCE, of_step=True)
def served(call: Call) -> Work | None:
    """``flash_attn_varlen_func(Q, K, V, …)`` as vLLM, SGLang and AITER call it, also with a block
    table.
    """
    return _served(call, _FORWARD[call.name])


@modelled
def aiter_varlen(call: Call) -> Work | None:
    """``mha_varlen_fwd(Q, K, V, lengths, longest, …, zero, causal, window, …, flags, out, block
    table)``: its versions have more or fewer numbers before the flags.
    """
    flags = [i for i in range(7, len(call.inputs)) if isinstance(call.value(i), bool)]
    if len(flags) < 4 or flags[1] != flags[0] + 1:
        return None
    causal, pages = flags[1], flags[3] + (3 if "_v3_" in call.name else 2)
    schema = _flash(causal=causal, lengths=3, longest=5, window=causal + 1, paged=(pages,))
    return _served(call, schema)


def _served(call: Call, schema: _Schema) -> Work | None:
    q, k, v = (call.need(i) for i in range(3))
    if all(call.tensor(index) is None for index in schema.paged):
        return _forward(call, schema)
    window = required(_window(call, schema))
    if any(call.tensor(index) is not None for index in schema.secret):
        return None
    if window.right not in (0, WHOLE):
        return None
    beside = call.tensor(schema.beside)
    return paged_attention.with_pages(
        call,
        [q] if beside is None else [q, beside],
        k,
        v,
        causal=window.right == 0,
        left=None if window.left == WHOLE else window.left,
    )


@model("attention", *(name for name in _FORWARD if name not in _SERVED), source=SOURCE + _VARIABLE)
def forward(call: Call) -> Work | None:
    """``scaled_dot_product_attention(Q, K, V, …)`` in any of its schemas."""
    arity, scaled = _QUANTIZED.get(call.name, (-1, _FORWARD[call.name]))
    return _forward(call, scaled if len(call.inputs) == arity else _FORWARD[call.name])


def _forward(call: Call, schema: _Schema) -> Work | None:
    q, k, v = (call.need(schema.first + i) for i in range(3))
    shape = required(_shape(call, schema, q, k, v))
    # No attention has an eight-bit result.
    dtype = "bfloat16" if q.element_bytes == 1 else q.dtype
    out = Tensor((q.elements // max(shape.d_qk, 1) * shape.d_v,), dtype)
    flops = 2 * shape.scores * (shape.d_qk + shape.d_v)
    return matrix_work(flops, q, [q, k, v, call.tensor(schema.mask), out], shape.parameters())


@model("attention", *_BACKWARDS, source=_BACKWARD + _VARIABLE)
def backward(call: Call) -> Work | None:
    """``…_attention_backward(dO, Q, K, V, …, O, …)``."""
    schema, gradient = _BACKWARDS[call.name], call.need(0)
    q, k, v = (call.need(schema.first + i) for i in range(3))
    shape = required(_shape(call, schema, q, k, v))
    statistics = schema.out + 1 if schema.statistics < 0 else schema.statistics
    others = map(call.tensor, (schema.mask, schema.out, statistics))
    tensors = [gradient, q, k, v, *others, q.dense, k.dense, v.dense]
    flops = 2 * shape.scores * (3 * shape.d_qk + 2 * shape.d_v)
    return matrix_work(flops, q, tensors, shape.parameters())


class _Shape(msgspec.Struct, frozen=True):
    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    d_qk: int
    d_v: int
    pairs: int
    """All pairs of one head."""
    notes: dict[str, object]

    @property
    def scores(self) -> int:
        """Pairs of all heads."""
        return self.heads * self.pairs

    def parameters(self) -> dict[str, object]:
        """Named as in the formula."""
        letters: dict[str, object] = {"B": self.batch, "H": self.heads}
        if self.kv_heads != self.heads:
            letters["H_kv"] = self.kv_heads
        letters |= {"N_q": self.queries, "N_kv": self.keys, "d": self.d_qk}
        if self.d_v != self.d_qk:
            letters["d_v"] = self.d_v
        return letters | self.notes


def _shape(call: Call, schema: _Schema, q: Tensor, k: Tensor, v: Tensor) -> _Shape | None:
    window = required(_window(call, schema))
    if any(call.tensor(index) is not None for index in schema.secret):
        return None
    if not len(q.shape) == len(k.shape) == len(v.shape):
        return None
    if (len(q.shape) == 3 and schema.heads_last) or call.tensor(schema.lengths) is not None:
        return _packed(call, schema, window, q, k, v)
    # Missing heads or batch dimensions are one.
    qs, ks, vs = ((1,) * (4 - len(t.shape)) + t.shape for t in (q, k, v))
    if schema.heads_last:
        qs, ks, vs = ((*s[:-3], s[-2], s[-3], s[-1]) for s in (qs, ks, vs))
    batch, (heads, queries, d_qk) = math.prod(qs[:-3]), qs[-3:]
    kv_heads, keys, d_v = ks[-3], ks[-2], vs[-1]
    if ks[-1] != d_qk or vs[-2] != keys or (kv_heads and heads % kv_heads):
        return None
    pairs = batch * window.pairs(queries, keys)
    return _Shape(batch, heads, kv_heads, queries, keys, d_qk, d_v, pairs, _notes(window))


def _packed(
    call: Call, schema: _Schema, window: Window, q: Tensor, k: Tensor, v: Tensor
) -> _Shape | None:
    """Packed sequences: (tokens, head, element), or the same with a batch of one."""
    ends, key_ends = call.need(schema.lengths), call.need(schema.lengths + 1)
    longest, key_longest = call.integer(schema.longest), call.integer(schema.longest + 1)
    dims = len(q.shape)
    if (
        ends.shape != key_ends.shape
        or dims not in (3, 4)
        or (dims == 4 and {q.shape[0], k.shape[0]} != {1})
    ):
        return None
    sequences, tokens, key_tokens = ends.elements - 1, q.shape[-3], k.shape[-3]
    if sequences < 1:
        return None
    notes = _notes(window)
    if tokens == sequences * longest and key_tokens == sequences * key_longest:
        pairs = sequences * window.pairs(longest, key_longest)
    elif tokens == key_tokens and longest == key_longest:
        least = _least(window, tokens, sequences, min(longest, tokens))
        pairs = _of_prompts(call, window, tokens, key_tokens)
        if pairs < least:
            pairs = least
            notes |= {"lengths": "not recorded: FLOPs are the least possible", "longest": longest}
    else:
        pairs = _of_prompts(call, window, tokens, key_tokens)
        if not pairs:
            return None
    heads, kv_heads = q.shape[-2], k.shape[-2]
    if kv_heads and heads % kv_heads:
        return None
    queries, keys = tokens // sequences, key_tokens // sequences
    d_qk, d_v = q.shape[-1], v.shape[-1]
    return _Shape(sequences, heads, kv_heads, queries, keys, d_qk, d_v, pairs, notes)


def _of_prompts(call: Call, window: Window, tokens: int, key_tokens: int) -> int:
    """Pairs of prompts with themselves or with all their keys, by the server's step; 0 unknown."""
    prompts = call.step.context if call.step is not None else None
    if prompts is None or prompts.query != tokens or window.left < WHOLE:
        return 0
    squares, products = prompts.query_squares, prompts.query_keys
    if squares < tokens:
        return 0
    if key_tokens == tokens:
        products = squares
    elif key_tokens != prompts.keys or not window.bottom_right:
        return 0
    masked = (squares - tokens) // 2
    return max({0: products - masked, WHOLE: products}.get(window.right, 0), 0)


def _least(window: Window, tokens: int, sequences: int, longest: int) -> int:
    """The fewest possible pairs, given the longest sequence: the others are equally long."""
    pairs = window.pairs(longest, longest)
    rest = sequences - 1
    if rest < 1:
        return pairs
    short, longer = divmod(tokens - longest, rest)
    return (
        pairs
        + (rest - longer) * window.pairs(short, short)
        + longer * window.pairs(short + 1, short + 1)
    )


def _window(call: Call, schema: _Schema) -> Window | None:
    """The visible window; None if not recorded. An attention bias is assumed to hide nothing."""
    causal = call.value(schema.causal)
    if schema.local >= 0:
        # custom_mask_type of CUTLASS: 0 none, 1 causal from the top left, 2 from the bottom right.
        # The meaning of its window is not documented.
        if call.value(schema.local) is not None or type(causal) is not int:
            # A boolean: the schema up to PyTorch 2.2, which has no longest key.
            return None
        return {0: Window(), 1: Window(right=0), 2: Window(right=0, bottom_right=True)}.get(causal)
    if not isinstance(causal, bool):
        return None
    first = schema.window
    sides = [call.value(first), call.value(first + 1)] if first >= 0 else [None, None]
    left, right = (n if type(n) is int and n >= 0 else WHOLE for n in sides)
    return Window(left, 0 if causal else right, schema.bottom_right)


def _notes(window: Window) -> dict[str, object]:
    notes: dict[str, object] = {"causal": True} if window.right == 0 else {}
    if window.left < WHOLE or 0 < window.right < WHOLE:
        notes["window"] = tuple(n if n < WHOLE else -1 for n in (window.left, window.right))
    return notes
