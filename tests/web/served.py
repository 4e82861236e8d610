"""An application over a catalogue that the tests write down."""

from __future__ import annotations

import gzip
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
from msgspec.structs import replace
from werkzeug.test import Client, TestResponse

from tests.views import hand_made
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.timeline.build import build_timeline
from torch_tb_profiler.errors import ImportFailed, NotFound, NotReady, ProfilerError
from torch_tb_profiler.runs.entries import Key
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.model import (
    Opened,
    OpenedInsight,
    OpenedRank,
    OpenedTimeline,
    Run,
    SeenFile,
    Snapshot,
    Span,
    State,
    Worker,
)
from torch_tb_profiler.runs.products import DerivedProduct
from torch_tb_profiler.runs.rank_indexes import opened_rank
from torch_tb_profiler.runs.waits import PHASES, Wait
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.wire import ErrorPayload
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.static_files import StaticFiles

WHERE = "run=run&worker=w0&span=1"
TIMELINE_ID = "0123456789abcdef"


class Answering(ABC):
    """What a catalogue answers beside ``open``: timelines and insights that are made at once."""

    @abstractmethod
    def open(self, run: str, worker: str, span: str) -> Opened: ...

    def timeline(self, run: str, worker: str, span: str) -> OpenedTimeline:
        return timeline_of(self.open(run, worker, span))

    def made_timeline(self, run: str, worker: str, span: str) -> OpenedTimeline | None:
        return self.timeline(run, worker, span)

    def insight(self, run: str, worker: str, span: str) -> OpenedInsight:
        return insight_of(self.open(run, worker, span))

    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float:
        return self.insight(run, worker, span)

    def waiting(
        self, product: DerivedProduct[Any], places: Sequence[Key], *, beside: bool = False
    ) -> tuple[Wait, Span]:
        first, *_ = [self.open(*place) for place in places]
        return Wait(1.0, [*PHASES[product.name]][-1], True, 1, 1), first.span

    def ask_ranks(
        self, run: str, names: Sequence[tuple[str, str]]
    ) -> list[OpenedRank | float | ProfilerError]:
        return [self._ask_rank(run, *name) for name in names]

    def _ask_rank(self, run: str, worker: str, span: str) -> OpenedRank | ProfilerError:
        try:
            found = self.insight(run, worker, span)
        except ProfilerError as error:
            return error
        return opened_rank(found)


@dataclass
class WrittenCatalogue(Answering):
    """Opens ``opened`` for run "run"; run "slow" is not ready, "broken" failed, "bug" raises what
    nobody expected.
    """

    opened: Opened = field(default_factory=hand_made.opened)
    rescans: int = 0
    store: Any = field(default_factory=lambda: SimpleNamespace(link=None))
    logdirs: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)

    def snapshot(self) -> Snapshot:
        spans = (
            self.opened.span,
            Span("2", "2", "run/w0.2.json", Place("/secret/w0.2.json"), 10, State.IMPORTING, 0.25),
        )
        files = (
            SeenFile(
                "run/x.json",
                "run",
                "",
                "",
                State.REJECTED,
                "It is not a trace: it holds no traceEvents.",
                12,
            ),
        )
        return Snapshot(
            "v1",
            False,
            ("logs",),
            (Run("run", (Worker("w0", 1, "file name", 2, spans),)),),
            files,
            ("A note.",),
        )

    def rescan(self) -> None:
        self.rescans += 1

    def open(self, run: str, worker: str, span: str) -> Opened:
        if run == "slow":
            raise NotReady("It is being imported.", "Wait a moment.", progress=0.25)
        if run == "broken":
            raise ImportFailed(
                "run/w0.json: the import ran out of memory.", "See the diagnosis page."
            )
        if run == "bug":
            raise RuntimeError("/secret/place: something else")
        if (run, worker, span) != ("run", "w0", "1"):
            raise NotFound(f"There is no run {run!r}.")
        return self.opened


def timeline_of(opened: Opened) -> OpenedTimeline:
    """The trace's timeline, made once, under an id that every test knows."""
    return OpenedTimeline(
        opened,
        opened.memoise(
            "the timeline of a test", lambda: build_timeline(opened.trace, opened.facts)
        ),
        TIMELINE_ID,
    )


def insight_of(opened: Opened) -> OpenedInsight:
    """The trace's insight, made once, under the same id."""
    return OpenedInsight(
        opened,
        opened.memoise("the insight of a test", lambda: build_insight(opened.trace, opened.facts)),
        TIMELINE_ID,
    )


def catalogue_of(trace: Trace, facts: Facts | None = None) -> WrittenCatalogue:
    """A catalogue whose run "run" is of this trace."""
    facts = facts or derive(trace)
    return WrittenCatalogue(replace(hand_made.opened(), trace=trace, facts=facts, memo=Memo()))


def client(
    catalogue: WrittenCatalogue | None = None, static: Path | None = None, **settings: Any
) -> Client:
    """A client of the whole application."""
    files = StaticFiles(static) if static else None
    return Client(Application(catalogue or WrittenCatalogue(), Settings(**settings), files))  # type: ignore[arg-type]


def body(response: TestResponse) -> bytes:
    """The body, inflated."""
    data: bytes = response.data
    return gzip.decompress(data) if response.headers.get("Content-Encoding") == "gzip" else data


def answer(asked: Client, url: str) -> dict[str, Any]:
    """The JSON of a right answer."""
    response = asked.get(url)
    assert response.status_code == 200, response.data[:500]
    found: dict[str, Any] = json.loads(body(response))
    return found


def error_of(response: TestResponse) -> ErrorPayload:
    """The error shape, strictly: no key more, none less."""
    assert response.content_type == "application/json"
    payload = msgspec.json.decode(body(response), type=ErrorPayload)
    assert set(json.loads(body(response))) == {"error"}
    assert set(json.loads(body(response))["error"]) == {"code", "message", "hint", "progress"}
    return payload
