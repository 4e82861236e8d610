"""The backward pass at the modules of its forward: drawn, and the samples operator by operator
against a slow reading of the sequence numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.figures import opened
from tests.analysis.module.trees import insight_of, lines
from tests.builders.drawn import Event, events, trace_of
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

EVALUATE = "autograd::engine::evaluate_function: "
NAMES = {
    key: EVALUATE + name
    for key, name in (
        ("eMm", "MmBackward0"),
        ("eRelu", "ReluBackward0"),
        ("eAcc", "torch::autograd::AccumulateGrad"),
    )
}


def number(value: int, thread: int = 0) -> dict[str, int]:
    return {"Sequence number": value, "Fwd thread id": thread}


def arrow(
    identifier: int, begin: tuple[int, int], end: tuple[int, int], category: str = "fwdbwd"
) -> list[Event]:
    """From (thread, µs) to (thread, µs)."""
    return [
        {
            "ph": phase,
            "id": identifier,
            "pid": 100,
            "tid": tid,
            "ts": ts,
            "cat": category,
            "name": category,
        }
        for phase, (tid, ts) in (("s", begin), ("f", end))
    ]


def read(
    drawing: str, args: dict[str, Any] | None = None, more: list[Event] | None = None
) -> Insight:
    names = {**NAMES, "L": "nn.Module: Linear_0", "R": "nn.Module: ReLU_0"}
    return insight_of(trace_of([*events(drawing, names, args), *(more or [])]))


TWO_LAYERS = """
    main  /nn.Module: Net_0              / (loss      ) [eRelu   ][eMm               ][eAcc  ] [step]
    main   /L             / /R          /    [mse   ]     [rb  ]    [mb    ]  [sum ]    [add]
    main     [linear    ]      [relu  ]
    main       [t] [mm]
