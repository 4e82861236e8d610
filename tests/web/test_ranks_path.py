"""``/critical_path/ranks`` and ``/stragglers`` of the eight synthetic ranks: rank 5 is slow in all steps but one, in which
the DataLoader of rank 2 stalls.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import msgspec
import pytest
from werkzeug.test import Client

from tests.conftest import REPOSITORY
from tests.runs.written_run import WrittenRun, sample
from tests.web.served import body
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.critical_path.glyph import FULL
from torch_tb_profiler.views.critical_path.ranks_wire import (
    RanksPathPayload,
    RanksRowsPayload,
    StragglersPayload,
)
from torch_tb_profiler.views.critical_path.steps import StepCausesPayload
from torch_tb_profiler.views.critical_path.stragglers import stragglers_payload
from torch_tb_profiler.web.application import Application

STRAGGLER, STALLED, STALLED_STEP = 5, 2, 4
P = TypeVar("P")


@lru_cache(maxsize=1)
def run() -> WrittenRun:
    return sample(str(REPOSITORY / "samples" / "synthetic_ddp8"))


@lru_cache(maxsize=1)
def client() -> Client:
    return Client(Application(run(), Settings()))  # type: ignore[arg-type]


def asked(path: str, wire: type[P], more: str = "") -> P:
    worker = run().run.workers[0].name
    response = client().get(f"/{path}?run=run&worker={worker}&span=1{more}")
    assert response.status_code == 200, body(response)
    return msgspec.json.decode(body(response), type=wire, strict=True)


def path(more: str = "") -> RanksPathPayload:
    return asked("critical_path/ranks", RanksPathPayload, more)


def rows(more: str = "") -> RanksRowsPayload:
    return asked("critical_path/ranks/rows", RanksRowsPayload, more)


def test_the_straggler_is_named_first() -> None:
    found = path()
    assert found.headline[0].startswith("Rank 5 holds all others back: ")
    assert found.headline[3].startswith("Once, in step 7, rank 2 held all others back by ")
    assert found.headline[4].startswith("Rank 5 has ")
    assert found.notes == ["The path rests on all 8 ranks."]
    assert "clocks" in found.clock
    assert (found.progress, found.steps) == (1.0, 6)


def test_the_step_with_the_stalled_loader_names_its_rank() -> None:
    found = path(f"&steps={STALLED_STEP}")
    assert any(text.startswith("Once, in step 7, rank 2 held ") for text in found.headline)
    assert found.headline[4].startswith("Rank 2 has ")
    assert [strip.step for strip in found.strips] == [STALLED_STEP]


def test_strip_and_tables_cover_the_steps() -> None:
    found = path("&steps=0-2")
    assert [strip.step for strip in found.strips] == [0, 1, 2]
    wall = sum(strip.end_ns - strip.start_ns for strip in found.strips)
    assert sum(found.parts["path_ns"]) == wall
    for by in ("rank", "event", "operator", "module", "line"):
        assert sum(rows(f"&steps=0-2&by={by}").rows["path_ns"]) == wall
    for strip in found.strips:
        ranks = strip.glyph.ranks
        ends = [run.end_ns for run in ranks]
        assert [strip.start_ns, *ends] == [*(run.start_ns for run in ranks), strip.end_ns]


def test_a_stretch_lies_where_its_rank_recorded_it() -> None:
    found = path("&steps=0")
    events = rows("&steps=0&by=event").rows
    row = events["worker"].index(STRAGGLER)
    worker = found.workers[STRAGGLER]
    assert worker.rank == STRAGGLER
    opened = run().open("run", worker.worker, "1")
    spans, event = opened.trace["spans"], events["event"][row]
    begin = int(spans["start"][event]) - worker.shift_ns
    assert found.strips[0].start_ns <= begin <= found.strips[0].end_ns
    assert opened.trace.strings[int(spans["name"][event])] == events["name"][row]


def test_a_window_holds_its_own_time() -> None:
    strip = path("&steps=0").strips[0]
    begin, end = strip.start_ns + 1000, strip.start_ns + 500_000
    inside = rows(f"&steps=0&t0={begin}&t1={end}")
    assert sum(inside.rows["path_ns"]) == sum(inside.parts["path_ns"]) == end - begin


def test_the_slowdown_is_that_of_the_straggler() -> None:
    found = asked("stragglers", StragglersPayload)
    assert found.slowdown is not None
    assert None not in (found.predicted_ns, found.measured_ns)
    assert found.by_worker[0].rank == STRAGGLER
    assert found.by_worker[0].slowdown == pytest.approx(found.slowdown, rel=0.01)
    assert all(rank.slowdown < 1.01 for rank in found.by_worker[2:])
    assert (found.predicted_ns or 0) < (found.measured_ns or 0)
    assert found.by_operation


def test_large_runs_are_refused_with_the_reason() -> None:
    opened = run().open("run", run().run.workers[0].name, "1")
    fleet = Fleets(run()).of(opened)
    workers = [(0, "a", "1"), (1, "b", "1")]
    found = stragglers_payload("run", fleet.figures, fleet.open_rank, workers, most_spans=10)
    assert found.slowdown is None
    assert found.refused.startswith("The traces of 2 ranks hold ")


def test_the_lanes_are_of_the_rank_under_the_path_and_add_up() -> None:
    for strip in path(f"&steps={STALLED_STEP}").strips:
        glyph = strip.glyph
        assert glyph.ranks[0].worker == STALLED
        assert glyph.busy is not None
        filled = {"device": 0.0, "host": 0.0}
        on = 0.0
        for part in glyph.parts:
            share = sum(part.columns) / FULL / glyph.columns
            on += share if part.on_path else 0
            if part.category != "copies":
                filled[part.lane] += share
        assert abs(on - 1) < 0.001
        assert abs(filled["device"] - glyph.busy) < 0.001
        # Nothing is recorded twice of a moment.
        assert filled["host"] <= 1.001
        # What the loader of the stalled rank took, by that rank's own clock.
        assert glyph.all_ns["data_loading"] > 9_000_000


@pytest.mark.parametrize("ranks", ["own", "all"])
def test_bright_lanes_of_a_step_are_as_long_as_it(ranks: str) -> None:
    found = asked("critical_path/steps", StepCausesPayload, f"&ranks={ranks}")
    assert {part.lane for part in found.lanes} == {"device", "host"}
    for row, wall in enumerate(found.steps["wall_ns"]):
        assert sum(part.time_ns[row] for part in found.lanes if part.on_path) == wall
