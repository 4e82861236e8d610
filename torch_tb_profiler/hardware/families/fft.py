"""Fourier transforms."""

from __future__ import annotations

import math

from torch_tb_profiler.hardware.call import Call, Tensor, moved, required
from torch_tb_profiler.hardware.element_types import element_bytes, precision
from torch_tb_profiler.hardware.work import Work, models_beside

modelled = models_beside(__file__)

_REAL = {4: "complexhalf", 8: "complex64", 16: "complex128"}
"""Complex type by size in bytes."""


@modelled
def transform(call: Call) -> Work | None:
    """``_fft_r2c(x, dim, normalization, onesided)``, ``_fft_c2r(x, dim, normalization, last
    length)``, ``_fft_c2c``.
    """
    x, dims = call.need(0), call.integers(1)
    size, shape, full, dtype = required(x.element_bytes), list(x.shape), list(x.shape), x.dtype
    if not dims or any(not -len(shape) <= dim < len(shape) for dim in dims):
        return None
    if call.name == "aten::_fft_r2c":
        dtype = _REAL.get(2 * size, "")
        if call.value(3) is True:
            shape[dims[-1]] = shape[dims[-1]] // 2 + 1
    elif call.name == "aten::_fft_c2r":
        shape[dims[-1]] = full[dims[-1]] = call.integer(3)
        dtype = {2: "float16", 4: "float32", 8: "float64"}.get(size // 2, "")
    points = math.prod(full[dim] for dim in dims)
    each = 5.0 if call.name == "aten::_fft_c2c" else 2.5
    flops = round(each * math.prod(full) * math.log2(points)) if points else 0
    real = {2: "half", 4: "float", 8: "double"}.get(
        (element_bytes(dtype) or 0) // (2 if "omplex" in dtype else 1), ""
    )
    return Work(
        flops,
        moved(x, Tensor(tuple(shape), dtype)),
        "vector" if flops else "",
        precision(real) if flops else "",
        {"shape": x.shape, "dim": dims},
    )