"""
NUMBERS = {
    "linear": number(5),
    "t": number(5),
    "mm": number(6),
    "relu": number(7),
    "mse": number(8),
    "eRelu": number(7, 1),
    "rb": number(7, 1),
    "eMm": number(6, 1),
    "mb": number(6, 1),
}
LAID = [
    "M Net_0 host_self 3",
    "  M Linear_0 host_self 4",
    "    O linear host_self 5",
    "      O t host_self 3",
    "      O mm host_self 4",
    f"    Ob {EVALUATE}MmBackward0 host_self 6",
    "      Ob mb host_self 8",
    "      Ob sum host_self 6",
    f"    Ob {EVALUATE}torch::autograd::AccumulateGrad host_self 3",
    "      Ob add host_self 5",
    "  M ReLU_0 host_self 5",
    "    O relu host_self 8",
    f"    Ob {EVALUATE}ReluBackward0 host_self 4",
    "      Ob rb host_self 6",
    "A loss host_self 4",
    "  O mse host_self 8",
    "O step host_self 6",
]


def figures(found: list[str]) -> list[str]:
    """Without times, for drawings that say where."""
    return [line.partition(" host_self")[0] for line in found]


def test_by_sequence_number() -> None:
    insight = read(TWO_LAYERS, NUMBERS)
    assert lines(insight, "host_self") == LAID
    assert insight.about["backward"] == {"tied": 3, "untied": 0, "outside": 0}


def test_by_arrow_where_the_numbers_mislead() -> None:
    # All numbers of the forward are those of other threads; only the arrows know.
    wrong = {**NUMBERS, "relu": number(70), "mm": number(60)}
    insight = read(
        TWO_LAYERS,
        wrong,
        [*arrow(1, (1, 27), (1, 52)), *arrow(2, (1, 15), (1, 62), "forward_backward")],
    )
    assert figures(lines(insight)) == figures(LAID)


def test_a_function_whose_forward_was_not_recorded_stays() -> None:
    insight = read(TWO_LAYERS, {**NUMBERS, "eMm": number(99, 1), "mb": number(99, 1)})
    assert insight.about["backward"] == {"tied": 1, "untied": 2, "outside": 0}
    assert f"Ob {EVALUATE}MmBackward0" in figures(lines(insight))
    assert f"Ob {EVALUATE}torch::autograd::AccumulateGrad" in figures(lines(insight))


def test_a_reduction_of_gradients_belongs_to_no_module() -> None:
    insight = read(
        """
        main  /nn.Module: L_0  / [eMm             ][eAcc                          ]
        main    [mm ]              [c10d::reduce]   [add] [c10d::allreduce_      ]
        main                                                [record_param_comms]
        """,
        {"mm": number(6), "eMm": number(6, 1)},
    )
    assert lines(insight) == [
        "M L_0",
        "  O mm",
        f"  Ob {EVALUATE}MmBackward0",
        # A collective of the layer's own backward, as tensor parallelism has it.
        "    Ob c10d::reduce",
        f"  Ob {EVALUATE}torch::autograd::AccumulateGrad",
        "    Ob add",
        "Ob c10d::allreduce_",
        "  Ob record_param_comms",
    ]


def test_a_forward_outside_modules() -> None:
    insight = read(
        "main  (loss     ) [eMm   ][eAcc]\n main   [mse ]", {"mse": number(3), "eMm": number(3, 1)}
    )
    assert insight.about["backward"] == {"tied": 0, "untied": 0, "outside": 2}
    assert [line[:2] for line in lines(insight)] == ["A ", "  ", "Ob", "Ob"]


def test_the_backward_thread_counts_for_itself() -> None:
    # Both threads made nodes number 5; the functions name thread 1 of PyTorch, which other numbers
    # show to be "main".
    insight = read(
        """
        main    /nn.Module: A_0    /
        main     [mm    ][relu  ]
        other   /nn.Module: B_0    /
        other    [mm    ][gelu  ]
        engine                          [eMm  ][eRelu ]
    """,
        {
            "mm": number(5),
            "relu": number(6),
            "gelu": number(9),
            "eMm": number(5, 1),
            "eRelu": number(6, 1),
        },
    )
    assert figures(lines(insight)) == [
        "M A_0",
        "  O mm",
        "  O relu",
        f"  Ob {EVALUATE}MmBackward0",
        f"  Ob {EVALUATE}ReluBackward0",
        "M B_0",
        "  O mm",
        "  O gelu",
    ]


def test_the_last_forward_before_counts() -> None:
    insight = read(
        """
        main    /nn.Module: A_0/ [eMm] /nn.Module: B_0/ [eMm]
        main     [mm         ]          [mm         ]
    """,
        {"mm": number(5), "eMm": number(5, 1)},
    )
    assert figures(lines(insight)) == [
        "M A_0",
        "  O mm",
        f"  Ob {EVALUATE}MmBackward0",
        "M B_0",
        "  O mm",
        f"  Ob {EVALUATE}MmBackward0",
    ]


def test_two_forwards_of_one_backward_are_no_error() -> None:
    insight = read(TWO_LAYERS, NUMBERS, [*arrow(1, (1, 27), (1, 52)), *arrow(2, (1, 15), (1, 52))])
    assert insight.about["backward"]["tied"] == 3


def test_a_checkpoint_runs_its_modules_again() -> None:
    insight = read(
        """
        main    /nn.Module: Net_0        /  [eRelu                                 ][eMm       ]
        main     /nn.Module: Block_0    /     /nn.Module: Block_0      /
        main      /L       / /R       /         /L       / /R       /
        main        [mm  ]     [relu]             [mm2 ]     [rel2]
    """,
        {
            "mm": number(5),
            "relu": number(6),
            "mm2": number(9),
            "rel2": number(10),
            "eRelu": number(6, 1),
            "eMm": number(5, 1),
        },
    )
    assert figures(lines(insight)) == [
        "M Net_0",
        "  M Block_0",
        "    M Linear_0",
        "      O mm",
        f"      Ob {EVALUATE}MmBackward0",
        "    M ReLU_0",
        "      O relu",
        f"      Ob {EVALUATE}ReluBackward0",
        "  Mb Block_0",
        "    Mb Linear_0",
        "      Ob mm2",
        "    Mb ReLU_0",
        "      Ob rel2",
    ]


def test_what_undoes_a_rerun_is_laid_at_the_rerun() -> None:
    # A reentrant checkpoint: the function runs the forward again and its backward within itself.
    insight = read(
        """
        main    /nn.Module: Net_0        /  [eRelu                                      ]
        main     [CheckpointFunction   ]     /nn.Module: L_0/ [eMm       ][eAcc]
        main       /nn.Module: L_0   /         [mm]
    """,
        {
            "CheckpointFunction": number(5),
            "eRelu": number(5, 1),
            "mm": number(9),
            "eMm": number(9, 1),
        },
    )
    assert figures(lines(insight)) == [
        "M Net_0",
        "  O CheckpointFunction",
        "    M L_0",
        "    Mb L_0",
        "      Ob mm",
        f"      Ob {EVALUATE}MmBackward0",
        f"      Ob {EVALUATE}torch::autograd::AccumulateGrad",
        f"  Ob {EVALUATE}ReluBackward0",
    ]


def test_double_backward_leads_on_to_the_first_forward() -> None:
    insight = read(
        """
        main    /nn.Module: L_0/  [eMm          ]   [eRelu      ]
        main     [mm ]              [mb     ]
        main                          [mul]
    """,
        {"mm": number(5), "eMm": number(5, 1), "mul": number(8), "eRelu": number(8, 1)},
    )
    assert figures(lines(insight)) == [
        "M L_0",
        "  O mm",
        f"  Ob {EVALUATE}MmBackward0",
        "    Ob mb",
        "      Ob mul",
        f"  Ob {EVALUATE}ReluBackward0",
    ]


def test_old_engines_record_no_evaluate_function() -> None:
    insight = read(
        """
        main    /nn.Module: L_0/
        main     [mm ]
        engine                    [MmBackward][sum] [AccumulateGrad]
        other                    [untouched]
    """,
        {"mm": number(5), "MmBackward": number(5, 1)},
    )
    assert figures(lines(insight)) == [
        "M L_0",
        "  O mm",
        "  Ob MmBackward",
        "  Ob sum",
        "  Ob AccumulateGrad",
        "O untouched",
    ]


def test_module_hierarchy_ties_too() -> None:
    written = {"Module Hierarchy": "TOP(Net)::forward.fc(Linear)::forward"}
    insight = read(
        "main  [mm   ] [eMm  ]\n main    [t]", {"mm": {**number(5), **written}, "eMm": number(5, 1)}
    )
    assert figures(lines(insight)) == [
        "M TOP(Net) 0x",
        "  M fc(Linear) 0x",
        "    O mm",
        "      O t",
        f"    Ob {EVALUATE}MmBackward0",
    ]


def by_hand(trace: Trace, facts: Facts) -> dict[int, str]:
    """For every backward function of a trace of one forward thread the module of its forward, read
    event by event.
    """
    spans, arguments = trace["spans"], trace["operator_args"]
    parent = facts["span_links"]["parent"].tolist()
    texts = [trace.strings[int(name)] for name in spans["name"]]
    numbered = {
        int(row): (int(s), int(t))
        for row, s, t in zip(
            arguments["span"], arguments["sequence"], arguments["forward_thread"], strict=True
        )
    }
    maker: dict[int, int] = {}
    module: dict[int, str] = {}
    last: dict[int, str] = {}
    for row, text in enumerate(texts):
        sequence, thread = numbered.get(row, (-1, -1))
        if spans["role"][row] == Role.OPERATOR and sequence >= 0 and thread <= 0:
            maker[sequence] = row
        if not text.startswith(EVALUATE):
            continue
        track = int(spans["track"][row])
        if sequence >= 0 and "AccumulateGrad" not in text:
            above = maker[sequence]
            while above >= 0 and not texts[above].startswith("nn.Module: "):
                above = parent[above]
            last[track] = texts[above].removeprefix("nn.Module: ") if above >= 0 else ""
        module[row] = last[track]
    return module


@pytest.mark.parametrize("run", ["ddp_gloo", "cnn_workers_0", "cnn_workers_2", "transformer"])
def test_the_samples_operator_by_operator(samples: Path, run: str) -> None:
    for file in sorted((samples / run).glob("*.gz")):
        trace, facts = opened(file)
        expected = by_hand(trace, facts)
        assert len(expected) > 50
        insight = insight_of(trace, facts)
        paths, of = insight["paths"], insight["span_paths"]["path"]
        found = {}
        for row in expected:
            above = int(paths["parent"][of[row]])
            is_module = above >= 0 and paths["kind"][above] == PathKind.MODULE
            found[row] = insight.strings[int(paths["name"][above])] if is_module else ""
            assert paths["backward"][of[row]]
        assert found == expected
        counts = insight.about["backward"]
        assert (counts["tied"], counts["outside"]) == (
            sum(map(bool, expected.values())),
            list(expected.values()).count(""),
        )
        # What runs within a function is backward as well.
        inside = np.flatnonzero(np.isin(facts["span_links"]["parent"], list(expected)))
        inside = inside[trace["spans"]["role"][inside] == Role.OPERATOR]
        assert paths["backward"][of[inside]].all()
