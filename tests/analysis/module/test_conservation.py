"""Nothing is lost and nothing counts twice: on every real trace and sample the sums over paths are
those of the events and of the Operator view.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import public
from tests.analysis.figures import opened, trace_files
from tests.analysis.module.trees import insight_of, per_path
from tests.conftest import REAL_TRACES, REPOSITORY
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.defects import OVERLAP_ON_THREAD
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.analysis.module.frames import line_frames, module_frames
from torch_tb_profiler.analysis.module.modules import module_sums, module_tree
from torch_tb_profiler.analysis.module.nodes import host_nodes
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

Opened = tuple[Trace, Facts, Insight]


@pytest.fixture(
    scope="module",
    params=[
        *(pytest.param(path, id=path.parent.name) for path in trace_files(REPOSITORY / "samples")),
        *(public.asked(trace_files(REAL_TRACES)) if public.FOLDERS else ()),
    ],
)
def trace(request: pytest.FixtureRequest) -> Opened:
    found, facts = opened(request.param)
    return found, facts, insight_of(found, facts)


def per_step(facts: Facts, step: Array, values: Array) -> Any:
    """Sums per step, those outside all steps last."""
    total = np.zeros(facts["steps"].n + 1, np.int64)
    np.add.at(total, step, values)
    return total


def test_device_time_of_paths_is_that_of_the_events(trace: Opened) -> None:
    found, facts, insight = trace
    row, table = device_rows(found), insight["path_steps"]
    assert int(table["device_self"].sum()) == int(found["spans"]["dur"][row].sum())
    assert int(table["launched"].sum()) == len(row)
    expected = per_step(facts, facts["span_links"]["step"][row], found["spans"]["dur"][row])
    # Calls that last over the border of steps count for the step in which they begin, their
    # launches for that in which they are.
    moved = np.abs(per_step(facts, table["step"], table["device_self"]) - expected).sum()
    assert moved <= 0.02 * expected.sum()
    nobody = table["path"] < 0
    assert all(
        not table[key][nobody].any()
        for key in ("calls", "host_total", "host_self", "runtime", "increase", "allocated")
    )


def is_operator(trace: Trace, insight: Insight) -> Any:
    """Paths of operators; compiled regions are operators that count as modules."""
    paths = insight["paths"]
    region = [text.startswith("Torch-Compiled") for text in insight.strings.many(paths["name"])]
    recorded = trace["spans"]["role"][paths["event"]] == Role.OPERATOR
    return (paths["kind"] == PathKind.OPERATOR) | (np.array(region, np.bool_) & recorded)


def test_operators_are_those_of_the_operator_view(trace: Opened) -> None:
    found, facts, insight = trace
    table, theirs = insight["path_steps"], facts["operator_steps"]
    known = table["path"] >= 0
    operator = known.copy()
    operator[known] = is_operator(found, insight)[table["path"][known]]
    for key in ("calls", "host_total"):
        ours = per_step(facts, table["step"][operator], table[key][operator])
        assert np.array_equal(ours, per_step(facts, theirs["step"], theirs[key])), key
    for key in ("host_self", "device_self"):
        ours = per_step(facts, table["step"][operator], table[key][operator])
        if key == "host_self":
            ours += within_operators(found, facts)
        else:
            called = known.copy()
            called[known] = called_by_operators(insight)[table["path"][known]]
            ours += per_step(facts, table["step"][called], table[key][called])
        assert np.array_equal(ours, per_step(facts, theirs["step"], theirs[key])), key


def called_by_operators(insight: Insight) -> Any:
    """Paths of modules (compiled graphs, reruns of checkpoints) that operators call: what these launch
    by themselves is the operator's own in the Operator view.
    """
    kind, parent = insight["paths"]["kind"], insight["paths"]["parent"]
    found = np.zeros(len(kind), np.bool_)
    for path in np.flatnonzero(kind == PathKind.MODULE).tolist():
        above = int(parent[path])
        while above >= 0 and kind[above] == PathKind.MODULE:
            above = int(parent[above])
        found[path] = above >= 0 and kind[above] == PathKind.OPERATOR
    return found


def within_operators(trace: Trace, facts: Facts) -> Any:
    """Own host time per step of modules that operators call (reruns of checkpoints): the Operator
    view, where Python frames are nothing, has it in
    the operator's own time."""
    nodes = host_nodes(trace, facts, call_tree(trace))
    found = np.zeros(facts["steps"].n + 1, np.int64)
    # Compiled regions are operators and annotations, whose own time is nobody else's there either.
    frame = trace["spans"]["role"][nodes.row] == Role.PYTHON
    for node in np.flatnonzero((nodes.kind == PathKind.MODULE) & frame).tolist():
        above = int(nodes.parent[node])
        while above >= 0 and nodes.kind[above] == PathKind.MODULE:
            above = int(nodes.parent[above])
        if above >= 0 and nodes.kind[above] == PathKind.OPERATOR:
            own = (
                trace["spans"]["dur"][nodes.row[node]] - nodes.children[node] - nodes.runtime[node]
            )
            found[facts["span_links"]["step"][nodes.row[above]]] += own
    return found


