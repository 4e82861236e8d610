"""Rules that rest on FLOPs, bytes and the device's peaks: a trace that fires each, and a near miss
that must not.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.analysis.efficiency.cases import H100, inputs
from tests.analysis.findings.cases import Findings, item, launched, made, rules, span, steps
from torch_tb_profiler.hardware.peaks import USUAL

TENSOR_CORES = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"
VECTOR_UNITS = "cutlass_80_simt_sgemm_128x32"
ALIGNED = (
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2>(Params)"
)
BF16_PEAK, TF32_PEAK, BANDWIDTH = 989.4e12, 494.7e12, 3350e9


def _product(
    m: int,
    n: int,
    k: int,
    micros: float,
    kernel: str = TENSOR_CORES,
    dtype: str = "c10::BFloat16",
    header: dict[str, Any] | None = None,
    whole: float = 1000,
) -> Findings:
    """A step of ``whole`` µs that one matrix product fills for some time, and work without shapes to the
    rest.
    """
    operator = span("cpu_op", "aten::mm", 0.5, 6, **inputs((m, k), (k, n), dtype=dtype))
    entries = [*steps((0, 12)), operator, *launched(kernel, 1, 1, 1, micros)]
    if micros < whole - 2:
        entries += launched(
            "void at::native::vectorized_elementwise_kernel<4>",
            2,
            8,
            1 + micros,
            whole - 1 - micros,
        )
    return made(entries, **(H100 if header is None else header))


def _needed(m: int, n: int, k: int, peak: float = BF16_PEAK, size: int = 2) -> float:
    """ns that the device needs at least."""
    return max(2 * m * n * k / peak, (m * k + k * n + m * n) * size / BANDWIDTH) * 1e9


def test_far_from_peak() -> None:
    finding = item(_product(2048, 2048, 2048, 500), "far_from_peak")
    assert finding["recoverable_ns"] == pytest.approx(
        500_000 - _needed(2048, 2048, 2048) / USUAL, abs=2
    )
    assert finding["numbers"]["reached"] == pytest.approx(
        _needed(2048, 2048, 2048) / 500_000, rel=1e-6
    )
    assert finding["words"]["largest"] == "aten::mm with M=2048, N=2048, K=2048"


def test_near_the_peak_is_well() -> None:
    assert _needed(8192, 4096, 4096) / 500_000 > 0.3
    assert "far_from_peak" not in rules(_product(8192, 4096, 4096, 500))


def test_memory_is_a_peak_too() -> None:
    """A product of few rows moves its matrix through memory: that it computes little is no fault."""
    assert _needed(8, 16384, 32768) / 500_000 > 0.3
    assert 2 * 8 * 16384 * 32768 / BF16_PEAK * 1e9 / 500_000 < 0.05
    assert "far_from_peak" not in rules(_product(8, 16384, 32768, 500))


def test_short_kernels_are_not_far_from_peak() -> None:
    assert "far_from_peak" in rules(_product(64, 64, 64, 21, whole=100))
    assert "far_from_peak" not in rules(_product(64, 64, 64, 19.5, whole=100))


def test_without_a_known_device_nothing_is_far_from_peak() -> None:
    unknown = {
        "deviceProperties": [
            {"id": 0, "name": "NVIDIA Something New", "computeMajor": 9, "computeMinor": 0}
        ]
    }
    assert "far_from_peak" not in rules(_product(2048, 2048, 2048, 500, header=unknown))


def test_a_kernel_beside_a_longer_one_costs_nothing() -> None:
    operator = span("cpu_op", "aten::mm", 0.5, 6, **inputs((2048, 2048), (2048, 2048)))
    entries = [
        *steps((0, 12)),
        operator,
        *launched(TENSOR_CORES, 1, 1, 1, 500),
        *launched("l", 2, 8, 200, 799, stream=8),
    ]
    assert "far_from_peak" not in rules(made(entries, **H100))


def test_matrix_cores_save_no_more_than_the_roofline_allows() -> None:
    known = item(_product(2048, 2048, 2048, 500, VECTOR_UNITS, "float"), "matrix_cores_unused")
    # In a 16-bit type, so half the bytes.
    assert known["recoverable_ns"] == pytest.approx(
        500_000 - _needed(2048, 2048, 2048) / USUAL, abs=2
    )
    assert known["words"]["largest"] == "aten::mm with M=2048, N=2048, K=2048"


def test_matrix_cores_do_not_help_what_memory_limits() -> None:
    assert _needed(8, 32768, 32768) / USUAL > 910_000
    assert "matrix_cores_unused" not in rules(_product(8, 32768, 32768, 930, VECTOR_UNITS, "float"))
    assert "matrix_cores_unused" in rules(_product(8, 32768, 32768, 950, VECTOR_UNITS, "float"))


def test_unaligned_shapes_say_what_to_pad() -> None:
    finding = item(_product(141, 30522, 512, 500, ALIGNED), "unaligned_shapes")
    # M is odd as well, but then the library could have loaded single elements only.
    assert finding["words"]["padding"] == "N from 30522 to 30528"
    assert finding["recoverable_ns"] == pytest.approx(
        500_000 - _needed(141, 30522, 512) / USUAL, abs=2
    )


@pytest.mark.parametrize(
    ("first", "second", "padding"),
    [
        ([64, 1], [5185, 1], "N from 5185 to 5192"),
        ([1, 5185], [5185, 1], "M from 5185 to 5192 and N from 5185 to 5192"),
        ([64, 1], [1, 64], "N from 5185 to 5192"),
        (None, None, "M from 5185 to 5192 and N from 5185 to 5192"),
        ([1], [1], "M from 5185 to 5192 and N from 5185 to 5192"),
    ],
)
def test_only_what_lies_along_memory_is_to_be_padded(
    first: list[int] | None, second: list[int] | None, padding: str
) -> None:
    """Q·Kᵀ of attention: Q lies along K, Kᵀ too, the scores along N; M odd costs nothing unless Q
    is transposed.
    """
    recorded = inputs((5185, 64), (64, 5185)) | (
        {"Input Strides": [first, second]} if first else {}
    )
    if first is None:
        del recorded["Input Strides"]
    operator = span("cpu_op", "aten::mm", 0.5, 6, **recorded)
    finding = item(
        made(
            [
                *steps((0, 12)),
                operator,
                *launched(ALIGNED.replace("align2", "align1"), 1, 1, 1, 998),
            ],
            **H100,
        ),
        "unaligned_shapes",
    )
    assert finding["words"]["padding"] == padding


def test_unaligned_shapes_without_a_model() -> None:
    entries = [
        *steps((0, 12)),
        span("cpu_op", "mine::product", 0.5, 6),
        *launched(ALIGNED, 1, 1, 1, 500),
        *launched("k", 2, 8, 501, 499),
    ]
    finding = item(made(entries, **H100), "unaligned_shapes")
    # Without that kernel the other one begins when its launch returns, at 10 µs.
    assert (finding["recoverable_ns"], finding["certainty"]) == (491_000, "theoretical")
    assert finding["words"] == {"largest": "mine::product", "padding": ""}
