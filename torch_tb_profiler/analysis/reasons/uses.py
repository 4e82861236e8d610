"""What one distinct call does with its tensors, as far as shapes tell: what it reads, what it makes, and how.

::

    scores = linear(x)        makes [64, 8000]      from [64, 128]      MAKES
    scores = relu(scores)     makes [64, 8000]      from [64, 8000]     EACH: an element needs the one at its place
    best = scores[:, :5]      reads 5 of 8000       of [64, 8000]       PART
    loss = best.mean()        reads [64, 5]                             WHOLE
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import IntEnum

import msgspec

from torch_tb_profiler.hardware.call import Call, Unrecorded
from torch_tb_profiler.hardware.fusion import step_of
from torch_tb_profiler.hardware.results import Shape, broadcast, windows
from torch_tb_profiler.patterns import regex

DRAWS = regex(
    r"rand|dropout|bernoulli|multinomial|poisson|(?:^|::)(?:normal|uniform|exponential)_?$"
)
"""Names of functions that draw random numbers."""
_LAST = 1 << 60
"""An end that a slice has where it goes to the end."""


class How(IntEnum):
    """How a call uses the tensors that it reads."""

    WHOLE = 0
    """It may read all of them; what it makes is not known, or depends on all."""
    EACH = 1
    """An element of its result needs those at the same place alone."""
    ROWS = 2
    """It is so along all dimensions but the last."""
    MAKES = 3
    """It makes a tensor of another shape, of which any part could be made alone."""
    VIEW = 4
    """It makes another view of the same elements, or a copy of it."""
    PART = 5
    """It reads a part of the first one."""
    ORDERS = 6
    """It puts all elements along a dimension in order, or draws such an order."""


class Use(msgspec.Struct, frozen=True):
    """What a call does. reads: shapes of the tensors with dimensions; makes: that of its result, None unknown; kept: of a part, the share that it
    reads, NaN where values decide; last: whether it takes a part of the last dimension.
    """

    how: How
    reads: tuple[Shape, ...]
    makes: Shape | None = None
    kept: float = 1.0
    last: bool = False


def use_of(call: Call) -> Use:
    """What a call does with its tensors."""
    own = tuple(tensor.shape for tensor in call.every if tensor.shape)
    name = call.name.removeprefix("aten::").rstrip("_")
    try:
        for how, known in _KNOWN.items():
            if name in known and (made := known[name](call)) is not None:
                return Use(how, own, made)
        if name in _PARTS:
            return _part(call, own, _PARTS[name])
    except (IndexError, TypeError, ValueError, ZeroDivisionError, Unrecorded):
        # A trace may hold any numbers.
        return Use(How.WHOLE, own)
    step = step_of(msgspec.structs.replace(call, name=f"aten::{name}"))
    if step is None or not own:
        return Use(How.WHOLE, own)
    largest = max((one.shape for one in step.reads), key=math.prod)
    if name in ("mean", "sum", "amax", "amin", "cat", "concat"):
        return Use(How.WHOLE, own, step.result.shape)
    how = How.ROWS if "softmax" in name or "norm" in name else How.EACH
    made = largest if call.name.endswith("_") else step.result.shape
    return Use(how, own, made)


def _part(call: Call, own: tuple[Shape, ...], taken: Callable[[Call, Shape], _Taken]) -> Use:
    shape = own[0]
    kept, made, last = taken(call, shape)
    if kept == 1:
        return Use(How.VIEW, own, made)
    return Use(How.PART, own, made, kept, last)


_Taken = tuple[float, "Shape | None", bool]


def _axis(call: Call, at: int, shape: Shape) -> int:
    axis = call.value(at)
    return (axis if isinstance(axis, int) else 0) % len(shape)


def _with(shape: Shape, axis: int, size: int) -> _Taken:
    made = (*shape[:axis], size, *shape[axis + 1 :])
    return min(max(size / shape[axis], 0.0), 1.0), made, axis == len(shape) - 1


def _slice(call: Call, shape: Shape) -> _Taken:
    axis = _axis(call, 1, shape)
    begin, end, step = (call.value(at) for at in (2, 3, 4))
    size = len(range(shape[axis])[begin : min(_LAST if end is None else end, _LAST) : step or 1])
    return _with(shape, axis, size)


def _narrow(call: Call, shape: Shape) -> _Taken:
    return _with(shape, _axis(call, 1, shape), call.integer(3))


def _select(call: Call, shape: Shape) -> _Taken:
    axis = _axis(call, 1, shape)
    return 1 / shape[axis], (*shape[:axis], *shape[axis + 1 :]), axis == len(shape) - 1


def _diagonal(call: Call, shape: Shape) -> _Taken:
    if len(shape) != 2:
        raise ValueError(shape)
    return min(shape) / math.prod(shape), (min(shape),), True


def _index(call: Call, shape: Shape) -> _Taken:
    given = call.tensors(1) or ()
    if (
        len(given) == 1
        and given[0].shape
        and given[0].dtype not in ("bool", "c10::Bool", "unsigned char")
    ):
        rows = given[0].shape
        return min(math.prod(rows) / shape[0], 1.0), (*rows, *shape[1:]), len(shape) == 1
    return math.nan, None, False


def _gather(call: Call, shape: Shape) -> _Taken:
    axis, index = _axis(call, 1, shape), call.need(2)
    return min(index.elements / math.prod(shape), 1.0), index.shape, axis == len(shape) - 1


def _index_select(call: Call, shape: Shape) -> _Taken:
    axis = _axis(call, 1, shape)
    kept, made, last = _with(shape, axis, call.need(2).elements)
    return min(kept, 1.0), made, last


_PARTS: Mapping[str, Callable[[Call, Shape], _Taken]] = {
    "slice": _slice,
    "narrow": _narrow,
    "select": _select,
    "diagonal": _diagonal,
    "diag": _diagonal,
    "trace": lambda call, shape: (*_diagonal(call, shape)[:1], (), True),
    "index": _index,
    "gather": _gather,
    "index_select": _index_select,
    "masked_select": lambda call, shape: (math.nan, None, False),
}


def _first(call: Call) -> Shape:
    return call.need(0).shape


def _sizes(call: Call) -> Shape:
    """What a function that fills a new tensor is told: ``[600000]`` or ``600000``."""
    listed = (at for at in range(3) if isinstance(call.value(at), list))
    return call.integers(next(listed, 0)) or ()


def _viewed(call: Call) -> Shape | None:
    shape, sizes = _first(call), list(call.integers(1) or ())
    if -1 in sizes:
        at = sizes.index(-1)
        sizes[at] = 1
        sizes[at] = math.prod(shape) // math.prod(sizes)
    return tuple(sizes) if sizes and math.prod(sizes) == math.prod(shape) else None


def _flattened(call: Call) -> Shape:
    shape = _first(call)
    first, last = (_axis(call, at, shape) for at in (1, 2))
    return (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])


def _swapped(call: Call) -> Shape:
    shape = list(_first(call))
    a, b = (_axis(call, at, tuple(shape)) for at in (1, 2))
    shape[a], shape[b] = shape[b], shape[a]
    return tuple(shape)


def _permuted(call: Call) -> Shape:
    shape = _first(call)
    return tuple(shape[axis] for axis in call.integers(1) or ())


def _unsqueezed(call: Call) -> Shape:
    shape = _first(call)
    axis = call.integer(1) % (len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


def _linear(call: Call) -> Shape:
    return (*_first(call)[:-1], call.need(1).shape[0])


def _matmul(call: Call) -> Shape | None:
    at = 1 if call.name.startswith("aten::add") or "badd" in call.name else 0
    a, b = call.need(at).shape, call.need(at + 1).shape
    if len(a) < 2 or len(b) < 2:
        return None
    return (*broadcast((a[:-2], b[:-2])), a[-2], b[-1])


def _pairs(call: Call) -> Shape:
    a, b = _first(call), call.need(1).shape
    return (*broadcast((a[:-2], b[:-2])), a[-2], b[-2])


def _attended(call: Call) -> Shape:
    return (*_first(call)[:-1], call.need(2).shape[-1])


def _looked_up(call: Call) -> Shape:
    return (*call.need(1).shape, _first(call)[-1])


def _convolved(call: Call) -> Shape | None:
    x, weight = _first(call), call.need(1).shape
    count = len(weight) - 2
    stride, pad, dilation = (call.integers(at, count) for at in (3, 4, 5))
    if len(x) != count + 2 or None in (stride, pad, dilation) or count < 1:
        return None
    told = zip(x[2:], weight[2:], stride or (), pad or (), dilation or (), strict=True)
    return (x[0], weight[0], *(windows(*one) for one in told))


def _repeated(call: Call) -> Shape | None:
    shape, times = _first(call), call.integers(1) or ()
    shape = (1,) * (len(times) - len(shape)) + shape
    return tuple(n * k for n, k in zip(shape, times, strict=True)) if times else None


def _each_repeated(call: Call) -> Shape | None:
    shape, times, axis = _first(call), call.value(1), call.value(2)
    if not isinstance(times, int) or not isinstance(axis, int):
        return None
    axis %= len(shape)
    return (*shape[:axis], shape[axis] * times, *shape[axis + 1 :])


_Shaped = Callable[[Call], "Shape | None"]
_KNOWN: Mapping[How, Mapping[str, _Shaped]] = {
    How.MAKES: {
        "linear": _linear,
        **dict.fromkeys(("mm", "bmm", "matmul", "addmm", "baddbmm"), _matmul),
        **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _convolved),
        "cdist": _pairs,
        "embedding": _looked_up,
        "one_hot": lambda call: (*_first(call), call.integer(1)),
        "scaled_dot_product_attention": _attended,
        **dict.fromkeys(["rand", "randn", "zeros", "ones", "empty", "randint", "full"], _sizes),
        "repeat": _repeated,
        "tile": _repeated,
        "repeat_interleave": _each_repeated,
    },
    How.ORDERS: {"sort": _first, "argsort": _first, "randperm": _sizes},
    How.VIEW: {
        **dict.fromkeys(("view", "reshape", "_unsafe_view"), _viewed),
        "flatten": _flattened,
        "transpose": _swapped,
        "t": lambda call: _first(call)[::-1],
        "permute": _permuted,
        "unsqueeze": _unsqueezed,
        **dict.fromkeys(
            ["contiguous", "detach", "alias", "to", "_to_copy", "type_as", "float", "half"], _first
        ),
    },
    How.EACH: dict.fromkeys(["feature_dropout", "alpha_dropout", "relu6", "celu", "mish"], _first),
}
"""Results by name, for those whose shape arguments tell."""
