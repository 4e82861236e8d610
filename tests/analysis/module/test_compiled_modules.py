"""Compiled regions and graphs as modules, drawn."""

from __future__ import annotations

from tests.analysis.module.trees import insight_drawn, insight_of, lines
from tests.builders.drawn import draw
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.module.modules import module_sums, module_tree
from torch_tb_profiler.views.work.module import module_payload

NAMES = {
    "region": "Torch-Compiled Region: 0/0",
    "graph": "## Call CompiledFxGraph f1 ##",
    "back": "## Call CompiledFxGraph f2 ##",
    "mm": "aten::mm",
    "CF": "CompiledFunction",
    "CB": "CompiledFunctionBackward",
    "EB": "autograd::engine::evaluate_function: CompiledFunctionBackward",
    "N": "nn.Module: Net_0",
}
ARGS = {
    "CF": {"Sequence number": 7},
    **{name: {"Sequence number": 7, "Fwd thread id": 1} for name in ("CB", "EB")},
}
DRAWING = """
main    [region                 ] [EB                ]
main     [CF                   ]   [CB              ]
main      (graph              )      (back         )
main       [mm     ][mm      ]        [mm         ]
main        <l #1>                      <l #2>
gpu 7         {gemm #1 }                  {gemm #2  }
"""


def test_forward_and_backward_of_a_region() -> None:
    insight = insight_drawn(DRAWING, names=NAMES, args=ARGS)
    assert lines(insight) == [
        "M Torch-Compiled Region: 0/0",
        "  O CompiledFunction",
        "    M CompiledFxGraph f1",
        "      O aten::mm 2x",
        "  Ob autograd::engine::evaluate_function: CompiledFunctionBackward",
        "    Ob CompiledFunctionBackward",
        "      Mb CompiledFxGraph f2",
        "        Ob aten::mm",
    ]
    assert insight.about["module_source"] == "compiled"


def test_they_stand_within_the_modules_of_the_program() -> None:
    python = "main  /N                              /\n" + DRAWING.strip("\n")
    insight = insight_drawn(python, names=NAMES, args=ARGS)
    assert lines(insight)[:2] == ["M Net_0", "  M Torch-Compiled Region: 0/0"]
    assert insight.about["module_source"] == "python"


def test_their_times() -> None:
    trace = draw(DRAWING, names=NAMES, args=ARGS)
    facts = derive(trace)
    insight = insight_of(trace, facts)
    tree = module_tree(insight)
    sums = module_sums(insight, tree, select(facts))
    names = insight.strings.many(tree.name)
    assert names == ["Torch-Compiled Region: 0/0", "CompiledFxGraph f1", "CompiledFxGraph f2"]
    assert tree.parent.tolist() == [-1, 0, 0]
    assert sums.total["forward", "device"].tolist() == [10_000, 10_000, 0]
    assert sums.total["backward", "device"].tolist() == [11_000, 0, 11_000]
    notes = module_payload(facts, insight, tree, select(facts)).notes
    assert not any("checkpoints" in note for note in notes)