def test_totals_are_own_time_and_what_is_beneath(trace: Opened) -> None:
    found, facts, insight = trace
    paths = insight["paths"]
    beneath = np.zeros(paths.n, np.int64)
    inner = paths["parent"] >= 0
    np.add.at(beneath, paths["parent"][inner], per_path(insight, "device_total")[inner])
    assert np.array_equal(
        per_path(insight, "device_total"), per_path(insight, "device_self") + beneath
    )
    # What the backward pass moved is no longer beneath what called it, and what overlaps on a
    # thread is beneath nobody.
    if not paths["backward"].any() and not facts.defects[OVERLAP_ON_THREAD]:
        beneath[:] = 0
        np.add.at(beneath, paths["parent"][inner], per_path(insight, "host_total")[inner])
        assert np.array_equal(
            per_path(insight, "host_total"),
            per_path(insight, "host_self") + per_path(insight, "runtime") + beneath,
        )
    assert (paths["parent"] < np.arange(paths.n)).all()
    assert len(insight["span_paths"]["path"]) == found["spans"].n


def choices(facts: Facts) -> Iterator[Selection]:
    yield select(facts)
    if facts["steps"].n:
        yield select(facts, 0, 0)
        yield select(facts, facts["steps"].n // 2, None, skip_cold=True)


def test_modules_and_the_rest_are_everything(trace: Opened) -> None:
    _, facts, insight = trace
    tree, table = module_tree(insight), insight["path_steps"]
    for selection in choices(facts):
        sums = module_sums(insight, tree, selection)
        chosen = (
            np.ones(table.n, np.bool_)
            if selection.whole
            else np.isin(table["step"], selection.steps)
        )
        for key, columns in (("host", ("host_self", "runtime")), ("device", ("device_self",))):
            inside = sum(int(values.sum()) for (_, of), values in sums.own.items() if of == key)
            expected = sum(int(table[column][chosen].sum()) for column in columns)
            assert (
                inside + sums.outside[key] + (sums.launched_by_none if key == "device" else 0)
                == expected
            )
        outermost = tree.parent < 0
        for both, own in sums.own.items():
            assert int(sums.total[both][outermost].sum()) == int(own.sum())
            assert (sums.total[both] >= own).all()


def test_flame_graphs_hold_all_of_it(trace: Opened) -> None:
    _, facts, insight = trace
    table, operators = insight["path_steps"], facts["operator_steps"]
    for selection in choices(facts):
        chosen = (
            np.ones(table.n, np.bool_)
            if selection.whole
            else np.isin(table["step"], selection.steps)
        )
        device = int(table["device_self"][chosen].sum())
        frames, rest = module_frames(insight, selection)
        assert int(frames.device[frames.parent < 0].sum()) + rest == device
        assert int(frames.host[frames.parent < 0].sum()) == int(
            (table["host_self"] + table["runtime"])[chosen].sum()
        )
        frames, rest = line_frames(facts, insight, selection)
        assert int(frames.device[frames.parent < 0].sum()) + rest == device
        stacked = facts["operators"]["stack"][operators["operator"]] >= 0
        taken = (
            np.ones(operators.n, np.bool_)
            if selection.whole
            else np.isin(operators["step"], selection.steps)
        )
        assert int(frames.host[frames.parent < 0].sum()) == int(
            (operators["host_self"] + operators["runtime"])[stacked & taken].sum()
        )


def test_forward_and_backward_are_shown_where_they_were_recorded(samples: Path) -> None:
    for name in ("ddp_gloo", "transformer", "cnn_workers_0", "cnn_workers_2", "synthetic_ddp8"):
        for path in sorted((samples / name).glob("*.gz")):
            found, facts = opened(path)
            insight = insight_of(found, facts)
            tree = module_tree(insight)
            sums = module_sums(insight, tree, select(facts))
            counts = insight.about["backward"]
            assert counts["tied"] > 0
            assert counts["untied"] == 0, name
            assert (sums.total["forward", "host"] > 0).all(), name
            assert int(sums.own["backward", "host"].sum()) > 0.1 * int(
                sums.own["forward", "host"].sum()
            )
            if facts.summary.has_device:
                assert int(sums.own["backward", "device"].sum()) > int(
                    sums.own["forward", "device"].sum()
                )


def test_the_gpu_traces_with_modules(real_traces: Path) -> None:
    for name, backward in (("h100_owlv2", False), ("mi300_resnet_ddp", True)):
        (path,) = (real_traces / name).glob("*.gz")
        found, facts = opened(path)
        insight = insight_of(found, facts)
        sums = module_sums(insight, module_tree(insight), select(facts))
        assert int(sums.own["forward", "device"].sum()) > 0
        # owlv2 is an inference: it ran no backward pass.
        assert (int(sums.own["backward", "device"].sum()) > 0) == backward
        assert (insight.about["backward"]["tied"] > 0) == backward
