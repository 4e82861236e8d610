"""What the counters of a kernel say: times that were measured, FLOPs by instruction, bytes by
traffic.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.counters.drawing import tied, with_ranges
from tests.loading import load
from torch_tb_profiler.analysis.counters.profiled import profiled_kernels
from torch_tb_profiler.analysis.facts.profiled_ranges import sliced_tracks
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.settings import Settings

SASS = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
NVIDIA = {"deviceProperties": [{"id": 0, "name": "NVIDIA A100", "computeMajor": 8}]}
ONE = """
    main  [a       ]
    main   <launch>
    gpu 0 {r0        }
"""


def _one(counters: dict[str, Any], name: str = "r0") -> tuple[int, int, str]:
    """(flops, bytes, where they moved) of a kernel with these counters."""
    _, _, found = with_ranges(ONE.replace("r0", name), {name: counters}, NVIDIA)
    return int(found.flops[0]), int(found.bytes[0]), found.traffic


def _instructions(precisions: str, **changed: int) -> dict[str, int]:
    """Counters of the precisions, all 0 but those named."""
    return {
        SASS % (p + kind): changed.get(p + kind, 0)
        for p in precisions
        for kind in ("add", "mul", "fma")
    }


def test_an_addition_is_one_flop_and_a_fused_multiply_add_two() -> None:
    assert _one(_instructions("dfh", fadd=5, fmul=70, ffma=1000, dadd=10_000, hfma=100_000)) == (
        2075 + 10_000 + 200_000,
        -1,
        "",
    )


def test_a_precision_counts_when_it_was_counted_whole() -> None:
    assert _one(_instructions("f", ffma=4))[0] == 8
    assert _one({SASS % "ffma": 4})[0] == -1


def test_nothing_counted_is_nothing_only_where_all_was_looked_at() -> None:
    assert _one(_instructions("dfh"))[0] == 0
    assert _one(_instructions("f"))[0] == -1
    assert _one({"sm__cycles_active.avg": 3.5}) == (-1, -1, "")


def test_a_kernel_on_matrix_cores_needs_their_operations() -> None:
    name = "ampere_fp16_s16816gemm_fp16_128x128"
    counted = _instructions("dfh", fadd=5)
    assert _one(counted, name)[0] == -1
    assert _one({**counted, "sm__inst_executed_pipe_tensor.sum": 0}, name)[0] == 5
    assert _one({**counted, "sm__inst_executed_pipe_tensor.sum": 9})[0] == -1
    operations = {
        "sm__ops_path_tensor_src_fp16_dst_fp32.sum": 4096,
        "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum": 4096,
    }
    assert _one({**counted, **operations}, name)[0] == 4101


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        (
            {"dram__bytes_read.sum": 100, "dram__bytes_write.sum": 20, "lts__t_bytes.sum": 900},
            (120, "dram"),
        ),
        ({"dram__bytes.sum": 7}, (7, "dram")),
        ({"dram__sectors_read.sum": 3, "dram__sectors_write.sum": 1}, (128, "dram")),
        ({"dram__bytes_read.sum": 100}, (-1, "")),
        ({"lts__t_sectors.sum": 2}, (64, "l2")),
    ],
)
def test_bytes_of_the_farthest_level_that_was_counted_whole(
    counters: dict[str, int], expected: tuple[int, str]
) -> None:
    assert _one(counters)[1:] == expected


def test_equal_slices_of_a_window_are_no_times() -> None:
    host = """
        main  [a       ]  [b       ]
        main   <launch>    <launch>
    """
    assert with_ranges(host + "    gpu 0 {r0        }{r1        }")[2].time.tolist() == [-1, -1]
    assert with_ranges(host + "    gpu 0 {r0    }  {r1       }")[2].time.tolist() == [8_000, 11_000]
    # Slices of Intel's writer leave a fifth of the pitch between them.
    assert (
        with_ranges(host + "    gpu 0 {r0    }    {r1    }    {r2    }")[2].time.tolist()
        == [-1] * 3
    )
    assert (
        with_ranges(host + "    gpu 0 {r0    }    {r1    }        {r2    }")[2].time.tolist()
        == [8_000] * 3
    )


def test_a_thread_of_slices_is_known_as_such() -> None:
    trace, _, _ = with_ranges(
        "main [a   ]\ngpu 0:0 {r0  }{r1  }\ngpu 1:0 {r2 }   {r3       }\ngpu 1:7 {gemm }"
    )
    tracks = [
        (trace.strings[int(pid)], trace.strings[int(tid)])
        for pid, tid in zip(trace["tracks"]["pid"], trace["tracks"]["tid"], strict=True)
    ]
    assert {tracks[track]: sliced for track, sliced in sliced_tracks(trace).items()} == {
        ("0", "0"): True,
        ("1", "0"): False,
    }


def test_a_counter_that_one_kernel_lacks_was_not_measured_there() -> None:
    _, _, found = with_ranges(
        """
        main  [a       ]  [b       ]
        main   <launch>    <launch>
        gpu 0 {r0        }{r1        }
    """,
        {"r0": {"x": 1, "y": 2}, "r1": {"y": 3}},
    )
    assert found.counters == ("x", "y")
    assert [["-" if math.isnan(v) else v for v in row] for row in found.values.tolist()] == [
        [1, "-"],
        [2, 3],
    ]


def test_steps_are_those_of_the_launches() -> None:
    _, _, found = with_ranges("""
        main  [ProfilerStep#1 ][ProfilerStep#2  ]
        main    [a       ]       [b       ]
        main     <launch>         <launch>
        gpu 0 {r0                }{r1            }
    """)
    assert found.step.tolist() == [0, 1]


def test_a_trace_without_ranges_has_none() -> None:
    _, facts, found = with_ranges("main [a   ]")
    assert (len(found.launches.row), found.counters, found.values.shape, found.first.tolist()) == (
        0,
        (),
        (0, 0),
        [0],
    )
    assert "device" in absent(facts)


def test_alexnet(real_traces: Path) -> None:
    (path,) = (real_traces / "a100_alexnet_cupti_ranges").iterdir()
    opened = load(str(path), Settings.from_environment(use_cache=False))
    trace, facts = opened.trace, opened.facts
    kernels = profiled_kernels(trace, facts)
    assert (
        len(kernels.launches.row),
        len(kernels.counters),
        int((kernels.launches.launch >= 0).sum()),
        facts.defects.as_dict(),
    ) == (77, 9, 77, {})
    name, how, operators = tied(trace, kernels)[5]
    assert name.startswith("void fft2d_r2c_32x32<")
    assert (how, operators) == (
        "BY_ORDER",
        "aten::conv2d aten::convolution aten::_convolution aten::cudnn_convolution",
    )
    values = dict(zip(kernels.counters, kernels.values[:, 5].tolist(), strict=True))
    assert (values[SASS % "fadd"], kernels.flops[5]) == (
        86_114_304,
        86_114_304 + 2 * 61_734_912 + 25_362_432,
    )
    # The times are slices of the window, and convolutions on Tensor Cores do more than these
    # counters count.
    assert set(kernels.time.tolist()) == {-1}
    assert {
        n
        for (n, _, _), flops in zip(tied(trace, kernels), kernels.flops.tolist(), strict=True)
        if flops < 0
    } == {n for n, _, _ in tied(trace, kernels) if "hmma" in n}
    assert "device_times" in absent(facts)
    assert "device" not in absent(facts)


@pytest.mark.parametrize("value", [1e308, -1e308, 1e19, -5])
def test_what_no_device_can_count_is_unknown(value: float) -> None:
    flops, moved, _ = _one(
        dict.fromkeys(
            (*_instructions("dfh"), "dram__bytes.sum", "sm__ops_path_tensor_src_int8.sum"), value
        )
    )
    assert (flops, moved) == (-1, -1)
