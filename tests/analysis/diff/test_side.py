"""Which steps are compared, and comparisons of what was not made for it: real traces, other steps,
no device, nothing.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.analysis.diff.compared import drawn, listed, of_lengths, side_of
from tests.analysis.figures import insight, opened
from tests.builders.drawn import draw, trace_of
from tests.builders.pairs import NO_CHANGE, recording
from torch_tb_profiler.analysis.diff.changes import apportion
from torch_tb_profiler.analysis.diff.compare import Comparison, compare
from torch_tb_profiler.analysis.diff.side import Side, compared_side
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.insight_schema import RUNTIME_STEPS

NO_SIDE = of_lengths([])
SMALL = (
    "a100_event_sync",
    "a100_nccl",
    "a100_triton",
    "ancient_categories",
    "b200_eager",
    "cpu_only",
    "h100_bert_small",
    "mi210_gpu_only",
    "mi250_minitoy",
    "mi300_bert_small",
    "mi300_torch_compile",
    "mi300_vllm_graph",
    "mtia_inference",
    "v100_resnet50_num_workers_0",
    "v100_resnet50_num_workers_4",
)


@pytest.mark.parametrize(
    ("lengths", "left_out", "compared"),
    [
        ([1000, 100, 101, 99], (1, 0, 0), [1, 2, 3]),
        ([100, 101, 99, 100, 400], (0, 1, 0), [0, 1, 2, 3]),
        ([1000, 100, 101, 99, 100, 400], (1, 1, 0), [1, 2, 3, 4]),
        ([100, 400, 101, 400, 99, 100], (0, 2, 0), [0, 2, 4, 5]),
        ([100, 100], (0, 0, 0), [0, 1]),
    ],
)
def test_steps_that_are_not_like_the_others_are_left_out(
    lengths: list[int], left_out: tuple[int, int, int], compared: list[int]
) -> None:
    found = of_lengths(lengths)
    assert (len(found.cold), len(found.odd), found.other) == left_out
    assert found.steps.tolist() == compared


def test_what_was_chosen_alone_stays() -> None:
    trace = trace_of(recording(steps=6))
    assert side_of(trace, 2, 2).steps.tolist() == [2]
    assert side_of(trace, 1, 3).steps.tolist() == [1, 2, 3]


@given(st.lists(st.integers(-1, 6), max_size=20), st.sets(st.integers(0, 6)), st.booleans())
def test_cells_are_the_entries_of_the_compared_steps(
    step: list[int], chosen: set[int], ordered: bool
) -> None:
    step = sorted(step) if ordered else step
    table = RUNTIME_STEPS.build(
        name=range(len(step)), step=step, calls=step, total=step, event=step
    )
    one = replace(NO_SIDE, steps=np.array(sorted(chosen), np.int64))
    cells = one.cells(table)
    assert cells["name"].tolist() == [i for i, s in enumerate(step) if s in chosen]
    assert cells["step"].tolist() == [s for s in step if s in chosen]


@pytest.mark.parametrize(
    "values", [[], [0.0], [0.5, 0.5], [1.2, 3.7, 0.1], [1e15 + 0.5, 0.25, 0.25]]
)
def test_apportioned_integers_add_up(values: list[float]) -> None:
    integers = apportion(np.array(values))
    assert int(integers.sum()) == round(sum(values))
    assert (np.abs(integers - np.array(values)) < 1).all()


def test_two_ranges_of_one_recording() -> None:
    trace = trace_of(recording(steps=9))
    comparison = compare(side_of(trace, 0, 3), side_of(trace, 4, 8))
    # All of these few steps lie within the margin.
    assert comparison.test.changed is False
    assert (len(comparison.a.steps), len(comparison.b.steps)) == (4, 5)
    holds(comparison)


def test_other_numbers_of_steps_are_compared_per_step() -> None:
    comparison = compare(drawn(NO_CHANGE, steps=4), drawn(NO_CHANGE, seed=5, steps=12))
    assert comparison.test.changed is False
    assert {status for table in comparison.tables.values() for status in table.changes.status} == {
        "same"
    }


EMPTY = ""
HOST = (
    "1 note ProfilerStep#1@0+100\n1 op aten::mm@10+50\n1 note ProfilerStep#2@100+100\n1 op"
    " aten::mm@110+60"
)
WHOLE = "1 op aten::mm@10+50\n1 call cudaLaunchKernel@12+3 c1\ngpu 0:7 kernel k@20+30 c1"
UNTIED = "gpu 0:7 kernel k@20+30 c1\ngpu 0:7 kernel j@60+30 c2"


@pytest.mark.parametrize("other", [EMPTY, HOST, UNTIED])
def test_devices_are_compared_where_both_tell_of_them(other: str) -> None:
    assert compare(listed(WHOLE), listed(WHOLE)).device
    assert not compare(listed(WHOLE), listed(other)).device


def test_drawn_traces_of_modules_without_a_device() -> None:
    text = "main /nn.Module: Net_0            /\nmain   [aten::mm      ]\n"
    a, b = side_of(draw(text)), side_of(draw(text, scale=2))
    comparison = compare(a, b)
    module = comparison.tables["module"]
    assert [module.a.name[i] for i in module.changes.a.tolist()] == ["Net", "outside modules"]
    assert module.changes.delta.tolist() == [int(module.changes.time_a.sum()), 0]
    assert module.changes.status == ["changed", "same"]


def holds(found: Comparison) -> None:
    """What every comparison keeps."""
    for one, times in ((found.a, "time_a"), (found.b, "time_b")):
        mean = round(one.mean) if len(one.steps) else 0
        assert int(getattr(found.tables["category"].changes, times).sum()) == mean
        assert int(getattr(found.tables["kernel"].changes, times).sum()) == per_step(
            one, "work_steps", "total"
        )
        assert int(getattr(found.tables["runtime"].changes, times).sum()) == per_step(
            one, "runtime_steps", "total"
        )
        if found.device and len(found.tables["module"].changes.a):
            # A call counts for the step that it begins in, a launch for its own.
            assert int(getattr(found.tables["module"].changes, times).sum()) == per_step(
                one, "path_steps", "device_self"
            )
    for table in found.tables.values():
        rows = table.changes
        assert (np.diff(np.abs(rows.delta)) <= 0).all()
        for of, row in ((table.a, rows.a), (table.b, rows.b)):
            assert sorted(i for i in row.tolist() if i >= 0) == list(range(len(of.name)))
    tree = found.tree
    assert (tree.parent < np.arange(len(tree.parent))).all()
    assert len(tree.parent) <= 5000
    for side in (tree.a, tree.b):
        assert np.isfinite(side.host).all()
        assert (side.device >= 0).all()


def per_step(one: Side, table: str, column: str) -> int:
    inside = np.isin(one.insight[table]["step"], one.steps)
    return round(int(one.insight[table][column][inside].sum()) / max(1, len(one.steps)))


@lru_cache(maxsize=40)
def real(path: Path) -> Side:
    return compared_side(opened(path)[1], insight(path), select(opened(path)[1]))


def trace_in(folder: Path) -> Path:
    return sorted(folder.glob("*.json.gz"))[0]


@pytest.mark.parametrize("name", SMALL)
def test_a_recording_and_itself(real_traces: Path, name: str) -> None:
    one = real(trace_in(real_traces / name))
    comparison = compare(one, one)
    assert comparison.test.changed in (False, None)
    assert not any(table.changes.delta.any() for table in comparison.tables.values())
    assert {status for table in comparison.tables.values() for status in table.changes.status} <= {
        "same"
    }
    assert set(comparison.tree.status) <= {"same"}
    assert comparison.tree.a.name == comparison.tree.b.name
    holds(comparison)


@pytest.mark.parametrize("name", SMALL)
def test_recordings_that_have_nothing_to_do_with_each_other(real_traces: Path, name: str) -> None:
    other = SMALL[SMALL.index(name) - 1]
    holds(compare(real(trace_in(real_traces / name)), real(trace_in(real_traces / other))))
