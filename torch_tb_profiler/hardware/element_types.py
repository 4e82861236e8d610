"""Element types of tensors under all names that traces use."""

from __future__ import annotations

from functools import lru_cache

from torch_tb_profiler.patterns import regex

_NAMES_BY_BITS = {
    8: "bool, byte, char, uint8, int8, unsigned char, signed char, qint8, quint8, bits8",
    16: (
        "short, short int, int16, uint16, unsigned short, half, float16, fp16, bfloat16, bf16, "
        "bits16"
    ),
    32: (
        "int, int32, uint32, unsigned int, float, float32, fp32, qint32, complexhalf, complex<half>"
    ),
    64: (
        "long, long int, long long, int64, uint64, unsigned long, double, float64, fp64, "
        "complexfloat, complex<float>, complex64"
    ),
    128: "complexdouble, complex<double>, complex128",
}
_PACKED = "float4_e2m1fn_x2, quint4x2, quint2x4, bits1x8, bits2x4, bits4x2"
"""One byte of these holds several values; the byte counts as the element."""
BITS: dict[str, int] = {
    **{name: bits for bits, names in _NAMES_BY_BITS.items() for name in names.split(", ")},
    **dict.fromkeys(_PACKED.split(", "), 8),
}
"""Lower-case name → bits: names of c10 (``BFloat16``), C++ (``long int``) and PyTorch
(``float32``).
"""


_SCALAR_TYPES = (
    "uint8 int8 int16 int32 int64 float16 float32 float64 complexhalf complex64 complex128 bool"
    " qint8 quint8 qint32 bfloat16 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16"
    " float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz uint16 uint32 uint64"
)
SCALAR_TYPES = _SCALAR_TYPES.split()
"""Element types by ``ScalarType`` number (c10/core/ScalarType.h), as in ``Concrete Inputs``."""
_FLOATING = regex(r"(?:b?float|bf|fp|half|double)\d*(?:_.*)?")


def _key(name: str) -> str:
    return name.strip().lower().removeprefix("torch.").replace("c10::", "").replace("at::", "")


def scalar_type(number: object) -> str:
    """The element type of a ``dtype`` argument's number; empty if unknown."""
    if type(number) is int and 0 <= number < len(SCALAR_TYPES):
        return SCALAR_TYPES[number]
    return ""


@lru_cache(maxsize=256)
def element_bytes(name: str) -> int | None:
    """Bytes of an element, by any name of its type; None unknown."""
    key = _key(name)
    if key.startswith("float8_"):
        return 1
    bits = BITS.get(key)
    return bits // 8 if bits is not None else None


_NAMES_BY_PRECISION = {
    "fp64": "double, float64, fp64",
    "fp32": "float, float32, fp32",
    "fp16": "half, float16, fp16",
    "bf16": "bfloat16, bf16",
    "int8": "char, int8, signed char, qint8",
    "fp4": "float4_e2m1fn_x2",
}
_PRECISION: dict[str, str] = {
    name: precision
    for precision, names in _NAMES_BY_PRECISION.items()
    for name in names.split(", ")
}


@lru_cache(maxsize=256)
def precision(name: str) -> str:
    """The precision of an element type (``fp64 fp32 fp16 bf16 fp8 fp4 int8``); empty if no hardware
    peak uses it.
    """
    key = _key(name)
    return "fp8" if key.startswith("float8_") else _PRECISION.get(key, "")


@lru_cache(maxsize=256)
def kind(name: str) -> str:
    """``complex``, ``float``, ``int`` or ``bool``; empty if unknown."""
    key = _key(name)
    if element_bytes(key) is None:
        return ""
    if key.startswith("complex"):
        return "complex"
    return "float" if _FLOATING.fullmatch(key) else "bool" if key == "bool" else "int"
