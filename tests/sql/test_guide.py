"""The questions of ``docs/guide/sql.md`` are answered by the statements that stand there, on recordings that hold the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.api.opening import open_path
from torch_tb_profiler.sql.examples import EXAMPLES

STATEMENTS = {example.question: example.statement for example in EXAMPLES}
ON_KERNELS = [
    question for question in STATEMENTS if "pageable" not in question and "counter" not in question
]


def answer(frames: TraceFrames, start: str) -> Any:
    [statement] = [text for question, text in STATEMENTS.items() if question.startswith(start)]
    return frames.sql(statement)


@pytest.mark.parametrize("question", ON_KERNELS)
def test_each_has_an_answer(recording: TraceFrames, question: str) -> None:
    assert len(recording.sql(STATEMENTS[question]))


def test_each_is_answered_without_a_device_too(repository: Path) -> None:
    frames: Any = open_path(repository / "samples/inference")
    for statement in STATEMENTS.values():
        frames.sql(statement)


def test_rows_of_equal_order_stand_as_before_each_time(repository: Path) -> None:
    frames: Any = open_path(repository / "samples/transformer")
    for question in ("How long does a counter", "What is each step"):
        assert len({answer(frames, question).to_csv() for _ in range(6)}) == 1


def test_the_guide_holds_each_of_them(repository: Path) -> None:
    text = (repository / "docs/guide/sql.md").read_text(encoding="utf-8")
    for question, statement in STATEMENTS.items():
        assert question in text
        assert statement in text


def test_kernels_are_summed_by_name(recording: TraceFrames) -> None:
    found, events = answer(recording, "Which kernels take"), recording.events
    kernels = events[events.role == "kernel"].groupby("name", observed=True).dur_ns
    assert dict(zip(found.name, found.total, strict=True)) == kernels.sum().to_dict()
    assert dict(zip(found.name, found.calls, strict=True)) == kernels.count().to_dict()
    assert found.share.sum() == pytest.approx(1)


def test_a_device_is_as_busy_as_its_kernels_last(recording: TraceFrames) -> None:
    found = answer(recording, "How busy")
    merged = recording.sql(
        "with ordered as (select device, start, stop, max(stop) over (partition by device order by start, stop"
        " rows between unbounded preceding and 1 preceding) as before from kernels)"
        " select device, sum(greatest(0, stop - greatest(start, coalesce(before, 0)))) as busy"
        " from ordered group by device"
    )
    length = recording.sql("select max(stop) as stop from events").stop[0] / 10
    for device, busy in zip(merged.device, merged.busy, strict=True):
        parts = found[found.device == device].busy
        assert parts.sum() * length == pytest.approx(float(busy), rel=1e-6)


def test_gaps_are_those_between_the_work(recording: TraceFrames) -> None:
    gaps = answer(recording, "When is a device idle")
    work = recording.sql(
        "select device, start, stop from kernels union all select device, start, stop from copies"
    )
    for row in gaps.head(5).itertuples():
        same = work[work.device == row.device]
        inside = same[(same.start < row.idle_from + row.gap) & (same.stop > row.idle_from)]
        assert not len(inside)


def test_callers_lead_from_the_outermost_to_the_kernel(recording: TraceFrames) -> None:
    found = answer(recording, "What stands above")
    assert found.role.iloc[-1] == "kernel"
    assert (found.role == "operator").any()


def test_the_critical_path_adds_up_to_the_steps(recording: TraceFrames) -> None:
    found = answer(recording, "What is each step waiting for")
    assert found.groupby("step").time.sum().tolist() == recording.steps.wall_ns.tolist()
