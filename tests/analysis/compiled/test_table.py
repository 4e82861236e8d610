"""Compiled kernels, drawn: their graphs, regions, device time."""

from __future__ import annotations

import pytest

from tests.builders.drawn import draw
from torch_tb_profiler.analysis.compiled.calls import compiled_table
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.model import Trace

FUSED = "triton_poi_fused_add_relu_0"
NAMES = {
    "region": "Torch-Compiled Region: 0/0",
    "graph": "## Call CompiledFxGraph fkey ##",
    "back": "## Call CompiledFxGraph fback ##",
    "fused": FUSED,
    "mm": "aten::mm",
    "view": "aten::view",
    "CF": "CompiledFunction",
    "CB": "CompiledFunctionBackward",
    "red": "triton_red_fused_sum_1",
}
DRAWING = """
main   [region                                                     ]  [mm       ]  [CB                        ]
main    [CF                                                       ]                  (back                   )
main     (graph                                                  )                    [red           ]
main      [fused       ] [mm       ] [mm       ][view ] [fused   ]    <l #5>          <l #6>
main       <l #1>         <l #2>      <l #3>             <l #4>
gpu 7        {fused #1 }   {gemm #2}  {gemm #3}          {fused #4}   {gemm #5}         {red #6}
"""
ARGS = {"CF": {"Sequence number": 7}, "CB": {"Sequence number": 7, "Fwd thread id": 1}}


@pytest.fixture(scope="module")
def trace() -> Trace:
    return draw(DRAWING, names=NAMES, args=ARGS)


def rows(trace: Trace) -> dict[str, tuple[object, ...]]:
    facts = derive(trace)
    table = compiled_table(trace, facts, select(facts))
    keys = ("graph", "region", "fused", "calls", "device_ns")
    columns = [
        table.texts(key) if key in ("graph", "region", "fused") else list(table[key])
        for key in keys
    ]
    return dict(zip(map(str, table.texts("name")), zip(*columns, strict=True), strict=True))


def test_calls_of_graphs_with_their_regions(trace: Trace) -> None:
    found = rows(trace)
    # The mm behind the region and the view, which launches nothing, are none of its kernels.
    assert found == {
        FUSED: ("fkey", "0/0", "add, relu", 2, 21_000),
        "aten::mm": ("fkey", "0/0", "mm", 2, 18_000),
        "triton_red_fused_sum_1": ("fback", "0/0", "sum", 1, 8_000),
    }


def test_device_work_alone() -> None:
    found = rows(draw("gpu 7  {fused} {gemm } {fused}", names=NAMES))
    assert found == {FUSED: (None, None, "add, relu", 2, 14_000)}


def test_without_a_device_library_calls_count() -> None:
    found = rows(
        draw(
            "main (graph           )\nmain  [mm   ][x    ]", names=NAMES | {"x": "cpp_fused_add_0"}
        )
    )
    assert {name: row[3:5] for name, row in found.items()} == {
        "aten::mm": (1, -1),
        "cpp_fused_add_0": (1, -1),
    }


def test_the_kernel_table_says_what_is_fused(trace: Trace) -> None:
    facts = derive(trace)
    table = kernel_rows(facts, select(facts), "name")
    fused = dict(zip(table.texts("name"), table.texts("fused"), strict=True))
    assert fused == {"gemm": None, FUSED: "add, relu", "triton_red_fused_sum_1": "sum"}
