"""Which operator, module and line a record belongs to."""

from __future__ import annotations

from tests.analysis.memory.recorded import case, insight, operators
from tests.builders.loop import span
from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.analysis.memory.origins import DEEPEST
from torch_tb_profiler.analysis.memory.usage import usage
from torch_tb_profiler.store.insight import Insight


def lines(found: Insight) -> list[str]:
    return found.strings.many(found["allocations"]["line"])


def test_the_innermost_operator_that_runs_on_the_thread() -> None:
    # Columns are µs: linear from 8 to 32, addmm from 12 to 25, relu of the other thread from 8 to
    # 25.
    memory = insight(
        """
        main   2 gpu0 a +1
        main  15 gpu0 b +1
        other 16 gpu0 c +1
        main  28 gpu0 d +1
        main  40 gpu0 e +1
        """,
        """
        main    [aten::linear          ]
        main        [aten::addmm]
        other   [aten::relu     ]
        """,
    )
    assert operators(memory) == ["", "aten::addmm", "aten::relu", "aten::linear", ""]


def test_an_operator_runs_from_its_begin_until_just_before_its_end() -> None:
    drawing = """
        main    [a   ][b   ]
        main       [c]
    """
    # Columns: a from 8 to 14, c from 11 to 14, b from 14 to 20.
    memory = insight("\n".join(f"main {t} gpu0 - +1" for t in (7, 8, 11, 13, 14, 19, 20)), drawing)
    assert operators(memory) == ["", "a", "c", "c", "b", "b", ""]


def test_python_frames_runtime_calls_and_annotations_between_are_transparent() -> None:
    memory = insight(
        """
        main 14 gpu0 a +1
        main 18 gpu0 b +1
        """,
        """
        main    [aten::mm                      ]
        main     /model.py(7): forward         /
        main       (user region           )
        main         <cudaMalloc>
        """,
    )
    assert operators(memory) == ["aten::mm", "aten::mm"]


def test_an_operator_is_one_with_its_only_child_of_the_same_name() -> None:
    memory = insight(
        "main 15 gpu0 a +1",
        """
        main    [aten::to              ]
        main       [aten::to        ]
        main          [aten::empty]
        """,
    )
    nodes = memory["memory_nodes"]
    assert [memory.strings[int(name)] for name in nodes["name"]] == ["aten::to", "aten::empty"]
    assert (nodes["parent"].tolist(), nodes["depth"].tolist()) == ([-1, 0], [0, 1])


def test_nodes_stand_by_depth_with_their_parents() -> None:
    memory = insight(
        """
        main  14 gpu0 a +1
        other 14 gpu0 b +1
        main  36 gpu0 c +1
        """,
        """
        main    [f                  ]      [f      ]
        main      [g              ]
        other   [h                  ]
        """,
    )
    nodes = memory["memory_nodes"]
    names = memory.strings.many(nodes["name"])
    assert nodes["depth"].tolist() == [0, 0, 0, 1]
    assert names == ["f", "h", "f", "g"]
    assert nodes["parent"].tolist() == [-1, -1, -1, 0]


def test_outermost_calls_of_a_name() -> None:
    # g allocates within f within g within f, and h beside it.
    memory = insight(
        """
        main 19 gpu0 a +1
        main 27 gpu0 b +1
        """,
        """
        main    [f                           ]
        main      [g                      ]
        main         [f       ] [h  ]
        main            [g ]
        """,
    )
    nodes = memory["memory_nodes"]
    rows = zip(
        memory.strings.many(nodes["name"]),
        nodes["depth"].tolist(),
        nodes["outermost"].tolist(),
        strict=True,
    )
    assert sorted(rows) == [("f", 0, 1), ("f", 2, 0), ("g", 1, 1), ("g", 3, 0), ("h", 2, 1)]


def test_the_line_is_the_nearest_frame_of_the_users_program() -> None:
    memory = insight(
        "main 18 gpu0 a +1",
        """
        main  /train.py(3): step                         /
        main    /t                                     /
        main      /nn.Module: Linear_0                /
        main         [aten::linear      ]
        """,
        names={"t": "torch/nn/modules/module.py(1553): _call_impl"},
    )
    assert lines(memory) == ["train.py(3): step"]


def test_outside_operators_the_line_is_that_of_the_frames_around() -> None:
    memory = insight(
        """
        main 16 gpu0 a +1
        main 50 gpu0 b +1
        """,
        """
        main  /train.py(3): step                 /
        main     /model.py(8): init       /
        main       /<built-in method mul>/
        """,
    )
    assert operators(memory) == ["", ""]
    assert lines(memory) == ["model.py(8): init", ""]


def test_the_path_is_the_operators_or_the_modules_around() -> None:
    memory = insight(
        """
        main 12 gpu0 a +1
        main 26 gpu0 b +1
        main 50 gpu0 c +1
        """,
        """
        main  /nn.Module: Linear_0           /
        main     [aten::linear]
        """,
    )
    paths, curve = memory["paths"], memory["memory_curve"]
    names = [
        memory.strings[int(paths["name"][path])] if path >= 0 else ""
        for path in curve["path"].tolist()
    ]
    assert names == ["aten::linear", "Linear_0", ""]


def test_records_of_threads_without_any_span() -> None:
    memory = insight("other 5 gpu0 a +1", "main [aten::mm   ]")
    assert operators(memory) == [""]


def test_a_snapshots_own_stack_gives_the_line() -> None:
    frames = (
        "CUDACachingAllocator.cpp(0): malloc\ntorch/nn/functional.py(10): linear\nmodel.py(7):"
        " forward\ntrain.py(3): step"
    )
    assert line_of_frames(frames) == "model.py(7): forward"
    assert (
        line_of_frames("a.cpp(0): f\ntorch/nn/functional.py(10): linear")
        == "torch/nn/functional.py(10): linear"
    )
    assert line_of_frames("a.cpp(0): f\nb.cpp(1): g") == "a.cpp(0): f"
    assert line_of_frames("") == ""


def test_the_deepest_operators_count_as_the_last_that_is_kept() -> None:
    deep = DEEPEST + 20
    calls = [span("cpu_op", f"f{i}", 100, 1, i, 3 * deep - 2 * i) for i in range(deep)]
    found = case(f"main {deep + 1} gpu0 a +8\nmain 10.5 gpu0 b +1", more=calls)[2]
    assert found["memory_nodes"].n == DEEPEST
    assert operators(found) == ["f10", f"f{DEEPEST - 1}"]
    used = usage(found, 0, None, "operator")
    total = dict(zip(found.strings.many(used.name), used.increase.tolist(), strict=True))
    assert (total["f0"], total["f10"], total["f11"], total[f"f{DEEPEST - 1}"]) == (9, 9, 8, 8)
