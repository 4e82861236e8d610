"""Chains of memory-bound calls of which a compiler would make one kernel each, so that the tensors
between them need not exist.

::

    q [8,64] cos            q[:, 32:]
       │ │                      │
      mul ──┐                  neg ── cat ── mul ── add
            └──────────────────────────────────────┘        four inner tensors

A call reads the result that was made last of those with the shape and element type of its input, and
that nothing read before. Traces do not say which tensor is read: this is what shapes and order tell.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.element_types import element_bytes, kind
from torch_tb_profiler.hardware.families.elementwise import operands_and_result
from torch_tb_profiler.hardware.results import reduced
from torch_tb_profiler.hardware.work import operators

_ALIKE = (
    "clone _softmax softmax _log_softmax log_softmax native_layer_norm layer_norm rms_norm"
    " _fused_rms_norm native_dropout dropout"
)
_SAME = operators(f"aten: {_ALIKE}")
"""Functions whose first result is like their first argument."""
_REDUCING = frozenset(["aten::mean", "aten::sum", "aten::amax", "aten::amin"])
_JOINING = operators("aten: cat concat")
MOST_CALLS = 4096
"""Calls in a row that are looked at together."""
_DEEPEST = 16
"""Results of a shape among which one is looked for."""
PATTERNS: tuple[tuple[str, frozenset[str]], ...] = (
    ("RoPE", frozenset(["neg", "cat", "mul", "add"])),
    ("RMSNorm", frozenset(["pow", "mean", "rsqrt", "mul"])),
    ("GELU", frozenset(["pow", "tanh", "mul", "add"])),
    ("GELU", frozenset(["erf", "mul", "add"])),
    ("softmax", frozenset(["exp", "sum", "div"])),
    ("SwiGLU", frozenset(["silu", "mul"])),
    ("SiLU", frozenset(["sigmoid", "mul"])),
    ("dropout and residual", frozenset(["native_dropout", "add"])),
    ("residual and LayerNorm", frozenset(["native_layer_norm", "add"])),
)
"""What a chain with all of these functions usually is; the first one that fits."""


class Step(msgspec.Struct, frozen=True):
    """A memory-bound call: the tensors that it reads, and its result, which a later one may read."""

    reads: tuple[Tensor, ...]
    result: Tensor


class Inner(msgspec.Struct, frozen=True):
    """A tensor between two calls of a chain, positions in the run: who writes and who reads it."""

    writer: int
    reader: int
    bytes: int


def step_of(call: Call) -> Step | None:
    """The call as part of a chain; None if it is none, or its result cannot be told."""
    own = operands_and_result(call)
    if own is not None:
        return Step(*own)
    x = call.tensor(0)
    if call.name in _JOINING:
        return _joined(call)
    if x is None:
        return None
    if call.name == "aten::copy_":
        source = call.tensor(1)
        return None if source is None else Step((source,), x.dense)
    if call.name in _SAME:
        return Step((x,), x.dense)
    if call.name in _REDUCING:
        dims, keep = call.integers(1), call.value(2)
        try:
            return Step((x,), Tensor(reduced(x.shape, dims, keep is True), x.dtype))
        except ValueError:
            return None
    return None


def _joined(call: Call) -> Step | None:
    tensors, axis = call.tensors(0), call.value(1)
    axis = 0 if axis is None else axis
    if not tensors or not isinstance(axis, int):
        return None
    shape = list(tensors[0].shape)
    if not -len(shape) <= axis < len(shape) or any(len(t.shape) != len(shape) for t in tensors):
        return None
    shape[axis] = sum(tensor.shape[axis] for tensor in tensors)
    return Step(tensors, Tensor(tuple(shape), tensors[0].dtype))


def inner_tensors(run: Sequence[Step]) -> list[Inner]:
    """The tensors of a run of calls, in order, that only calls of the run write and read."""
    pending: dict[tuple[int, ...], list[tuple[int, str]]] = {}
    inner = []
    for reader, step in enumerate(run[:MOST_CALLS]):
        dtype = step.result.dtype
        for tensor in step.reads:
            made = pending.get(tensor.shape, [])
            place = _last_like(made, tensor.dtype)
            if place is None:
                continue
            writer, written = made.pop(place)
            # The element types of a list of tensors are not recorded.
            read = Tensor(tensor.shape, tensor.dtype or written)
            dtype = dtype or read.dtype
            if read.bytes:
                inner.append(Inner(writer, reader, read.bytes))
        pending.setdefault(step.result.shape, []).append((reader, dtype))
    return inner


def _last_like(made: Sequence[tuple[int, str]], dtype: str) -> int | None:
    """Which result could be of an element type, the last one first."""
    for place in range(len(made) - 1, max(len(made) - _DEEPEST, 0) - 1, -1):
        written = made[place][1]
        if not (dtype and written) or _type(dtype) == _type(written):
            return place
    return None


def _type(dtype: str) -> tuple[str, int | None]:
    return kind(dtype), element_bytes(dtype)


def chains_of(inner: Sequence[Inner]) -> list[tuple[int, ...]]:
    """The calls that inner tensors join, each chain in order; positions in the run."""
    chain: dict[int, list[int]] = {}
    for tensor in inner:
        one = chain.setdefault(tensor.writer, [tensor.writer])
        other = chain.setdefault(tensor.reader, [tensor.reader])
        if one is not other:
            one += other
            for call in other:
                chain[call] = one
    return sorted({tuple(sorted(calls)) for calls in chain.values()})


def title_of(names: Sequence[str]) -> str:
    """What a chain of functions usually is: ``RoPE``; the functions themselves where it is nothing
    known.
    """
    plain = [name.rpartition("::")[2] for name in names]
    known = next((title for title, functions in PATTERNS if functions <= set(plain)), None)
    return known or ", ".join(dict.fromkeys(plain))
