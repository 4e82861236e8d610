"""Attention over the pages of a key/value cache, as inference servers call it.

The lengths of the requests are in tensors, whose values no trace records. The annotation of the
server's step gives their sums, from which work follows exactly. Of one request with sq = 3 new
tokens and sk = 5 keys, two of them cached, the mask lets a query see the keys up to its own::

               keys   0 1 2 3 4
    first query       x x x . .
    second            x x x x .
    third             x x x x x        pairs: sq·sk − sq·(sq − 1)/2 = 15 − 3 = 12
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.server_steps import Requests
from torch_tb_profiler.hardware.work import Work, matrix_work, model, models_beside

modelled = models_beside(__file__)

SOURCE = (
    "2·pairs·H·(d_qk + d_v) FLOPs, pairs: Σ sq·sk − Σ sq·(sq − 1)/2, from the sums in the annotation"
    " of the server's step; Σ sq rows of Q read and of the output written, Σ sk rows of cached K and"
    " V read"
)
_LATENT = SOURCE + "; V is a part of K (multi-head latent attention)"


class Token(msgspec.Struct, frozen=True):
    """What one token has of the query, key, value and result: (heads, elements), or (elements,)."""

    q: Tensor
    k: Tensor
    v: Tensor
    out: Tensor

    @property
    def sizes(self) -> dict[str, object]:
        """Named as in the formula; empty where heads are not told apart."""
        if not len(self.q.shape) == len(self.k.shape) == len(self.out.shape) == 2:
            return {}
        (heads, d), kv_heads, d_v = self.q.shape, self.k.shape[0], self.out.shape[1]
        sizes: dict[str, object] = {"H": heads}
        if kv_heads != heads:
            sizes["H_kv"] = kv_heads
        sizes["d"] = d
        if d_v != d:
            sizes["d_v"] = d_v
        return sizes


def of_step(
    call: Call,
    tokens: int,
    token: Token,
    *,
    decodes: bool = False,
    causal: bool = True,
    left: int | None = None,
) -> Work | None:
    """The work of a call that the server's step explains; None without its sums. Its parameters are
    the same in all steps.

    tokens: rows of the query. decodes: the kernel leaves out prompts. left: keys before its own
    that a query sees.
    """
    served = _served(call, tokens, decodes=decodes)
    if not served:
        return None
    queries = sum(kind.query for kind in served)
    keys = sum(kind.keys for kind in served)
    pairs = sum(kind.query_keys for kind in served)
    if causal:
        pairs -= sum(kind.query_squares - kind.query for kind in served) // 2
    sizes = token.sizes
    if left is not None:
        # The sums do not tell which requests are longer than the window.
        pairs = min(pairs, queries * (left + 1))
        requests = [kind.requests for kind in served]
        if min(requests) >= 0:
            keys = min(keys, queries + sum(requests) * left)
        sizes |= {"window": left, "lengths": "not recorded: FLOPs are the most possible"}
    rows = [
        Tensor((count, part.elements), part.dtype)
        for count, part in (
            (queries, token.q),
            (queries, token.out),
            (keys, token.k),
            (keys, token.v),
        )
    ]
    flops = 2 * pairs * (token.q.elements + token.out.elements)
    return matrix_work(flops, token.q, rows, sizes)


def _served(call: Call, tokens: int, *, decodes: bool) -> list[Requests]:
    """The requests that a call of so many rows is for; none if the annotation does not tell."""
    step = required(call.step)
    kinds = [step.generation] if decodes else [step.context, step.generation]
    kinds = [kind for kind in kinds if kind.query != 0]
    if not all(_valid(kind) for kind in kinds):
        return []
    if tokens >= sum(kind.query for kind in kinds):
        # More are padding.
        return kinds
    # Some servers call one kernel for prompts and one for the rest.
    alone = [kind for kind in kinds if kind.query == tokens]
    return alone if len(alone) == 1 else []


def _valid(kind: Requests) -> bool:
    """Whether all sums are known and possible: a request has as many keys as queries, or more."""
    return (
        0 < kind.query <= kind.query_squares <= kind.query_keys
        and kind.query <= kind.keys
        and kind.query_keys <= kind.query * kind.keys
    )


def row(tensor: Tensor, leading: int = 1) -> Tensor:
    """One token of a tensor whose ``leading`` dimensions count tokens."""
    return Tensor(tensor.shape[leading:], tensor.dtype)


@modelled
def layer(call: Call) -> Work | None:
    """``unified_attention_with_output(q[tokens, H, d], k, v, out, …)`` of vLLM and SGLang, whose cache
    is not an argument.
    """
    q, k, v = call.need(0), call.need(1), call.need(2)
    if any(call.tensor(i) is not None for i in (6, 7)) and call.name.startswith("sglang"):
        # Latent attention: the rotated parts of query and key come apart.
        return None
    out = call.tensor(3) if call.name.endswith("_with_output") else None
    if out is None:
        heads = q.elements // max(k.elements, 1) * v.elements
        out = Tensor((q.shape[0], heads // max(q.shape[0], 1)), q.dtype)
    cached = min((q, k), key=lambda tensor: tensor.element_bytes or 0).dtype
    key, value = row(k), row(v)
    token = Token(row(q), Tensor(key.shape, cached), Tensor(value.shape, cached), row(out))
    if not _groups(token.q, token.k):
        return None
    return of_step(call, q.shape[0], token)


_PAGED: dict[str, tuple[int, int]] = {
    "_C::paged_attention_v1": (0, 1),
    "_C::paged_attention_v2": (0, 4),
    "_rocm_C::paged_attention": (0, 4),
    "aiter::paged_attention_rocm": (0, 4),
    "aiter::paged_attention_v1": (0, 2),
    "aiter::paged_attention_ragged": (0, 2),
    "sglang_profiler::attention_paged_attention_ragged*": (0, 2),
    "aiter::pa_decode_gluon": (0, 1),
    "aiter::pa_fwd_asm": (-1, 0),
    "aiter::pa_fwd_naive": (-1, 0),
}
"""Operator → arguments of the result (-1: returned) and the query; both caches follow the query."""


@model("attention", *_PAGED, source=SOURCE, of_step=True)
def decode(call: Call) -> Work | None:
    """``paged_attention_v1(out, q[requests, H, d], key cache, value cache, …)`` of vLLM, AITER and
    SGLang: one row of the query per generated token.
    """
    place = _PAGED.get(call.name) or _PAGED["sglang_profiler::attention_paged_attention_ragged*"]
    at, first = place
    q, keys, values = (call.need(first + i) for i in range(3))
    out = call.need(at) if at >= 0 else q
    heads = required(_kv_heads(call, keys, blocked=first != 2))
    (_, _, d), d_v = q.shape, out.shape[-1]
    key, value = Tensor((heads, d), keys.dtype), Tensor((heads, d_v), values.dtype)
    token = Token(row(q), key, value, row(out))
    if not _groups(token.q, token.k):
        return None
    window = call.value(19) if call.name == "aiter::pa_decode_gluon" else None
    # Of this kernel a window counts the query's own key.
    left = window - 1 if isinstance(window, int) and window > 0 else None
    return of_step(call, q.shape[0], token, decodes=True, left=left)


def _kv_heads(call: Call, keys: Tensor, *, blocked: bool) -> int | None:
    """Heads of a cache: (pages, heads, d / x, page, x) if ``blocked`` or of five dimensions, else
    (pages, page, heads, d).
    """
    if len(keys.shape) not in (4, 5):
        return None
    return keys.shape[1 if blocked or len(keys.shape) == 5 else 2]


_LATENT_PLACES: dict[str, tuple[tuple[int, ...], int]] = {
    "_C::sm100_cutlass_mla_decode": ((2, 3), 4),
    "sgl_kernel::cutlass_mla_decode": ((1, 2), 3),
    "_flashmla_C::fwd_kvcache_mla": ((0,), 1),
    "sgl_kernel::fwd_kvcache_mla": ((0,), 1),
}
"""Operator → arguments that make up the query, and the cache."""


@model("attention", *_LATENT_PLACES, source=_LATENT, of_step=True)
def latent(call: Call) -> Work | None:
    """``sm100_cutlass_mla_decode(out, lse, q_nope[requests, H, 512], q_pe[requests, H, 64], cache, …)``,
    ``fwd_kvcache_mla(q[requests, sq, H, 576], cache, d_v, …)``.
    """
    places, at = _LATENT_PLACES[call.name]
    parts, cache = [call.need(i) for i in places], call.need(at)
    if at == 1:
        if not 0 < (d_v := call.integer(2)) < cache.shape[-1]:
            return None
        if call.name.startswith("sgl_kernel") and call.tensor(10) is not None:
            # Chosen keys only.
            return None
    else:
        d_v = parts[0].shape[-1]
    heads, d = parts[0].shape[-2], sum(part.shape[-1] for part in parts)
    if d != cache.shape[-1]:
        return None
    dtype = parts[0].dtype
    out = Tensor((heads, d_v), "bfloat16" if parts[0].element_bytes == 1 else dtype)
    key = Tensor((1, d), cache.dtype)
    token = Token(Tensor((heads, d), dtype), key, Tensor((0, d_v), cache.dtype), out)
    return of_step(call, math.prod(parts[0].shape[:-2]), token, decodes=True)


@modelled
def flashinfer(call: Call) -> Work | None:
    """``batch_prefill_with_kv_cache_…_paged_run(workspaces, plan, q, key cache, value cache, …)``,
    ``batch_decode_…_run(…)`` of FlashInfer.
    """
    decodes = "::batch_decode" in call.name
    if not call.name.endswith("_run" if decodes else "_paged_run"):
        return None
    q, keys, values, out = (call.need(i) for i in (3, 4, 5, 9 if decodes else 10))
    layout, window = (call.integer(i) for i in ((11, 12) if decodes else (13, 14)))
    mask = 1 if decodes else call.integer(12)
    if len(keys.shape) != 4 or layout not in (0, 1) or mask not in (0, 1):
        # A mask of another kind is a tensor.
        return None
    heads = keys.shape[1 if layout else 2]
    token = Token(
        row(q),
        Tensor((heads, keys.shape[-1]), keys.dtype),
        Tensor((heads, values.shape[-1]), values.dtype),
        row(out),
    )
    if not _groups(token.q, token.k):
        return None
    left = window if window >= 0 else None
    return of_step(call, q.shape[0], token, decodes=decodes, causal=mask == 1, left=left)


def _groups(q: Tensor, k: Tensor) -> bool:
    """Whether the heads of the query can share those of the key."""
    if len(q.shape) != 2 or len(k.shape) != 2:
        return len(q.shape) == 1 or len(k.shape) == 1
    return k.shape[0] > 0 and q.shape[0] % k.shape[0] == 0 and q.shape[1] == k.shape[1]


def with_pages(
    call: Call,
    parts: Sequence[Tensor],
    k: Tensor,
    v: Tensor,
    *,
    causal: bool,
    left: int | None,
) -> Work | None:
    """The work of ``flash_attn_varlen_func`` with a block table or used lengths.

    parts: q[…, H, d], and what is multiplied with V's columns before (FlashAttention 3's ``qv``).
    """
    q = parts[0]
    out = Tensor((q.shape[-2], v.shape[-1]), "bfloat16" if q.element_bytes == 1 else q.dtype)
    query = Tensor((q.shape[-2], sum(part.shape[-1] for part in parts)), q.dtype)
    key = Tensor(k.shape[-2:], k.dtype)
    if k.shape[-2] < 1 or q.shape[-2] % k.shape[-2] or q.shape[-1] != k.shape[-1]:
        return None
    token = Token(query, key, Tensor(v.shape[-2:], v.dtype), out)
    return of_step(call, math.prod(q.shape[:-2]), token, causal=causal, left=left)
