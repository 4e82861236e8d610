"""Pooling and resampling."""

from __future__ import annotations

import math

from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.results import windows
from torch_tb_profiler.hardware.work import Work, model, models_beside, operators, vector_work

modelled = models_beside(__file__)

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
_BACKWARDS = tuple(f"{name}_backward" for name in operators(f"aten: {_BACKWARD_WORDS}"))
_UPSAMPLING = operators(
    "aten: upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d"
    " _upsample_nearest_exact2d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d"
    " upsample_trilinear3d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa"
    " _upsample_lanczos2d_aa",
)


@model("pooling", *_MAXIMUM, *_AVERAGE, source=SOURCE)
def pool(call: Call) -> Work | None:
    """``max_pool2d(x, kernel, stride, padding, dilation, ceil_mode)``, ``avg_pool2d(x, kernel,
    stride, padding, …)``.
    """
    x, spatial, maximum = call.need(0), _spatial(call.name), "max" in call.name
    kernel, padding = required(call.integers(1, spatial)), required(call.integers(3, spatial))
    # An empty stride means the kernel's size.
    stride = kernel if call.value(2) == [] else required(call.integers(2, spatial))
    dilation = required(call.integers(4, spatial)) if maximum else (1,) * spatial
    if len(x.shape) <= spatial:
        return None
    ceil = call.value(5 if maximum else 4) is True
    ends = tuple(
        windows(n, k, s, p, d, ceil=ceil)
        for n, k, s, p, d in zip(x.shape[-spatial:], kernel, stride, padding, dilation, strict=True)
    )
    out = Tensor((*x.shape[:-spatial], *ends), x.dtype)
    positions = Tensor(out.shape, "int64") if call.name.endswith("_with_indices") else None
    parameters = {"shape": x.shape, "kernel": kernel, "stride": stride}
    flops = out.elements * math.prod(kernel)
    return vector_work(flops, x.dtype, [x], [out, positions], parameters)


@model("pooling", *_ADAPTIVE, source=SOURCE)
def adaptive(call: Call) -> Work | None:
    """``adaptive_avg_pool2d(x, output_size)``: window i spans ``floor(i·length / n)`` to ``ceil((i
    + 1)·length / n)``.
    """
    x, spatial = call.need(0), _spatial(call.name)
    ends = required(call.integers(1, spatial))
    if len(x.shape) <= spatial or min(ends) < 0:
        return None
    out = Tensor((*x.shape[:-spatial], *ends), x.dtype)
    positions = Tensor(out.shape, "int64") if "max" in call.name else None
    flops = _covered(x.shape, ends, spatial)
    return vector_work(flops, x.dtype, [x], [out, positions], {"shape": x.shape, "output": ends})


@model("pooling", *_BACKWARDS, source=_BACKWARD)
def pool_backward(call: Call) -> Work | None:
    """``max_pool2d_with_indices_backward(dy, x, …, indices)``, ``avg_pool2d_backward(dy, x, kernel,
    …)``.
    """
    gradient, x = call.need(0), call.need(1)
    spatial, positions = _spatial(call.name), None
    if "max" in call.name:
        added, positions = gradient.elements, Tensor(gradient.shape, "int64")
    elif "adaptive" in call.name:
        added = _covered(x.shape, gradient.shape[-spatial:], spatial)
    else:
        added = gradient.elements * math.prod(required(call.integers(2, spatial)))
    parameters = {"shape": x.shape, "output": gradient.shape}
    return vector_work(added, x.dtype, [gradient, positions], [x.dense], parameters)


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
        ends = tuple(math.floor(n * f) for n, f in zip(x.shape[-spatial:], factors, strict=True))
    out = Tensor((*x.shape[:-spatial], *ends), x.dtype)
    flops = round(2 * _neighbours(call.name, x.shape, ends) * out.elements)
    # A smaller result does not read all nearest neighbours.
    part = "nearest" in call.name and out.elements < x.stored
    read = Tensor((out.elements,), x.dtype) if part else x
    return vector_work(flops, x.dtype, [read], [out], {"shape": x.shape, "output": ends})


@modelled
def upsample_backward(call: Call) -> Work | None:
    """``upsample_bilinear2d_backward(dy, output_size, input_size, …)``."""
    dy, sizes = call.need(0), required(call.integers(2))
    # The gradient of the nearest neighbour is added, too.
    flops = round(2 * _neighbours(call.name, sizes, dy.shape) or 1) * dy.elements
    parameters = {"shape": sizes, "output": dy.shape}
    return vector_work(flops, dy.dtype, [dy], [Tensor(sizes, dy.dtype)], parameters)


@modelled
def grid_sample(call: Call) -> Work | None:
    """``grid_sampler_2d(x, grid, mode, …)``; modes: 0 linear, 1 nearest, 2 bicubic."""
    # cuDNN's is bilinear and two-dimensional.
    x, grid = call.need(0), call.need(1)
    library = call.name == "aten::cudnn_grid_sampler"
    mode, spatial = (0, 2) if library else (call.value(2), _spatial(call.name))
    if mode not in (0, 1, 2) or len(grid.shape) != spatial + 2:
        return None
    out = Tensor((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    flops = 2 * (2**spatial, 0, 16)[mode] * out.elements
    parameters = {"shape": x.shape, "output": out.shape[2:]}
    return vector_work(flops, x.dtype, [x, grid], [out], parameters)


@modelled
def grid_sample_backward(call: Call) -> Work | None:
    """``grid_sampler_2d_backward(dy, x, grid, interpolation_mode, …, output_mask)``."""
    dy, x, grid = call.need(0), call.need(1), call.need(2)
    mode, (of_x, of_grid) = call.value(3), required(call.flags(6, 2))
    if mode not in (0, 1, 2):
        return None
    flops = 2 * (2 ** _spatial(call.name), 1, 16)[mode] * (of_x + of_grid) * dy.elements
    gradients = [x.dense] * of_x + [grid.dense] * of_grid
    parameters = {"shape": x.shape, "output": dy.shape[2:]}
    return vector_work(flops, x.dtype, [dy, x, grid], gradients, parameters)


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


def _covered(whole: tuple[int, ...], ends: tuple[int, ...], spatial: int) -> int:
    """Elements of all adaptive windows: in each of the last dimensions its length, plus one per
    window border that splits an element.
    """
    pairs = zip(whole[-spatial:], ends, strict=True)
    covered = (length + n - math.gcd(length, n) if n else 0 for length, n in pairs)
    return math.prod(whole[:-spatial]) * math.prod(covered)
