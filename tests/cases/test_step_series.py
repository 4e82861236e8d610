"""Two profilers in one loop, and device work that lasts beyond its step: the steps are those of the loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import loop
from tests.examples import examples
from tests.importers.reading import Stream
from torch_tb_profiler.analysis.facts import defects as d
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.steps import kept_marks
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.model import Facts

Event = dict[str, Any]


def facts_of(events: list[Event]) -> Facts:
    text = json.dumps(loop.document(events)).encode()
    return derive(read_trace(Stream(text), Settings()))


def mark(number: int, at: float, dur: float) -> Event:
    return loop.span("user_annotation", f"ProfilerStep#{number}", 100, 100, at, dur)


def inner(first: int, steps: int, parts: int = 1) -> list[Event]:
    """Marks of a second profiler within each step of the base."""
    part = 996 / parts
    return [
        mark(first + k * parts + i, loop.FIRST_US + 1000 * k + 2 + i * part, part - 0.5)
        for k in range(steps)
        for i in range(parts)
    ]


def walls(facts: Facts) -> list[int]:
    found: list[int] = (facts["steps"]["end"] - facts["steps"]["start"]).tolist()
    return found


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("first", "parts"), [(1, 1), (2, 1), (7, 1), (1, 3), (1, 50)])
def test_nested_marks_of_a_second_profiler(order: int, first: int, parts: int) -> None:
    second = inner(first, 3, parts)
    facts = facts_of([*loop.loop(3), *second] if order > 0 else [*second, *loop.loop(3)])
    assert walls(facts) == [10**6] * 3
    assert facts["steps"]["number"].tolist() == [1, 2, 3]
    assert facts["steps"]["flags"].tolist() == [0] * 3
    assert facts.defects[d.OTHER_STEPS] == 3 * parts
    plain = facts_of(loop.loop(3))
    for key in ("kernel", "runtime", "cpu_exec", "other", "launched"):
        assert facts["steps"][key].tolist() == plain["steps"][key].tolist()


def test_interleaved_marks_as_recorded() -> None:
    """Each profiler opens its next step a few microseconds before the other closes its own."""
    lengths = [1_420_194, 626_018, 873_575, 3_021_605]
    begins = np.cumsum([0, *lengths[:-1]]) + 60 * np.arange(4) + loop.FIRST_US
    late = [
        mark(2 + k, float(at), n) for k, (at, n) in enumerate(zip(begins, lengths, strict=True))
    ]
    early = [
        mark(3 + k, float(at) - 100, n - 50)
        for k, (at, n) in enumerate(zip(begins[1:], lengths[1:], strict=True))
    ]
    early.append(mark(6, float(begins[-1]) + lengths[-1] - 40, 2_817))
    work = [loop.span("cpu_op", "aten::mm", 100, 100, float(at) + 100, 500_000) for at in begins]
    facts = facts_of([*early, *late, *work])
    assert facts["steps"]["number"].tolist() == [2, 3, 4, 5]
    assert walls(facts) == [1000 * n for n in lengths]
    assert not (facts["steps"]["flags"] & (StepFlag.COLD | StepFlag.ODD)).any()
    assert facts.defects[d.OTHER_STEPS] == 4


@examples(200)
@given(
    st.lists(st.integers(50, 5000), min_size=2, max_size=30),
    st.integers(0, 40),
    st.integers(0, 40),
    st.integers(1, 20),
    st.integers(1, 4),
    st.booleans(),
)
def test_one_series_is_kept_whole(
    lengths: list[int], first: int, second: int, inset: int, parts: int, tail: bool
) -> None:
    """The outer series covers more than an inner one of any numbers, whatever begins or ends later."""
    ends = np.cumsum(lengths) * 1000
    start = ends - np.array(lengths) * 1000
    inner_start, inner_end = [], []
    for begin, end in zip(start.tolist(), ends.tolist(), strict=True):
        at = np.linspace(begin + inset * 1000, end - inset * 1000, parts + 1).astype(int)
        inner_start += at[:-1].tolist()
        inner_end += at[1:].tolist()
    if tail:
        inner_start.append(int(ends[-1]))
        inner_end.append(int(ends[-1]) + 10)
    starts = np.concatenate((start, inner_start))
    until = np.concatenate((ends, inner_end))
    number = np.concatenate((first + np.arange(len(start)), second + np.arange(len(inner_start))))
    order = np.lexsort((starts - until, starts))
    kept = np.empty(len(order), np.bool_)
    kept[order] = kept_marks(starts[order], until[order], number[order])
    assert not (starts[kept][1:] < np.maximum.accumulate(until[kept])[:-1]).any()
    covered = int((until - starts)[kept].sum())
    assert covered >= max(int((ends - start).sum()), int(np.subtract(inner_end, inner_start).sum()))


@given(
    st.lists(st.tuples(st.integers(1, 900), st.integers(0, 200), st.integers(0, 9)), max_size=40),
    st.integers(0, 1),
)
def test_steps_that_do_not_overlap_all_stay(
    steps: list[tuple[int, int, int]], rounding: int
) -> None:
    """Whatever their numbers: a program may make a profiler anew each time."""
    start, end, at = [], [], 0
    for length, pause, _ in steps:
        start.append(1000 * at)
        end.append(1000 * (at + length + rounding))
        at += length + pause
    number = [number for _, _, number in steps]
    kept = kept_marks(
        np.array(start, np.int64), np.array(end, np.int64), np.array(number, np.int64)
    )
    assert kept.all() or any(length < 4 for length, _, _ in steps)


def test_hundred_thousand_marks_that_overlap_are_told_apart_at_once() -> None:
    n = 100_000
    start = np.arange(n, dtype=np.int64) * 1000
    kept = kept_marks(start, start + 10**9, np.arange(n, dtype=np.int64)[::-1])
    assert 1 <= kept.sum() < n


def test_diff_of_doubled_marks_says_no_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, events in (("one", loop.loop(3)), ("two", [*loop.loop(3), *inner(1, 3)])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "w.pt.trace.json").write_text(json.dumps(loop.document(events)))
    assert main(["diff", str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    assert "No change beyond" in capsys.readouterr().out


@pytest.mark.parametrize("long_us", [5000, 1750, 900])
def test_step_that_earlier_device_work_outlasts_is_remarked(
    long_us: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = loop.process(100, "python", "CPU")
    for k in range(3):
        at = loop.FIRST_US + 1000 * k
        events.append(mark(1 + k, at, 1000))
        for i in range(4):
            lasts = long_us if (k, i) == (0, 1) else 90
            events += loop.launched(
                "aten::mm",
                "fmha_bwd",
                at + 100 + 50 * i,
                40,
                at + 200 + 100 * i,
                lasts,
                4 * k + i + 1,
            )
    facts = facts_of(events)
    hidden = [f"ProfilerStep#{k + 1}" for k, wall in enumerate(walls(facts)) if wall == 0]
    assert len(hidden) == {5000: 2, 1750: 1, 900: 0}[long_us]
    assert facts.defects[d.HIDDEN_STEP] == len(hidden)
    assert not (facts["steps"]["flags"] & StepFlag.COLD).any()
    (tmp_path / "w.pt.trace.json").write_text(json.dumps(loop.document(events)))
    assert main(["summary", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert ("no time is left for it" in said) == bool(hidden)
    assert all(name in said for name in hidden)
