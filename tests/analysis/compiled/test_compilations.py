"""What was compiled, and how long that took."""

from __future__ import annotations

from tests.builders.drawn import draw
from torch_tb_profiler.analysis.compiled.compilations import compilation_table, compilations
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select

NAMES = {
    "dyn": "dynamo",
    "inner": "_compile.compile_inner (dynamo_timed)",
    "id": "entire_frame_compile_data: fn_name=_compile.compile_inner, compile_id=0/3",
    "region": "Torch-Compiled Region: 0/3",
    "other": "Torch-Compiled Region: 1/0",
    "look": "TorchDynamo Cache Lookup",
    "trace": "torch/jit/_trace.py(700): trace",
    "main": "train.py(7): main",
}


def test_the_outermost_call_counts_once_with_what_it_compiled() -> None:
    trace = draw(
        """
    main   [ProfilerStep#1                                    ][ProfilerStep#2          ]
    main     [look][dyn               ][region] [inner   ][other]  [look][region]
    main             (id)[inner     ]
    """,
        NAMES,
    )
    facts = derive(trace)
    found = compilations(trace, facts)
    assert found.name == ["0/3", "1/0"]
    assert found.core.tolist() == [True, True]
    frame = compilation_table(trace, facts, select(facts))
    assert frame["calls"].tolist() == [1, 1]
    assert frame["host_ns"].tolist() == [20_000, 10_000]
    assert frame["steps"].tolist() == [1, 1]


def test_frames_compile_too() -> None:
    trace = draw("main /main                     /\nmain   /trace   /", NAMES)
    facts = derive(trace)
    frame = compilation_table(trace, facts, select(facts))
    assert frame["compiler"][0] == "torch.jit.trace"
    assert trace.strings[int(frame["line"][0])] == "train.py(7): main"
