"""Pooling and resampling."""

from __future__ import annotations

import math

from torch_tb_profiler.hardware.call import Call, Tensor, known
from torch_tb_profiler.hardware.results import windows
from torch_tb_profiler.hardware.work import Work, model, named, vector_work

SOURCE = (
    "1 FLOP per element of every window (a comparison or an addition); input read, result (and"
    " int64 positions) written once"
)
_BACKWARD = (
    "1 FLOP per element that is added to the gradient; dy (and positions) read, all of dx written"
    " once"
)
_RESAMPLING = (
    "2 FLOPs per neighbour and element of the result (nearest 0, linear 2 neighbours, bilinear 4,"
    " trilinear 8, bicubic 16; antialiased: as many more as each dimension shrinks); input and"
    " result once"
)
_ANTIALIASED = {"bilinear": 2, "bicubic": 4, "lanczos": 6}
"""Neighbours per dimension of an antialiased resampling (``_aa``), times the shrinking factor."""
_NEIGHBOURS = {"nearest": 0, "trilinear": 8, "bilinear": 4, "bicubic": 16, "linear": 2}
_MAXIMUM = tuple(
    f"aten::max_pool{n}d{ending}" for n in (1, 2, 3) for ending in ("", "_with_indices")
)
_AVERAGE = tuple(f"aten::avg_pool{n}d" for n in (1, 2, 3))
_ADAPTIVE = (
    *(f"aten::{word}_pool{n}d" for n in (1, 2, 3) for word in ("adaptive_avg", "adaptive_max")),
    "aten::_adaptive_avg_pool2d",
    "aten::_adaptive_avg_pool3d",
)
_BACKWARD_WORDS = (
    "max_pool2d_with_indices max_pool3d_with_indices avg_pool2d avg_pool3d _adaptive_avg_pool2d"
    " _adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d adaptive_avg_pool3d"
)
_BACKWARDS = tuple(f"aten::{word}_backward" for word in _BACKWARD_WORDS.split())
_UPSAMPLING_WORDS = (
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d"
    " _upsample_nearest_exact2d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d"
    " upsample_trilinear3d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa"
    " _upsample_lanczos2d_aa"
)
_UPSAMPLING = tuple(f"aten::{word}" for word in _UPSAMPLING_WORDS.split())


@model("pooling", *_MAXIMUM, *_AVERAGE, source=SOURCE)
def pool(call: Call) -> Work | None:
    """``max_pool2d(x, kernel, stride, padding, dilation, ceil_mode)``, ``avg_pool2d(x, kernel,
    stride, padding, …)``.
    """
    x, spatial, maximum = call.need(0), _spatial(call.name), "max" in call.name
    kernel, padding = known(call.integers(1, spatial)), known(call.integers(3, spatial))
    # An empty stride means the kernel's size.
    stride = call.integers(2, spatial) or (kernel if call.value(2) == [] else None)
    dilation = call.integers(4, spatial) if maximum else (1,) * spatial
    if stride is None or dilation is None or len(x.shape) <= spatial:
        return None
    ceil = call.value(5 if maximum else 4) is True
    ends = tuple(
        windows(n, k, s, p, d, ceil=ceil)
        for n, k, s, p, d in zip(x.shape[-spatial:], kernel, stride, padding, dilation, strict=True)
    )
    out = Tensor((*x.shape[:-spatial], *ends), x.dtype)
    positions = Tensor(out.shape, "int64") if call.name.endswith("_with_indices") else None
    return vector_work(
        out.elements * math.prod(kernel),
        x.dtype,
        [x],
        [out, positions],
        {"shape": x.shape, "kernel": kernel, "stride": stride},
    )


@model("pooling", *_ADAPTIVE, source=SOURCE)
def adaptive(call: Call) -> Work | None:
    """``adaptive_avg_pool2d(x, output_size)``: window i spans ``floor(i·length / n)`` to ``ceil((i
    + 1)·length / n)``.
    """
    x, spatial = call.need(0), _spatial(call.name)
    ends = known(call.integers(1, spatial))
    if len(x.shape) <= spatial or min(ends) < 0:
        return None
    outer = math.prod(x.shape[:-spatial])
    covered = math.prod(
        _covered(length, count) for length, count in zip(x.shape[-spatial:], ends, strict=True)
    )
    out = Tensor((*x.shape[:-spatial], *ends), x.dtype)
    positions = Tensor(out.shape, "int64") if "max" in call.name else None
    return vector_work(
        outer * covered, x.dtype, [x], [out, positions], {"shape": x.shape, "output": ends}
    )


@model("pooling", *_BACKWARDS, source=_BACKWARD)
def pool_backward(call: Call) -> Work | None:
    """``max_pool2d_with_indices_backward(dy, x, …, indices)``, ``avg_pool2d_backward(dy, x, kernel,
    …)``.
    """
    gradient, x = call.need(0), call.need(1)
    if "max" in call.name:
        added, positions = gradient.elements, Tensor(gradient.shape, "int64")
    elif "adaptive" in call.name:
        spatial = _spatial(call.name)
        cover = (
            _covered(length, count)
            for length, count in zip(x.shape[-spatial:], gradient.shape[-spatial:], strict=True)
        )
        added, positions = math.prod(x.shape[:-spatial]) * math.prod(cover), None
    else:
        kernel = call.integers(2, _spatial(call.name))
        if kernel is None:
            return None
        added, positions = gradient.elements * math.prod(kernel), None
    return vector_work(
        added,
        x.dtype,
        [gradient, positions],
        [x.dense],
        {"shape": x.shape, "output": gradient.shape},
    )


