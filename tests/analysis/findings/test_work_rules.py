"""Rules of what the device does: a trace that fires each, and a near miss that must not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.analysis.findings.cases import (
    NVIDIA,
    Findings,
    drawn,
    item,
    launched,
    made,
    rules,
    span,
    steps,
)
from tests.builders.drawn import Event


def _one_kernel(
    name: str,
    header: dict[str, Any] | None = None,
    operator: dict[str, Any] | None = None,
    **args: Any,
) -> Findings:
    """A step of 1 ms that one kernel fills to a half, and an elementwise one to the rest."""
    entries = [
        *steps((0, 10)),
        span("cpu_op", "aten::mm", 0.5, 6, **(operator or {})),
        *launched(name, 1, 1, 1, 500, **args),
    ]
    entries += launched("void at::native::vectorized_elementwise_kernel<4>", 2, 3, 501, 499)
    return made(entries, **(NVIDIA if header is None else header))


def test_matrix_cores() -> None:
    assert rules(_one_kernel("volta_sgemm_128x64_nn"))["matrix_cores_unused"] == 0.5
    assert "matrix_cores_unused" not in rules(
        _one_kernel("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn")
    )
    assert "matrix_cores_unused" not in rules(
        _one_kernel("void gemv2T_kernel_val<int, int, float, float, float>")
    )
    assert "matrix_cores_unused" not in rules(_one_kernel("volta_dgemm_128x64_nn"))
    old = {
        "deviceProperties": [{"id": 0, "name": "Tesla P100", "computeMajor": 6, "computeMinor": 0}]
    }
    assert "matrix_cores_unused" not in rules(_one_kernel("maxwell_sgemm_128x64_nn", old))
    assert "matrix_cores_unused" not in rules(_one_kernel("volta_sgemm_128x64_nn", {}))


def test_matrix_cores_of_double_precision() -> None:
    """A type that the recorded inputs give goes before the name."""
    single = {"Input type": ["float", "float"], "Input Dims": [[8, 8], [8, 8]]}
    double = {"Input type": ["double", "double"], "Input Dims": [[8, 8], [8, 8]]}
    assert "matrix_cores_unused" in rules(
        _one_kernel("cutlass_80_simt_sgemm_128x32", operator=single)
    )
    assert "matrix_cores_unused" not in rules(
        _one_kernel("cutlass_80_simt_sgemm_128x32", operator=double)
    )


def test_matrix_cores_of_amd() -> None:
    instinct = {
        "deviceProperties": [
            {"id": 0, "name": "AMD Instinct MI300X", "computeMajor": 9, "computeMinor": 4}
        ]
    }
    radeon = {
        "deviceProperties": [
            {"id": 0, "name": "AMD Radeon RX 6800", "computeMajor": 10, "computeMinor": 3}
        ]
    }
    name = "Cijk_Ailk_Bljk_SB_MT64x64x16_SN_1LDSB0_GRVW4_TT4_4"
    assert "matrix_cores_unused" in rules(_one_kernel(name, instinct))
    assert "matrix_cores_unused" not in rules(_one_kernel(name, radeon))
    assert "matrix_cores_unused" not in rules(
        _one_kernel("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0", instinct)
    )


def test_unaligned_shapes() -> None:
    assert (
        rules(
            _one_kernel(
                "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align1>(Params)"
            )
        )["unaligned_shapes"]
        == 0.5
    )
    assert "unaligned_shapes" not in rules(
        _one_kernel(
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align8>(Params)"
        )
    )
    assert "unaligned_shapes" not in rules(
        _one_kernel("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_tn_align1>(Params)")
    )


def _blocks(value: float) -> dict[str, Any]:
    return {"blocks per SM": value}


def test_few_blocks() -> None:
    # A quarter of the multiprocessors has a block: three quarters of the kernel's time are what
    # more blocks could save.
    finding = item(_one_kernel("k", **_blocks(0.25)), "few_blocks")
    assert finding["recoverable_ns"] == 375_000
    assert "few_blocks" not in rules(_one_kernel("k", **_blocks(1.5)))
    short = [*steps((0, 1000))]
    for number in range(60):
        short += launched("k", number + 1, 1 + number, 16 * number, 16, **_blocks(0.1))
    assert "few_blocks" not in rules(made(short, **NVIDIA))


def test_few_blocks_beside_others_cost_nothing() -> None:
    entries = [
        *steps((0, 1000)),
        *launched("k", 1, 1, 1, 500, **_blocks(0.25)),
        *launched("l", 2, 1, 1, 990, stream=8),
    ]
    assert "few_blocks" not in rules(made(entries, **NVIDIA))


def test_exposed_communication() -> None:
    fires = drawn("""
    main   (ProfilerStep#1)
    main   <L #1> <L #2>
    gpu 7  {k #1                   }
    gpu 8                  {reduce #2                   }
    """)
    # Of the 46 columns of the step, the 30 that the reduction takes stay.
    assert item(fires, "exposed_communication")["recoverable_ns"] == 160_000
    assert item(fires, "exposed_communication")["numbers"]["total"] == 300_000
    misses = drawn("""
    main   (ProfilerStep#1)
    main   <L #1> <L #2>
    gpu 7  {k #1                                        }
    gpu 8            {reduce #2                      }
    """)
    assert rules(misses) == {}


def test_communication_on_a_host_alone() -> None:
    fires = drawn("""
    main   (ProfilerStep#1                              )
    main    [aten::mm  ]                  [aten::mm    ]
    other       (gloo                  )
    """)
    assert item(fires, "exposed_communication")["recoverable_ns"] == 160_000
    misses = drawn("""
    main   (ProfilerStep#1                              )
    main    [aten::mm                                  ]
    other       (gloo                  )
    """)
    assert rules(misses) == {}


def test_collectives_of_a_device_through_the_host() -> None:
    fires = drawn("""
    main   (ProfilerStep#1                              )
    main   <L #1>                          <L #2>
    other         (gloo                  )
    gpu 7  {k #1      }                    {k #2        }
    """)
    assert item(fires, "exposed_communication")["recoverable_ns"] == 200_000
    misses = drawn("""
    main   (ProfilerStep#1                              )
    main   <L #1>                          <L #2>
    other         (gloo                  )
    gpu 7  {k #1                           }{k #2       }
    """)
    assert "exposed_communication" not in rules(misses)


def test_data_parallel() -> None:
    drawing = """
    main   (ProfilerStep#1                              )
    main    (parallel                     )
    main    <L #1> <L #2>
    gpu 0:7 {k #1                                       }
    gpu {}  {k #2                                       }
    """
    fires = item(drawn(drawing.replace("{}", "1:7")), "data_parallel")
    assert (fires["recoverable_ns"], fires["share"], fires["numbers"]["devices"]) == (
        None,
        None,
        2.0,
    )
    assert "data_parallel" not in rules(drawn(drawing.replace("{}", "0:8")))


BACKWARD = """
    main   (ProfilerStep#1)
    main   [aten::mul ]
    main     <L #1>
    back             [node                    ]
    back               [aten::mul ][aten::div]
    back                <L #2>      <L #3>
    gpu 7    {k #1                }{k #2  }{k #3        }
    """


@pytest.mark.parametrize(("sequence", "fires"), [(7, True), (-1, False)])
def test_recompute(sequence: int, fires: bool) -> None:
    """An operator beneath a node of the backward pass that records a graph of its own computes
    something again.
    """
    arguments = (
        {"aten::mul": {"Sequence number": sequence, "Fwd thread id": 0}} if sequence >= 0 else {}
    )
    found = drawn(BACKWARD, arguments)
    assert ("recompute" in rules(found)) is fires
    if fires:
        assert item(found, "recompute")["recoverable_ns"] == 80_000


def _optimizer(kernels: int, length: float, name: str = "elementwise") -> Findings:
    every = 10.0
    end = 20 + kernels * every + 1000
    entries: list[Event] = [
        *steps((0, end)),
        span("user_annotation", "Optimizer.step#SGD.step", 5, kernels * every),
    ]
    for number in range(kernels):
        entries += launched(name, number + 1, 6 + number * every, 9 + number * every, length)
    return made(
        [
            *entries,
            *launched(
                "k", 999, 10 + kernels * every, 12 + kernels * every, end - 12 - kernels * every
            ),
        ]
    )


def test_the_optimizer_goes_tensor_by_tensor() -> None:
    finding = item(_optimizer(60, 3), "optimizer_unfused")
    # Half of the host's time gathers the parameters.
    assert finding["share"] == pytest.approx(600 / 2 / 1620, abs=0.02)
    assert finding["numbers"]["kernels"] == 60
    assert "optimizer_unfused" not in rules(_optimizer(20, 3))
    assert "optimizer_unfused" not in rules(_optimizer(60, 3, "multi_tensor_apply_kernel"))


def test_the_optimizer_of_a_host() -> None:
    """Four operators for each parameter and a pass that gathers them: of five passes two remain."""
    names = ["aten::mul_", "aten::add_", "aten::sqrt", "aten::addcdiv_"]

    def trace(operators: int, length: float) -> Findings:
        entries = [*steps((0, 2000)), span("user_annotation", "Optimizer.step#Adam.step", 10, 1000)]
        return made(
            [
                *entries,
                *(
                    span("cpu_op", names[number % 4], 12 + number * 9, length)
                    for number in range(operators)
                ),
            ]
        )

    assert item(trace(100, 5), "optimizer_unfused")["recoverable_ns"] == 600_000
    assert "optimizer_unfused" not in rules(trace(20, 5))


def _copies(
    sizes: list[int], direction: str = "HtoD (Pageable -> Device)", around: str = "cpu_op"
) -> Findings:
    entries: list[Event] = [*steps((0, 2 * len(sizes) + 3))]
    for number, size in enumerate(sizes):
        if around:
            entries.append(span(around, "train.py(3): aten::copy_", 2 * number, 2))
        entries += launched(
            f"Memcpy {direction}",
            number + 1,
            2 * number,
            45 * number + 2,
            40,
            category="gpu_memcpy",
            bytes=size,
        )
    end = 45 * len(sizes)
    return made([*entries, *launched("k", 99, 2 * len(sizes), end + 2, 1998 - end)])


def test_the_same_is_copied_again_and_again() -> None:
    finding = item(_copies([4096] * 12), "repeated_copies")
    assert finding["numbers"]["bytes"] == 4096
    assert finding["count"] == 11
    assert finding["certainty"] == "likely"
    assert "repeated_copies" in rules(_copies([4096] * 12, around="python_function"))
    # Of copies without a place nothing tells that they copy the same.
    assert "repeated_copies" not in rules(_copies([4096] * 12, around=""))
    assert "repeated_copies" not in rules(_copies([4096] * 9))
    assert "repeated_copies" not in rules(_copies([4096 + number for number in range(12)]))


def test_copies_with_nothing_beside_them() -> None:
    assert "exposed_copies" in rules(_copies([1, 2, 3]))
    assert item(_copies([1, 2, 3]), "exposed_copies")["numbers"]["pageable"] == 1.0
    assert "exposed_copies" not in rules(_copies([1, 2, 3], "DtoD (Device -> Device)"))
    hidden = [
        *steps((0, 1000)),
        *launched("k", 1, 1, 1, 990),
        *launched("Memcpy HtoD (Pinned -> Device)", 2, 3, 10, 500, 8, "gpu_memcpy", bytes=9),
    ]
    assert "exposed_copies" not in rules(made(hidden))


def _memory(allocated: int) -> Findings:
    record = {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 100,
        "tid": 1,
        "ts": 5,
        "args": {
            "Device Type": 1,
            "Device Id": 0,
            "Addr": 1,
            "Bytes": allocated,
            "Total Allocated": allocated,
            "Total Reserved": allocated,
        },
    }
    return made([*steps((0, 1000)), *launched("k", 1, 1, 1, 990), record], **NVIDIA)


def test_memory_is_nearly_full() -> None:
    finding = item(_memory(39_000_000), "memory_near_capacity")
    assert finding["recoverable_ns"] is None
    assert finding["numbers"]["full"] == pytest.approx(0.975)
    assert "memory_near_capacity" not in rules(_memory(30_000_000))


def test_the_profiler_empties_its_buffers() -> None:
    def trace(begin: float, launch: float = 600) -> Findings:
        flush = span("overhead", "Buffer Flush", begin, 100, tid=9)
        return made(
            [
                *steps((0, 1000)),
                *launched("k", 1, 1, 1, 500),
                *launched("k", 2, launch, 602, 398),
                flush,
            ]
        )

    assert item(trace(501), "profiler_overhead")["recoverable_ns"] == pytest.approx(
        100_000, rel=0.03
    )
    assert "kernel_loading" not in rules(trace(501))
    assert item(trace(501), "profiler_overhead")["artefact"] is True
    # A host that is ahead has time for it.
    assert "profiler_overhead" not in rules(trace(200, launch=10))


def test_kernels_are_loaded() -> None:
    def trace(begin: float, launch: float = 600) -> Findings:
        load = span("overhead", "Lazy Function Loading", begin, 100, tid=9)
        return made(
            [
                *steps((0, 1000)),
                *launched("k", 1, 1, 1, 500),
                *launched("k", 2, launch, 602, 398),
                load,
            ]
        )

    finding = item(trace(501), "kernel_loading")
    assert (finding["recoverable_ns"], finding["artefact"]) == (100_000, False)
    assert "profiler_overhead" not in rules(trace(501))
    assert "kernel_loading" not in rules(trace(200, launch=10))


def test_nothing_was_recorded_at_the_end() -> None:
    quiet = [*steps((0, 1000)), *launched("k", 1, 1, 1, 500)]
    finding = item(made(quiet), "silent_end")
    assert (finding["recoverable_ns"], finding["artefact"]) == (499_000, True)
    assert "silent_end" not in rules(made([*quiet, span("cpu_op", "aten::sort", 510, 485)]))
    # What begins after the step says nothing about it.
    assert "silent_end" in rules(
        made([*quiet, span("cuda_runtime", "cudaDeviceSynchronize", 1005, 10)])
    )


def test_a_cold_first_step() -> None:
    def trace(first: float, length: float = 0) -> Findings:
        entries: list[Event] = []
        bounds = [(0.0, first), *((first + 100 * n, first + 100 * (n + 1)) for n in range(4))]
        for number, (begin, end) in enumerate(bounds):
            entries += launched("k", number + 1, begin + 0.5, begin + 1, length or end - begin - 2)
        return made([*steps(*bounds), *entries])

    found = trace(400, 98)
    assert item(found, "cold_step")["numbers"] == {"wall": 400_000.0, "others": 100_000.0}
    assert found["steps"] == 4
    assert "cold_step" not in rules(trace(110))
    # A kernel that runs four times as long is more work, and setting up is none.
    assert "cold_step" not in rules(trace(400))


def test_recording_python_frames() -> None:
    def trace(frames: int, launch: float) -> Findings:
        entries = [
            *steps((0, 1000)),
            *launched("k", 1, 1, 1, 400),
            *launched("k", 2, launch, 700, 298),
        ]
        return made(
            [
                *entries,
                *(span("python_function", f"train.py({n}): f", 2 + n, 0.5) for n in range(frames)),
            ]
        )

    assert item(trace(100, 690), "python_tracing")["artefact"] is True
    assert "python_tracing" not in rules(trace(20, 690))
    assert "python_tracing" not in rules(trace(100, 5))
