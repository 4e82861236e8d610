"""Paged attention works on what the annotation of its server's step states."""

from __future__ import annotations

import numpy as np

from tests.analysis.efficiency.cases import H100, drawn, inputs
from torch_tb_profiler.analysis.efficiency.rates import kernel_rows, workload_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

NAMES = {
    "sdpa": "vllm::unified_attention_with_output",
    "flash": "void flash_fwd_kernel<128>",
    # Two requests of 6 and 10 keys, then of 7 and 11.
    "first": "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk16sqsq2sqsk16)",
    "next": "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk18sqsq2sqsk18)",
    "plain": "step[DECODE bs=2]",
}
ARGUMENTS = {"sdpa": inputs((2, 4, 8), (2, 2, 8), (2, 2, 8), (2, 4, 8))}
TWO = """
main (first                   )(next                    )
main  (plain                 )  [sdpa     ] [mm        ]
main   [sdpa     ] [mm       ]
main    <L #1>       <L #2>        <L #3>     <L #4>
gpu 7       {flash #1} {gemm #2}      {flash #3} {gemm #4}
"""
FIRST, SECOND = (2 * pairs * 4 * 16 for pairs in (16, 18))


def _insight(drawing: str) -> tuple[Facts, Insight]:
    _, facts, insight = drawn(drawing, ARGUMENTS, names=NAMES, **H100)
    return facts, insight


def _rows_of(insight: Insight, name: str) -> list[int]:
    table = insight["workloads"]
    named = table["name"] == insight.strings.number(name)
    return [int(row) for row in np.flatnonzero(named)]


def test_a_call_of_each_step_is_a_workload() -> None:
    _, insight = _insight(TWO)
    table = insight["workloads"]
    attention = _rows_of(insight, NAMES["sdpa"])
    assert sorted(table["flops"][attention].tolist()) == [FIRST, SECOND]
    # Words without sums stand closer.
    assert {insight.strings[int(number)] for number in table["step"][attention]} == {
        NAMES["first"],
        NAMES["next"],
    }
    [product] = _rows_of(insight, "aten::mm")
    assert table["step"][product] == -1


def test_steps_are_one_row_of_the_table() -> None:
    facts, insight = _insight(TWO)
    rows = workload_rows(insight, select(facts))
    [row] = np.flatnonzero(np.isin(rows.workload, _rows_of(insight, NAMES["sdpa"]))).tolist()
    assert (rows.calls[row], rows.flops[row]) == (2, FIRST + SECOND)
    # Queries and results of two tokens each, 16 and 18 keys and values.
    assert rows.bytes[row] == 2 * (2 * 2 * 2 * 32 + 2 * 34 * 16)
    kernels = kernel_rows(insight, select(facts))
    [kernel] = np.flatnonzero(np.isin(kernels.workload, _rows_of(insight, NAMES["sdpa"]))).tolist()
    assert kernels.flops[kernel] == FIRST + SECOND
    exact = kernel_rows(insight, select(facts), by_step=True)
    chosen = np.isin(exact.workload, _rows_of(insight, NAMES["sdpa"]))
    assert sorted(exact.flops[chosen].tolist()) == [FIRST, SECOND]


def test_without_sums_attention_is_not_modelled() -> None:
    _, insight = _insight("""
    main (plain                )
    main  [sdpa     ]
    main   <L #1>
    gpu 7     {flash #1}
    """)
    [row] = _rows_of(insight, NAMES["sdpa"])
    assert insight["workloads"]["flops"][row] == -1
    assert insight["workloads"]["step"][row] == -1
