"""How much of the time the models know, what computes nothing, and computation that no model knows."""

from __future__ import annotations

from typing import Any

from tests.analysis.efficiency.cases import H100, drawn
from torch_tb_profiler.analysis.efficiency.families import Totals, totals_of
from torch_tb_profiler.analysis.efficiency.rates import workload_rows
from torch_tb_profiler.analysis.figures.selection import select


def _found(drawing: str, **header: Any) -> Totals:
    _, facts, insight = drawn(drawing, **header)
    selection = select(facts)
    return totals_of(facts, insight, selection, workload_rows(insight, selection))


def test_communication_and_copies_are_no_computation() -> None:
    found = _found(
        """
    main   [mm     ] [c10d::allreduce_           ] [other  ] [aten::to ]     <L #6>
    main    <L #1>    [record_param_comms   ]       <L #4>    <L #5>
    main                <L #2>
    gpu 7     {gemm #1}                               {plus #4}                  {plus #6}
    gpu 20                {ncclDevKernel_AllReduce_Sum_bf16_RING_LL #2}
    gpu 21                                                      {Memset (Device) #5}
    """,
        **H100,
    )
    assert found.aside == ("communication", "memcpy")
    assert (found.time, found.computation, found.modelled) == (92_000, 27_000, 9_000)


def test_without_a_device_collectives_are_told_by_their_names() -> None:
    found = _found("""
    main   [mm     ] [c10d::allreduce_     ] [other  ]
    """)
    assert found.aside == ("communication",)
    assert (found.time, found.computation, found.modelled) == (41_000, 18_000, 9_000)


def test_a_product_whose_kernel_was_not_recorded_is_not_modelled() -> None:
    """Of the second product the recording has its memset only, in which nothing is multiplied."""
    _, facts, insight = drawn(
        """
    main   [mm             ] [mm      ]
    main    <L #1>  <L #2>    <L #3>
    gpu 7     {Memset (Device) #1}{gemm #2  }{Memset (Device) #3}
    """,
        **H100,
    )
    rows = workload_rows(insight, select(facts))
    assert sorted(rows.calls.tolist()) == [1, 1]
    assert sorted(rows.flops.tolist())[0] == 2 * 64 * 128 * 256
    found = totals_of(facts, insight, select(facts), rows)
    assert found.aside == ("memcpy",)
    assert insight["workload_kernels"]["flops"].tolist().count(2 * 64 * 128 * 256) == 1
    assert found.products == rows.time[rows.flops != rows.flops].sum()
