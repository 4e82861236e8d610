"""Paths of calls, drawn: modules between operators, steps, launches, reruns, written modules, and
limits.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.module.trees import insight_drawn, insight_of, lines, per_path
from tests.builders.drawn import draw, events, trace_of
from tests.builders.loop import span
from torch_tb_profiler.analysis.arrays.numbering import REST, PathLayout, number_paths
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.module import named_modules
from torch_tb_profiler.store.insight import Insight


def test_memory_of_calls() -> None:
    trace = trace_of(
        [
            *events("""
            main  /nn.Module: Net_0          /
            main    [aten::empty ][aten::mm]
        """),
            *(
                {
                    "ph": "i",
                    "name": "[memory]",
                    "cat": "cpu_instant_event",
                    "pid": 100,
                    "tid": 1,
                    "ts": ts,
                    "args": {"Device Type": kind, "Device Id": 0, "Addr": 1, "Bytes": size},
                }
                for ts, kind, size in (
                    (7, 1, 512),
                    (8, 1, 100),
                    (9, 0, 7),
                    (22, 1, 30),
                    (23, 1, -100),
                    (60, 1, -1),
                )
            ),
        ]
    )
    assert lines(insight_of(trace), "increase", "allocated") == [
        "M Net_0 increase 512 allocated 512",
        "  O aten::empty increase 100 allocated 100",
        "  O aten::mm increase -70 allocated 30",
    ]


def test_memory_of_the_cpu_where_there_is_no_other() -> None:
    record = {
        "ph": "i",
        "name": "[memory]",
        "cat": "cpu_instant_event",
        "pid": 100,
        "tid": 1,
        "ts": 8,
        "args": {"Device Type": 0, "Bytes": 64},
    }
    assert lines(insight_of(trace_of([*events("main  [aten::empty ]"), record])), "allocated") == [
        "O aten::empty allocated 64"
    ]


def test_span_paths_of_everything() -> None:
    trace = draw("""
        main  /nn.Module: Net_0                  /
        main   /net.py(3): forward              /
        main    [aten::mm        ]  <t #2>
        main      <launch #1>
        gpu 7          {gemm #1   } {mine #2 }  {lost #9}
    """)
    insight = insight_of(trace)
    spans, of = trace["spans"], insight["span_paths"]["path"]
    found = {
        trace.strings[int(name)]: int(path) for name, path in zip(spans["name"], of, strict=True)
    }
    module = found["nn.Module: Net_0"]
    operator = found["aten::mm"]
    assert insight.strings[int(insight["paths"]["name"][operator])] == "aten::mm"
    assert found == {
        "nn.Module: Net_0": module,
        "net.py(3): forward": module,
        "aten::mm": operator,
        "t": module,
        "launch": operator,
        "gemm": operator,
        "mine": module,
        "lost": -1,
    }


def hierarchies(**texts: str) -> Insight:
    return insight_drawn(
        """
        main  (step                                         )
        main   [a         ] [b   ]  [c    ] [d    ]  [e   ]
        main     [inner ]
    """,
        args={name: {"Module Hierarchy": text} for name, text in texts.items()},
    )


def test_module_hierarchy_makes_modules() -> None:
    insight = hierarchies(
        a="TOP(ResNet)::forward.layer1(Sequential)::forward.0(Block)::forward",
        inner="TOP(ResNet)::forward.layer1(Sequential)::forward.0(Block)::forward",
        b="TOP(ResNet)::forward.layer1(Sequential)::forward.1(Block)::forward",
        c="TOP(ResNet)::forward.SELF(ResNet)::helper",
        d="",
        e="mean",
    )
    assert insight.about["module_source"] == "hierarchy"
    assert lines(insight, "host_total") == [
        "A step host_total 47",
        "  O d host_total 7",
        "  O e host_total 6",
        "M TOP(ResNet) 0x",
        "  M layer1(Sequential) 0x",
        "    M 0(Block) 0x",
        "      O a host_total 12",
        "        O inner host_total 8",
        "    M 1(Block) 0x",
        "      O b host_total 6",
        "  M SELF(ResNet) 0x",
        "    O c host_total 7",
    ]
    paths = insight["paths"]
    top = [insight.strings[int(name)] for name in paths["name"]].index("TOP(ResNet)")
    assert (int(paths["first"][top]), int(paths["event"][top])) == (1000, 1)


@pytest.mark.slow
def test_hostile_hierarchies() -> None:
    insight = hierarchies(
        a="(" * 4000,
        b="a" * 40_000,
        c=".".join(f"m{i}(M)::forward" for i in range(5000)),
        d="(())",
        e="x()",
    )
    assert insight["paths"].n < 200


def test_texts_make_no_more_modules_than_there_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_modules, "MOST_MODULES", 3)
    tree = named_modules.NamedModules()
    assert [tree.add(names) for names in (["a", "b"], ["a", "c", "d"], ["a", "c"], ["e"], [])] == [
        1,
        2,
        2,
        -1,
        -1,
    ]
    assert (tree.parent, tree.name) == ([-1, 0, 0], ["a", "b", "c"])


def test_lightning_makes_modules_by_their_dotted_names() -> None:
    names = {
        "model": "[pl][module]my.Net: model",
        "fc1": "[pl][module]torch.nn.modules.linear.Linear: model.fc1",
        "deep": "[pl][module]torch.nn.modules.linear.Linear: model.block.fc2",
        "fit": "[pl][profile][Strategy]Single.training_step",
    }
    insight = insight_drawn(
        """
        main  [fit                                           ]
        main   [model                          ]
        main     [fc1         ] [deep    ]        [aten::sum]
        main       [aten::mm ]    [mm]
    """,
        names=names,
    )
    assert insight.about["module_source"] == "lightning"
    assert lines(insight, "host_total") == [
        "A [pl][profile][Strategy]Single.training_step host_total 48",
        "  O aten::sum host_total 11",
        "M model(Net) host_total 33",
        "  M fc1(Linear) host_total 14",
        "    O aten::mm host_total 11",
        "  M block 0x",
        "    M fc2(Linear) host_total 10",
        "      O mm host_total 4",
    ]


def nested(depth: int) -> list[dict[str, object]]:
    return [span("cpu_op", f"op{i % 3}", 1, 1, i, 2 * (depth - i)) for i in range(depth)]


def test_calls_deeper_than_anything_real_count_for_the_last_level() -> None:
    depth = 30_000
    insight = insight_of(trace_of(nested(depth)))
    assert insight["paths"].n == 200
    assert insight.about["paths_pooled"] == depth - 200
    assert per_path(insight, "host_self").sum() == 2 * depth * 1000
    assert per_path(insight, "calls").sum() == 200


def test_more_paths_than_any_program_has() -> None:
    n = 1000
    nothing = np.zeros(0, np.int64)
    # Every other call is beneath the one before it; every name is new, but for those of every
    # tenth.
    parent = np.where(np.arange(n) % 2, np.arange(n) - 1, -1)
    code = np.where(np.arange(n) % 20 == 0, 5000, np.arange(n))
    numbered = number_paths(
        PathLayout(parent, code, np.full(n, -1), np.zeros(n, np.bool_)), nothing, nothing, most=100
    )
    assert len(numbered.parent) == 101
    assert (numbered.path >= 0).all()
    assert numbered.code[numbered.path[0]] == 5000
    assert (numbered.code == REST).sum() == 1
    assert not numbered.pooled[code == 5000].any()
    above = numbered.path[parent[1::2]]
    assert ((numbered.path[1::2] == above) | (numbered.parent[numbered.path[1::2]] == above)).all()


def test_launches_outside_operators_have_lines() -> None:
    trace = draw("""
        main  /train.py(1): main                                     /
        main   /model.py(2): f       /         /model.py(2): f      /
        main     <graph #1>  [aten::mm]          <graph #2>  <g #3>
        gpu 7    {a #1  }                    {b #1 }{a #2}{c #3  } {lost #9}
    """)
    facts = derive(trace)
    insight = insight_of(trace, facts)
    found, table = insight["lines"], insight["line_steps"]
    assert [
        (int(p), trace.strings[int(f)])
        for p, f in zip(found["parent"], found["frame"], strict=True)
    ] == [
        (-1, "train.py(1): main"),
        (0, "model.py(2): f"),
    ]
    assert (table["line"].tolist(), table["device"].tolist(), table["launched"].tolist()) == (
        [1],
        [8000 + 6000 + 6000 + 9000],
        [4],
    )
