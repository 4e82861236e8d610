"""The runs beside each other: which recordings are rows, their figures, and what is suggested."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace
from werkzeug.test import Client

from tests.builders.drawn import trace_of
from tests.builders.pairs import CHANGES, NO_CHANGE, recording
from tests.web.served import Answering, body
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.errors import ImportFailed, NotFound
from torch_tb_profiler.runs import experiments as limits
from torch_tb_profiler.runs.model import (
    Opened,
    OpenedInsight,
    Run,
    Snapshot,
    Span,
    State,
    Worker,
)
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.web.application import Application

HOUR = 3_600_000_000_000
BEGAN = 1_767_348_000_000_000_000
"""2026-01-02 10:00 UTC."""
Made = tuple[Trace, Facts, Insight]


def made(change: str, seed: int, hours: int = 0) -> Made:
    """A recording that began so many hours after ``BEGAN``."""
    trace = replace(trace_of(recording(CHANGES[change], seed)), origin_ns=BEGAN + hours * HOUR)
    facts = derive(trace)
    return trace, facts, build_insight(trace, facts)


class Logdir(Answering):
    """Recordings by run, worker and span. ``awaited``, ``broken``: runs without an insight."""

    def __init__(self, traces: Mapping[tuple[str, str, str], Made]) -> None:
        self.traces = dict(traces)
        self.awaited: set[str] = set()
        self.broken: set[str] = set()
        self.asked: list[str] = []

    def snapshot(self) -> Snapshot:
        runs = []
        for name in dict.fromkeys(run for run, _, _ in self.traces):
            workers = dict.fromkeys(worker for run, worker, _ in self.traces if run == name)
            runs.append(
                Run(
                    name,
                    tuple(
                        Worker(
                            worker,
                            int(worker[-1]),
                            "file name",
                            None,
                            tuple(
                                Span(
                                    span,
                                    span,
                                    f"{name}/{worker}.{span}",
                                    Place("/x"),
                                    1,
                                    State.READY,
                                )
                                for run, own, span in self.traces
                                if (run, own) == (name, worker)
                            ),
                        )
                        for worker in workers
                    ),
                )
            )
        return Snapshot("v", False, ("logs",), tuple(runs))

    def open(self, run: str, worker: str, span: str) -> Opened:
        if (run, worker, span) not in self.traces:
            raise NotFound(f"There is no run {run!r}.")
        trace, facts, _ = self.traces[run, worker, span]
        found = next(r for r in self.snapshot().runs if r.name == run)
        own = next(w for w in found.workers if w.name == worker)
        return Opened(found, own, next(s for s in own.spans if s.name == span), trace, facts)

    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float:
        self.asked.append(run)
        if run in self.awaited:
            return 0.5
        if run in self.broken:
            raise ImportFailed("It ran out of memory.", "See the diagnosis page.")
        return OpenedInsight(self.open(run, worker, span), self.traces[run, worker, span][2], run)


def asking(logdir: Logdir) -> Any:
    client = Client(Application(logdir, Settings()))  # type: ignore[arg-type]

    def ask(run: str, worker: str = "w0", span: str = "1", more: str = "") -> dict[str, Any]:
        response = client.get(f"/experiments?run={run}&worker={worker}&span={span}{more}")
        assert response.status_code == 200, body(response)
        found: dict[str, Any] = json.loads(body(response))
        return found

    return ask


@pytest.fixture(scope="module")
def traces() -> dict[str, Made]:
    return {
        "monday": made(NO_CHANGE, 0),
        "tuesday": made(NO_CHANGE, 1, 24),
        "slow": made("missing_overlap", 2, 26),
    }


@pytest.fixture
def logdir(traces: dict[str, Made]) -> Logdir:
    return Logdir({(run, "w0", "1"): trace for run, trace in traces.items()})


def test_a_row_per_run_against_the_asked_one(logdir: Logdir) -> None:
    found = asking(logdir)("monday")
    rows = found["rows"]
    assert (rows["run"], found["base"], found["progress"]) == (["monday", "tuesday", "slow"], 0, 1)
    assert rows["recorded"] == ["2026-01-02 10:00", "2026-01-03 10:00", "2026-01-03 12:00"]
    assert rows["changed"] == [None, False, True]
    assert rows["delta_ns"][0] is None
    assert rows["delta_ns"][2] > 0
    assert rows["share"][2] > rows["low"][2] > 0
    assert all(0 < share <= 1 for share in rows["busy"])
    assert rows["findings"][2].startswith("Communication is not hidden behind computation (")


def test_the_change_is_that_of_the_diff(logdir: Logdir) -> None:
    rows = asking(logdir)("monday")["rows"]
    client = Client(Application(logdir, Settings()))  # type: ignore[arg-type]
    query = "run=monday&worker=w0&span=1&run2=slow&worker2=w0&span2=1"
    verdict = json.loads(body(client.get(f"/diff?{query}")))["verdict"]
    assert rows["delta_ns"][2] == verdict["delta_ns"]
    for key in ("share", "low", "high", "changed"):
        assert rows[key][2] == verdict[key]


def test_the_recording_before_is_suggested_with_its_reason(logdir: Logdir) -> None:
    ask = asking(logdir)
    assert ask("slow")["suggestion"]["row"] == 1
    reason = ask("slow")["suggestion"]["reason"]
    assert reason.startswith("Previous recording of the same work: ")
    assert reason.endswith("same worker, 2 h earlier.")
    # Nothing was recorded before it.
    assert ask("monday")["suggestion"] is None


def test_another_program_is_neither_suggested_nor_compared(traces: dict[str, Made]) -> None:
    events = [
        {"ph": "X", "cat": "cpu_op", "name": f"my::op{i}", "pid": 1, "tid": 1, "ts": i, "dur": 1}
        for i in range(5)
    ]
    trace = trace_of(events)
    facts = derive(trace)
    other = trace, facts, build_insight(trace, facts)
    logdir = Logdir({("monday", "w0", "1"): traces["monday"], ("other", "w0", "1"): other})
    found = asking(logdir)("monday")
    assert found["suggestion"] is None
    assert (found["rows"]["common"], found["rows"]["delta_ns"]) == ([None, 0], [None, None])
    # One step, no device, no clock: unknown, never 0.
    for name in ("spread_ns", "busy", "mfu", "exposed_ns", "recorded", "device"):
        assert found["rows"][name][1] is None, name


def test_rows_come_as_they_are_read(logdir: Logdir) -> None:
    ask = asking(logdir)
    logdir.awaited = {"tuesday"}
    logdir.broken = {"slow"}
    found = ask("monday")
    assert found["rows"]["state"] == ["ready", "waiting", "failed"]
    assert found["rows"]["message"] == [None, None, "It ran out of memory."]
    assert found["progress"] == pytest.approx(2 / 3, abs=1e-3)
    logdir.awaited = set()
    logdir.asked.clear()
    assert ask("monday")["rows"]["state"][1] == "ready"
    # What is known is not asked for again.
    assert "monday" not in logdir.asked


def test_only_a_few_insights_are_awaited_at_a_time(
    traces: dict[str, Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    logdir = Logdir({(f"run{i:03}", "w0", "1"): traces["monday"] for i in range(300)})
    logdir.awaited = {f"run{i:03}" for i in range(300)} - {"run200"}
    monkeypatch.setattr(limits, "MOST_SECONDS", 60)
    found = asking(logdir)("run200")
    assert len(logdir.asked) == 1 + limits.MOST_AHEAD
    assert (len(found["rows"]["run"]), found["total"]) == (limits.MOST_ROWS, 300)
    assert found["rows"]["run"][found["base"]] == "run200"
    assert found["rules"][-1] == "256 of 300 runs are listed, those beside it."


def test_a_single_run_has_a_row_per_recording(traces: dict[str, Made]) -> None:
    logdir = Logdir(
        {
            ("run", "w0", "1"): traces["monday"],
            ("run", "w0", "2"): traces["tuesday"],
            ("run", "w1", "1"): traces["slow"],
        }
    )
    found = asking(logdir)("run", "w0", "2")
    places = list(zip(found["rows"]["worker"], found["rows"]["span"], strict=True))
    assert places == [("w0", "1"), ("w0", "2"), ("w1", "1")]
    assert found["base"] == 1
    assert found["suggestion"]["row"] == 0


def test_all_ranks_stand_as_their_median(traces: dict[str, Made]) -> None:
    """One worker is compared by default, the last of its recordings; with all ranks, their medians."""
    logdir = Logdir(
        {
            ("a", "w0", "1"): traces["monday"],
            ("a", "w1", "1"): traces["tuesday"],
            ("b", "w0", "1"): traces["monday"],
            ("b", "w0", "2"): traces["slow"],
            ("b", "w1", "1"): traces["slow"],
        }
    )
    ask = asking(logdir)
    own = ask("a", "w1")["rows"]
    assert (own["worker"], own["span"]) == (["w1", "w1"], ["1", "1"])
    assert ask("a", "w0")["rows"]["span"] == ["1", "2"]
    both = ask("a", more="&ranks=all")["rows"]
    assert both["worker"] == ["2 workers", "2 workers"]
    singles = [ask("a", worker)["rows"] for worker in ("w0", "w1")]
    assert both["step_ns"][0] == pytest.approx(
        sum(rows["step_ns"][0] for rows in singles) / 2, abs=1
    )
    assert both["delta_ns"][1] == pytest.approx(
        sum(rows["delta_ns"][1] for rows in singles) / 2, abs=1
    )