@model("resampling", *_UPSAMPLING, source=_RESAMPLING)
def upsample(call: Call) -> Work | None:
    """``upsample_bilinear2d(x, output_size, …, scale_factors)``."""
    x, spatial = call.need(0), _spatial(call.name)
    if len(x.shape) <= spatial:
        return None
    ends = call.integers(1, spatial)
    if ends is None:
        factors = call.value(len(call.inputs) - 1)
        if not isinstance(factors, list) or len(factors) != spatial:
            return None
        ends = tuple(
            math.floor(length * factor)
            for length, factor in zip(x.shape[-spatial:], factors, strict=True)
        )
    out = Tensor((*x.shape[:-spatial], *ends), x.dtype)
    flops = round(2 * _neighbours(call.name, x.shape, ends) * out.elements)
    # A smaller result does not read all nearest neighbours.
    read = (
        Tensor((out.elements,), x.dtype)
        if "nearest" in call.name and out.elements < x.stored
        else x
    )
    return vector_work(flops, x.dtype, [read], [out], {"shape": x.shape, "output": ends})


@model("resampling", *(f"{name}_backward" for name in _UPSAMPLING), source=_RESAMPLING)
def upsample_backward(call: Call) -> Work | None:
    """``upsample_bilinear2d_backward(dy, output_size, input_size, …)``."""
    gradient, sizes = call.need(0), known(call.integers(2))
    # The gradient of the nearest neighbour is added, too.
    flops = round(2 * _neighbours(call.name, sizes, gradient.shape) or 1) * gradient.elements
    return vector_work(
        flops,
        gradient.dtype,
        [gradient],
        [Tensor(sizes, gradient.dtype)],
        {"shape": sizes, "output": gradient.shape},
    )


@model(
    "resampling",
    *named("aten", "grid_sampler_2d grid_sampler_3d cudnn_grid_sampler"),
    source=(
        "2 FLOPs per neighbour (bilinear 4, trilinear 8, nearest none, bicubic 16) and element of"
        " the result; input, grid and result once"
    ),
)
def grid_sample(call: Call) -> Work | None:
    """``grid_sampler_2d(x, grid, mode, …)``; modes: 0 linear, 1 nearest, 2 bicubic."""
    # cuDNN's is bilinear and two-dimensional.
    library = call.name == "aten::cudnn_grid_sampler"
    x = call.need(0)
    grid = call.need(1)
    mode = 0 if library else call.value(2)
    spatial = 2 if library else _spatial(call.name)
    if mode not in (0, 1, 2) or len(grid.shape) != spatial + 2:
        return None
    out = Tensor((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    neighbours = (2**spatial, 0, 16)[mode]
    return vector_work(
        2 * neighbours * out.elements,
        x.dtype,
        [x, grid],
        [out],
        {"shape": x.shape, "output": out.shape[2:]},
    )


@model(
    "resampling",
    *named("aten", "grid_sampler_2d_backward grid_sampler_3d_backward"),
    source=(
        "4 FLOPs per neighbour and element of dy: half for the input's gradient, half for the"
        " grid's; dy, input and grid read, both written"
    ),
)
def grid_sample_backward(call: Call) -> Work | None:
    """``grid_sampler_2d_backward(dy, x, grid, interpolation_mode, …, output_mask)``."""
    gradient = call.need(0)
    x = call.need(1)
    grid = call.need(2)
    mode = call.value(3)
    asked = known(call.flags(6, 2))
    if mode not in (0, 1, 2):
        return None
    neighbours = (2 ** _spatial(call.name), 1, 16)[mode]
    gradients = [tensor.dense for tensor, wanted in ((x, asked[0]), (grid, asked[1])) if wanted]
    return vector_work(
        2 * neighbours * sum(asked) * gradient.elements,
        x.dtype,
        [gradient, x, grid],
        gradients,
        {"shape": x.shape, "output": gradient.shape[2:]},
    )


def _spatial(name: str) -> int:
    return next(n for n in (1, 2, 3) if f"{n}d" in name)


def _neighbours(name: str, whole: tuple[int, ...], ends: tuple[int, ...]) -> float:
    """Neighbours of each result element; ``whole``, ``ends``: shapes before and after."""
    if "_aa" not in name:
        return next(count for word, count in _NEIGHBOURS.items() if word in name)
    width = next(count for word, count in _ANTIALIASED.items() if word in name)
    spatial = _spatial(name)
    return math.prod(
        width * max(1.0, before / max(after, 1))
        for before, after in zip(whole[-spatial:], ends[-spatial:], strict=True)
    )


def _covered(length: int, count: int) -> int:
    """Elements of all windows: the length, plus one per window border that splits an element."""
    return length + count - math.gcd(length, count) if count else 0
