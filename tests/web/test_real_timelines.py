"""The timeline's routes over every public trace and sample: the declared shape, strictly, and what
must agree between them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from werkzeug.test import Client

from tests.conftest import REPOSITORY
from tests.web.served import TIMELINE_ID, body
from tests.web.test_real_traces import RUNS, Loaded
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.timeline import wire
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.web.application import Application

pytestmark = pytest.mark.slow

SAMPLES = sorted(
    p.name for p in (REPOSITORY / "samples").iterdir() if any(p.glob("*.pt.trace.json.gz"))
)
EVENTS = 40


class Asked:
    """One trace's routes."""

    def __init__(self, client: Client, trace: Opened) -> None:
        self._client = client
        self._where = {
            "run": trace.run.name,
            "worker": trace.worker.name,
            "span": trace.span.name,
            "id": TIMELINE_ID,
        }
        self.trace = trace
        self.about = self("timeline", wire.TimelinePayload)

    def __call__(self, route: str, declared: type[Wire], **query: Any) -> Any:
        response = self._client.get(f"/trace/{route}", query_string={**self._where, **query})
        assert response.status_code == 200, f"{route} {query}: {response.data[:500]!r}"
        return msgspec.json.decode(body(response), type=declared, strict=True)

    @property
    def whole(self) -> dict[str, int]:
        """A window around everything; what lies at its end is in it."""
        return {"t0": 0, "t1": self.about.span_ns + 1}


@pytest.fixture(
    scope="module",
    params=[*(("samples", name) for name in SAMPLES), *(("traces", name) for name in RUNS)],
    ids="/".join,
)
def asked(request: pytest.FixtureRequest) -> list[Asked]:
    kind, name = request.param
    folder = (
        REPOSITORY / "samples" / name
        if kind == "samples"
        else Path(REPOSITORY.parent / "shared" / "traces" / name)
    )
    loaded = [item for item in load_all(str(folder), Settings()) if isinstance(item, Opened)]
    # Ranks of one run are alike: two of them have every kind of answer.
    client = Client(Application(Loaded(loaded), Settings()))  # type: ignore[arg-type]
    return [Asked(client, trace) for trace in loaded[:2]]


def test_every_event_is_in_a_group_and_in_the_area_of_everything(asked: list[Asked]) -> None:
    for ask in asked:
        assert sum(group.events for group in ask.about.groups) == ask.about.events
        assert all(len(group.depth) == len(group.sub) == group.lanes for group in ask.about.groups)
        area = ask("area", wire.AreaPayload, **ask.whole)
        assert area.events == ask.about.events
        assert (
            sum(area.rows["count"]) == area.events
            if not area.pooled
            else sum(area.rows["count"]) + area.pooled <= area.events
        )
        assert {group.key: group.events for group in area.groups} == {
            group.key: group.events for group in ask.about.groups
        }
        if area.overlap is not None:
            parts = (
                area.overlap.computation_ns,
                area.overlap.overlap_ns,
                area.overlap.communication_ns,
                area.overlap.idle_ns,
            )
            assert sum(parts) == area.t1_ns - area.t0_ns
            assert min(parts) >= 0


def test_search_finds_every_name_as_often_as_it_occurs(asked: list[Asked]) -> None:
    for ask in asked:
        everything = ask("search", wire.SearchPayload, q="^", re=1)
        assert everything.total == ask.about.events
        names = ask("names", wire.NamesPayload, first=0).names
        for name in [name for name in names[:5] if name and len(name) < 200]:
            found = ask("search", wire.SearchPayload, q=name, case=1)
            assert found.total >= found.names["count"][found.names["name"].index(name)] > 0
            heat = ask("search/heat", wire.HeatPayload, q=name, case=1, n=64, **ask.whole)
            assert sum(heat.counts) == found.total
            first = ask("search/next", wire.NextHitPayload, q=name, case=1, t=0, dir="next")
            assert (first.index, first.hit.event) == (0, found.hits["event"][0])
            last = ask("search/next", wire.NextHitPayload, q=name, case=1, before=first.hit.event)
            assert last.index == found.total - 1, "it goes round at the end"


def test_arrows_are_as_many_as_told(asked: list[Asked]) -> None:
    for ask in asked:
        for kind in ask.about.arrow_kinds:
            found = ask("arrows", wire.ArrowsPayload, kinds=kind.kind, cap=100, **ask.whole)
            assert found.total == kind.total
            assert len(found.source) == min(100, kind.total) == len(found.target_ns)
            assert set(found.kind) <= {kind.kind}


def test_curves_stay_between_their_bounds(asked: list[Asked]) -> None:
    for ask in asked:
        for number, series in enumerate(ask.about.counters):
            (curve,) = ask(
                "counters", wire.CountersPayload, series=number, n=50, **ask.whole
            ).curves
            known = [v for v in (*curve.lowest, *curve.highest, *curve.mean) if v is not None]
            assert len(curve.lowest) == 50
            assert known
            slack = 1e-9 * max(abs(series.lowest), abs(series.highest), 1)
            assert series.lowest - slack <= min(known) <= max(known) <= series.highest + slack


def test_events_are_described_and_stand_in_their_file(asked: list[Asked]) -> None:
    for ask in asked:
        shown = places(ask)
        for event in shown[:: max(1, len(shown) // EVENTS)]:
            found = ask("event", wire.EventPayload, event=event)
            assert found.ref.event == event
            assert found.siblings.calls >= found.siblings.rank >= 1
            assert found.siblings.shortest_ns <= found.ref.dur_ns <= found.siblings.longest_ns
            assert len({link.ref.event for link in found.chain}) == len(found.chain)
            assert found.launched_total >= len(found.launched)
        for event in (shown[0], shown[len(shown) // 2], shown[-1]):
            text = ask("event/args", wire.EventArgsPayload, event=event).text
            assert (
                str(json.loads(text, strict=False)["name"])
                == ask("event", wire.EventPayload, event=event).ref.name
            )


def places(ask: Asked) -> list[int]:
    """Numbers of events that the timeline shows."""
    spans, instants = ask.trace.trace["spans"], ask.trace.trace["instants"]
    points = [
        spans.n + i for i, phase in enumerate(instants["phase"].tolist()) if phase != ord("C")
    ]
    return [*range(spans.n), *points]
