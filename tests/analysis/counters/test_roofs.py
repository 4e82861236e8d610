"""Which peak of the device a profiled kernel is measured by, and what is said where no roofline can
be drawn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.analysis.counters.drawing import Counters, with_ranges
from torch_tb_profiler.analysis.counters.table import main_roofs
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.hardware.counter_names import operations_of
from torch_tb_profiler.views.work.counters import CountersTablePayload, counters_table_payload

SASS = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
MATRIX = "sm__ops_path_tensor_src_%s_dst_fp32.sum"
H100 = {"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9}]}
TWO = """
    main  [a             ]
    main   <launch><launch>
    gpu 0 {r0    }  {r1       }
"""
SLICES = TWO.replace("{r0    }  {r1       }", "{r0        }{r1        }")
FLOPS = {SASS % (p + kind): 0 for p in "dfh" for kind in ("add", "mul", "fma")}
DRAM = {"dram__bytes_read.sum": 3000, "dram__bytes_write.sum": 1000}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (SASS % "ffma", ("vector", "fp32", 2)),
        (SASS % "dadd", ("vector", "fp64", 1)),
        (SASS % "hmul", ("vector", "fp16", 1)),
        (MATRIX % "bf16", ("matrix", "bf16", 1)),
        ("sm__ops_path_tensor_src_int8.sum", ("matrix", "int8", 1)),
        (MATRIX % "fp16_sparsity_on", None),
        ("dram__bytes.sum", None),
        ("", None),
    ],
)
def test_a_counter_tells_unit_and_precision(name: str, found: tuple[str, str, int] | None) -> None:
    assert operations_of(name) == found


def test_a_kernel_is_measured_by_what_did_most_of_its_flops() -> None:
    counters = {
        "r0": {SASS % "ffma": 4, SASS % "dadd": 7, MATRIX % "tf32": 0},
        "r1": {SASS % "ffma": 4, SASS % "dadd": 7, MATRIX % "tf32": 900},
    }
    roofs, of = main_roofs(with_ranges(TWO, counters)[2])
    assert [roofs[place] for place in of.tolist()] == [("vector", "fp32"), ("matrix", "tf32")]


def test_what_counted_no_operation_is_measured_by_none() -> None:
    roofs, of = main_roofs(with_ranges(TWO, {"r0": {SASS % "ffma": 0, **DRAM}, "r1": DRAM})[2])
    assert (roofs, of.tolist()) == ([("vector", "fp32")], [-1, -1])
    assert main_roofs(with_ranges(TWO)[2])[1].tolist() == [-1, -1]


def _payload(
    drawing: str, counters: Counters, header: dict[str, Any] | None = None
) -> CountersTablePayload:
    trace, facts, _ = with_ranges(drawing, counters, header)
    return counters_table_payload(trace, facts, build_insight(trace, facts), select(facts), 100)


def test_the_peaks_of_the_device_stand_beside_what_was_measured() -> None:
    payload = _payload(
        TWO, {"r0": {**FLOPS, SASS % "ffma": 9, **DRAM}, "r1": {**FLOPS, **DRAM}}, H100
    )
    assert (payload.profiled["unit"], payload.profiled["precision"]) == (
        ["vector", None],
        ["fp32", None],
    )
    assert payload.profiled["peak"].tolist() == pytest.approx(
        [67e12, math.nan], rel=0.01, nan_ok=True
    )
    assert payload.bandwidth == pytest.approx(3.35e12, rel=0.01)
    assert payload.no_roofline == ""


@pytest.mark.parametrize(
    ("drawing", "counters", "header", "why"),
    [
        (TWO, FLOPS | {SASS % "ffma": 9}, H100, "memory traffic is not known"),
        (TWO, DRAM, H100, "FLOPs are not known"),
        (TWO, {"n": 1}, H100, "FLOPs and memory traffic are not known"),
        (
            SLICES,
            FLOPS | DRAM | {SASS % "ffma": 9},
            None,
            "no times were measured, and the bandwidth of the device is not known",
        ),
        (
            SLICES,
            FLOPS | {"lts__t_bytes.sum": 3, SASS % "ffma": 9},
            H100,
            "no times were measured, and the bandwidth of the cache is not known",
        ),
        (SLICES, FLOPS | DRAM | {SASS % "ffma": 9}, H100, ""),
        (TWO, FLOPS | DRAM | {SASS % "ffma": 9}, None, ""),
    ],
)
def test_what_keeps_a_roofline_from_being_drawn_is_said(
    drawing: str, counters: dict[str, Any], header: dict[str, Any] | None, why: str
) -> None:
    said = _payload(drawing, {"r0": counters, "r1": counters}, header).no_roofline
    assert why in said
    assert bool(said) == bool(why)


def test_kernels_of_which_only_one_of_both_is_known_have_no_place() -> None:
    payload = _payload(TWO, {"r0": FLOPS | {SASS % "ffma": 9}, "r1": {"dram__bytes.sum": 5}}, H100)
    assert (
        payload.no_roofline
        == "No roofline is drawn: of no kernel both FLOPs and memory traffic are known."
    )


def test_rates_are_only_of_what_is_known_and_never_of_nothing() -> None:
    work = FLOPS | {SASS % "ffma": 9}
    rows = _payload(
        TWO, {"r0": work | {"dram__bytes.sum": 0}, "r1": {"dram__bytes.sum": 5}}
    ).profiled
    flops, time = rows["flops"][0], rows["time_ns"].tolist()[0]
    assert flops > 0
    np.testing.assert_array_equal(rows["intensity"], [math.nan, math.nan])
    np.testing.assert_array_equal(rows["flops_rate"], [flops / time * 1e9, math.nan])
    rows = _payload(TWO, {"r0": work | {"dram__bytes.sum": 4}}).profiled
    np.testing.assert_array_equal(rows["intensity"], [flops / 4, math.nan])
