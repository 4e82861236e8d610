"""Rates and shares of peaks, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from tests.analysis.efficiency.cases import H100, drawn, inputs
from torch_tb_profiler.analysis.efficiency.device import device_peaks
from torch_tb_profiler.analysis.efficiency.rates import (
    Rows,
    Shares,
    kernel_rows,
    longest_kernels,
    matrix_use,
    peak_key,
    shares,
    with_unnamed,
    workload_rows,
)
from torch_tb_profiler.analysis.efficiency.table import efficiency_table
from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.peaks import Peaks
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

ROUND = Peaks(
    "a device of round numbers",
    1e12,
    "a test",
    {
        key: (rate, "a test")
        for key, rate in {
            ("matrix", "bf16"): 100e12,
            ("matrix", "tf32"): 50e12,
            ("matrix", "fp64"): 20e12,
            ("vector", "fp32"): 10e12,
            ("vector", "fp64"): 5e12,
        }.items()
    },
)
STEPS = """
main   [ProfilerStep#1           ][ProfilerStep#2           ]
main     [mm     ] [add    ]        [mm     ] [mm     ]
main      <L #1>    <L #4>           <L #2>    <L #3>
gpu 7       {gemm #1} {plus #4}         {gemm #2} {gemm #3}
"""
FLOPS, BYTES = 2 * 64 * 128 * 256, 2 * (64 * 128 + 128 * 256 + 64 * 256)


def _found(drawing: str, selection: Selection | None = None) -> tuple[Facts, Insight, Rows, Shares]:
    _, facts, insight = drawn(drawing, **H100)
    rows = workload_rows(insight, selection or select(facts))
    return facts, insight, rows, shares(insight, rows, ROUND)


_STEPS_FOUND = _found(STEPS)[1:3]


def test_rates_of_all_calls_together() -> None:
    _, insight, rows, found = _found(STEPS)
    assert insight.strings.many(insight["workloads"]["name"][rows.workload]) == [
        "aten::mm",
        "aten::add",
    ]
    assert rows.calls.tolist() == [3, 1]
    assert rows.time.tolist() == [27_000, 9_000]
    assert rows.flops.tolist() == [3 * FLOPS, 64 * 256]
    assert rows.bytes.tolist() == [3 * BYTES, 3 * 2 * 64 * 256]
    assert found.flops_rate[0] == pytest.approx(3 * FLOPS / 27e-6)
    assert found.flops_share[0] == pytest.approx(3 * FLOPS / 27e-6 / 100e12)
    assert found.bytes_share[1] == pytest.approx(6 * 64 * 256 / 9e-6 / 1e12)
    assert found.ideal[0] == pytest.approx(3 * BYTES / 1e12 * 1e9)
    assert (found.unit, found.precision) == (["matrix", "vector"], ["bf16", "fp32"])
    assert rows.matrix.tolist() == [Knowledge.YES, Knowledge.NO]


def test_a_selection_counts_its_own_steps() -> None:
    facts = drawn(STEPS, **H100)[1]
    _, _, rows, _ = _found(STEPS, select(facts, 1, 1))
    assert (rows.calls.tolist(), rows.time.tolist()) == ([2], [18_000])


def test_kernels_of_workloads() -> None:
    _, facts, insight = drawn(STEPS, **H100)
    rows = kernel_rows(insight, select(facts))
    assert (rows.calls.tolist(), rows.flops.tolist()) == ([3, 1], [3 * FLOPS, 64 * 256])
    assert rows.time.sum() == insight["workload_kernels"]["total"].sum()


def test_work_of_no_operator_has_a_row() -> None:
    outside = STEPS.replace("[add    ]", "         ")
    _, facts, insight = drawn(outside, **H100)
    named = workload_rows(insight, select(facts))
    rows = with_unnamed(insight, select(facts), named)
    assert rows.workload.tolist() == [*named.workload.tolist(), -1]
    assert (rows.calls.tolist()[-1], rows.time.tolist()[-1]) == (1, 9_000)
    assert math.isnan(rows.flops[-1])
    alone = with_unnamed(insight, select(facts, 1, 1), workload_rows(insight, select(facts, 1, 1)))
    assert alone.workload.tolist() == [named.workload[0]]


def test_share_of_the_peak_of_steps() -> None:
    """The matrix products alone count; of an addition it is not said how much of the peak it could
    reach.
    """
    facts, insight, rows, found = _found(STEPS)
    use = matrix_use(insight, select(facts), rows, found)
    assert use.flops.tolist() == [FLOPS, 2 * FLOPS]
    assert use.ideal.tolist() == pytest.approx([FLOPS / 100e12 * 1e9, 2 * FLOPS / 100e12 * 1e9])
    unknown = matrix_use(
        insight, select(facts), rows, shares(insight, rows, replace(ROUND, rates={}))
    )
    assert np.isnan(unknown.ideal).all()


@pytest.mark.parametrize(
    ("unit", "precision", "matrix", "rate", "expected"),
    [
        ("matrix", "bf16", Knowledge.NO, 0.0, ("matrix", "bf16")),
        ("matrix", "fp32", Knowledge.NO, 0.0, ("vector", "fp32")),
        ("matrix", "fp32", Knowledge.YES, 0.0, ("matrix", "tf32")),
        ("matrix", "fp32", Knowledge.UNKNOWN, 9e12, ("vector", "fp32")),
        ("matrix", "fp32", Knowledge.UNKNOWN, 11e12, ("matrix", "tf32")),
        ("matrix", "fp64", Knowledge.YES, 0.0, ("matrix", "fp64")),
        ("matrix", "fp64", Knowledge.NO, 0.0, ("vector", "fp64")),
        ("matrix", "fp8", Knowledge.YES, 0.0, None),
        ("matrix", "", Knowledge.YES, 0.0, None),
        ("vector", "bf16", Knowledge.NO, 0.0, ("vector", "fp32")),
        ("vector", "fp64", Knowledge.NO, 0.0, ("vector", "fp64")),
        ("vector", "", Knowledge.NO, 0.0, None),
        ("", "", Knowledge.NO, 0.0, None),
    ],
)
def test_whose_peak_counts(
    unit: str, precision: str, matrix: int, rate: float, expected: tuple[str, str] | None
) -> None:
    assert peak_key(unit, precision, matrix, rate, ROUND) == expected


def test_float32_matrix_cores_count_where_there_are_such() -> None:
    amd = replace(ROUND, rates=ROUND.rates | {("matrix", "fp32"): (30e12, "a test")})
    assert peak_key("matrix", "fp32", Knowledge.YES, 0.0, amd) == ("matrix", "fp32")
    assert peak_key("matrix", "fp32", Knowledge.NO, 0.0, amd) == ("vector", "fp32")


def _bound(flops: float, moved: float, unit: str = "matrix", precision: str = "bf16") -> str:
    """What limits a kernel of 1 ms by its share of the round device's peaks."""
    _, _, insight = drawn(
        """
    main   [mm     ]
    main    <L #1>
    gpu 7     {gemm #1}
    """,
        {"mm": inputs((8, 8), (8, 8))},
    )
    table = insight["workloads"].replace(
        unit=[insight.strings.number(unit)], precision=[insight.strings.number(precision)]
    )
    rows = Rows(
        np.array([0]),
        np.array([-1]),
        np.array([1]),
        np.array([1_000_000]),
        np.array([flops * 1e11]),
        np.array([moved * 1e9]),
        np.array([1]),
        np.array([0]),
        np.array([False]),
        np.array([False]),
    )
    return shares(
        Insight(insight.strings, {**insight.tables, "workloads": table}), rows, ROUND
    ).bound[0]


@pytest.mark.parametrize(
    ("flops", "moved", "expected"),
    [
        (0.5, 0.3, "compute"),
        (0.3, 0.5, "memory"),
        (0.2, 0.1, "compute"),
        (0.19, 0.19, "latency"),
        (0.0, 0.5, "memory"),
        (1.5, 0.1, "compute"),
        (0.5, math.nan, "compute"),
        (0.1, math.nan, "unknown"),
        (math.nan, 0.5, "memory"),
        (math.nan, 0.1, "unknown"),
        (math.nan, math.nan, "unknown"),
        (0.0, 0.0, "unknown"),
    ],
)
def test_what_limits(flops: float, moved: float, expected: str) -> None:
    assert _bound(flops, moved) == expected


def test_what_computes_little_is_limited_by_memory_or_latency_whatever_its_peak() -> None:
    assert _bound(0.0001, 0.5, "", "") == "memory"
    assert _bound(0.0001, 0.1, "", "") == "latency"


def test_copies_from_the_host_have_no_share_of_the_memory_bandwidth() -> None:
    copied = {
        "Input Dims": [[1024], [1024], []],
        "Input type": ["float", "float", "Scalar"],
        "Concrete Inputs": ["", "", "False"],
    }
    _, facts, insight = drawn(
        """
    main   [aten::copy_]
    main    <L #1>
    gpu 7     {copy #1   }
    """,
        {"aten::copy_": copied},
        **H100,
    )
    rows = workload_rows(insight, select(facts))
    assert rows.link.tolist() == [True]
    assert rows.bytes[0] > 0
    row_shares = shares(insight, rows, ROUND)
    assert np.isnan(row_shares.bytes_share[0])
    assert np.isnan(row_shares.ideal[0])
    assert row_shares.bound == ["unknown"]


CONVOLVED = {
    "Input Dims": [[], [32, 256, 14, 14], [256, 256, 3, 3], [], [], [], [], [], [], []],
    "Input type": [
        "GenericList",
        "float",
        "float",
        "GenericList",
        "GenericList",
        "GenericList",
        "",
        "",
        "",
        "",
    ],
}


def test_a_fast_convolution_shares_its_flops_among_its_kernels_and_has_no_share_of_the_peak() -> (
    None
):
    """As cuDNN on a V100: 7.4 GFLOP by the formula in 282 µs would be 26 TFLOP/s on a device of
    15.7.
    """
    _, facts, insight = drawn(
        """
    main   [aten::cudnn_convolution_backward_input   ] [aten::cudnn_convolution_backward_input ]
    main    <L #1>     <L #2>     <L #3>                 <L #4>
    gpu 7    {winogradForwardData4x4 #1}{sgemm #2                     }{dgrad_engine #4}
    gpu 8                            {Memset (Device) #3}
    """,
        {"aten::cudnn_convolution_backward_input": CONVOLVED},
        **H100,
    )
    flops = 2 * 32 * 256 * 14 * 14 * 256 * 9
    rows = kernel_rows(insight, select(facts))
    row_shares = shares(insight, rows, ROUND)
    kernel = {insight.strings[int(number)]: i for i, number in enumerate(rows.kernel.tolist())}
    transform, product, engine = (
        kernel[text]
        for text in ("winogradForwardData4x4", "ampere_sgemm_128x64_tn", "dgrad_engine")
    )
    assert rows.flops[transform] + rows.flops[product] == flops
    assert rows.flops[transform] / rows.flops[product] == pytest.approx(
        rows.time[transform] / rows.time[product], rel=1e-9
    )
    assert rows.flops[engine] == flops
    assert rows.flops[kernel["Memset (Device)"]] == 0
    assert rows.fast.tolist() == [i in (transform, product) for i in range(4)]
    assert np.isnan(row_shares.flops_share[[transform, product]]).all()
    assert row_shares.flops_share[engine] == pytest.approx(flops / rows.time[engine] * 1e9 / 10e12)
    assert row_shares.flops_rate[product] == pytest.approx(
        rows.flops[product] / rows.time[product] * 1e9
    )
    whole = workload_rows(insight, select(facts))
    assert (whole.calls.tolist(), whole.flops.tolist(), whole.fast.tolist()) == (
        [2],
        [2 * flops],
        [True],
    )


def test_the_device_of_the_trace() -> None:
    _, facts, _ = drawn(STEPS, **H100)
    assert device_peaks(facts).entry == "NVIDIA H100 SXM"
    _, host_only, _ = drawn("main [mm ]")
    assert device_peaks(host_only).rates == {}


_AMOUNTS = st.one_of(st.just(math.nan), st.just(0.0), st.floats(1.0, 1e15))


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.integers(1, 10**9),
            _AMOUNTS,
            _AMOUNTS,
            st.booleans(),
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
    st.sets(st.sampled_from(sorted(ROUND.rates))),
)
def test_a_row_is_judged_by_the_larger_share_alone(
    drawn_rows: list[tuple[int, int, float, float, bool, bool]],
    known_bandwidth: bool,
    unknown: set[tuple[str, str]],
) -> None:
    """Of drawn products (row 0) and elementwise calls (row 1) on devices of which some peaks are unknown."""
    peaks = replace(
        ROUND,
        bandwidth=ROUND.bandwidth if known_bandwidth else None,
        rates={key: rate for key, rate in ROUND.rates.items() if key not in unknown},
    )
    insight, two = _STEPS_FOUND
    which, time, flops, moved, link, fast = (
        np.array(column) for column in zip(*drawn_rows, strict=True)
    )
    rows = replace(
        Rows(**{key: values[which] for key, values in asdict(two).items()}),
        time=time,
        flops=flops,
        bytes=moved,
        link=link,
        fast=fast & (which == 0),
    )
    found = shares(insight, rows, peaks)
    for row, (reason, roof, of_roof) in enumerate(
        zip(found.no_roof, found.roof, found.of_roof.tolist(), strict=True)
    ):
        assert bool(reason) == (roof == "") == math.isnan(of_roof)
        compute, memory = float(found.flops_share[row]), float(found.bytes_share[row])
        if reason:
            continue
        assert not rows.link[row]
        assert not rows.fast[row]
        assert memory >= 0
        # Elementwise work whose peak is unknown computes next to nothing; a product never does.
        assert compute >= 0 or which[row] == 1 or flops[row] == 0
        arithmetic = 0.0 if math.isnan(compute) else compute
        assert of_roof == max(arithmetic, memory) > 0
        assert (roof == "memory") == (memory >= arithmetic)
        assert roof == "memory" or roof == f"{found.unit[row]} {found.precision[row]}"
        # The time at the roof, in which the row could have been done.
        assert found.ideal[row] == pytest.approx(of_roof * time[row])


def test_the_table_says_time_over_the_roof_and_the_longest_kernel() -> None:
    facts, insight, rows, found = _found(STEPS)
    table = efficiency_table(
        insight,
        rows,
        found,
        np.full(len(rows.time), -1),
        longest_kernels(insight, select(facts), rows),
        "operator",
    )
    assert table.texts("roof") == ["memory", "memory"]
    assert table.texts("no_roof") == [None, None]
    assert (table["over_roof_ns"] == table["time_ns"] - np.rint(found.ideal)).all()
    assert (table["of_roof"] < 1).all()
    assert table.texts("short_name") == [
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
        "vectorized_elementwise_kernel",
    ]


def test_a_share_above_the_roof_leaves_nothing_over_it() -> None:
    _, insight, rows, _ = _found(STEPS)
    slow = replace(ROUND, bandwidth=1.0)
    table = efficiency_table(
        insight,
        rows,
        shares(insight, rows, slow),
        np.full(len(rows.time), -1),
        rows.kernel,
        "operator",
    )
    assert (table["of_roof"] > 1).all()
    assert table["over_roof_ns"].tolist() == [0, 0]
