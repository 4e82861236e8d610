"""Performance models by family; importing a family registers its models."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

_FAMILIES = (
    "gemm quantized_gemm served_gemm grouped_gemm convolution paged_attention attention elementwise"
    " rotary movement kv_cache sorting reduction normalization rms_norm embedding loss"
    " vector_formulas sampling optimizer recurrent pooling quantization moe triton fft factorization"
)


@lru_cache(maxsize=1)
def load() -> None:
    """Register all models, once."""
    for family in _FAMILIES.split():
        import_module(f"{__name__}.{family}")
