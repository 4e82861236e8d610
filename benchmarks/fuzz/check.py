"""What has to hold for a file, whatever it holds."""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
from msgspec.structs import replace

from benchmarks.fuzz.mutate import Case
from tests.analysis.figures import everything
from tests.views import hand_made
from tests.web.served import TIMELINE_ID, WrittenCatalogue, body, client, insight_of, timeline_of
from tests.web.timeline_asked import PARAMETERS
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.api.export import table, write_table
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.assemble import assemble, pair_begin_end
from torch_tb_profiler.importers.events import Event
from torch_tb_profiler.importers.gather import _is_empty
from torch_tb_profiler.runs import import_job
from torch_tb_profiler.runs.import_job import outcome_of
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.tables.registry import OF_A_TRACE
from torch_tb_profiler.views.timeline.tiles import top_level
from torch_tb_profiler.web.route import ROUTES

MOST_SECONDS = 20.0
"""Of one case; hundreds of times what any needs."""
MOST_REPLY_BYTES = 4 << 20
STORED = ("spans", "memory", "flows", "instants")
_ANSWERS = (200, 202, 400, 404, 409)
_OF_THE_FILE = ("/trace/event/args", "/trace/file")
"""They read the file again."""


class Broken(AssertionError):
    """Something does not hold."""


@dataclass
class Checked:
    """What a case came to. ``replies``: answers by status; empty if no view was asked."""

    is_trace: bool
    entries: int = 0
    replies: dict[int, int] = field(default_factory=dict)


def check(case: Case, folder: Path, views: bool) -> Checked:
    """Import a case, check what was stored, and with ``views`` ask every route and table.

    Raises:
        Broken: something does not hold; anything else that is raised is a fault, too.
    """
    begin = time.process_time()
    random = Random(case.name)
    path = folder / f"{case.name}.pt.trace.json"
    path.write_bytes(case.data)
    chunk = random.choice((2 << 20, 2 << 20, 4096, 300))
    settings = Settings(use_cache=False, chunk_bytes=chunk)
    try:
        with _counted() as counted, _whole_file() as whole:
            (trace, facts), *others = import_job.read_parts(Place(str(path)), settings)
    except NotATrace as error:
        _expect(bool(error.message and error.hint), "a refusal says why and what to do")
        return Checked(False)
    finally:
        if not views:
            path.unlink()
    _expect_balance(case, whole[0] if others else trace, facts, counted)
    for part, _ in [(trace, facts), *others] if others else []:
        _expect(part.entries == _stored(part), "a rank has what is stored of it")
    _expect_sums(trace, facts)
    _expect_round_trip(folder / "trace.sidecar", trace, facts)
    checked = Checked(True, trace.entries)
    if views:
        opened = _opened(path, trace, facts)
        _expect_derived(folder / "derived.sidecar", opened)
        checked.replies = _ask(opened, settings, random)
        _export(opened, settings)
        path.unlink()
    _expect(time.process_time() - begin < MOST_SECONDS, "it is done soon")
    return checked


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise Broken(f"does not hold: {what}")


@contextmanager
def _counted() -> Iterator[dict[str, int]]:
    """The entries that become no row of their own: metadata, ends of joined begins, empty objects."""
    counted = {"read": 0, "metadata": 0, "ends": 0, "empty": 0}

    def empty(event: Event) -> bool:
        counted["empty"] += _is_empty(event)
        return _is_empty(event)

    def paired(*args: Any, **more: Any) -> Any:
        joined = pair_begin_end(*args, **more)
        counted["ends"] = len(joined)
        return joined

    def assembled(gathered: Any, *args: Any, **more: Any) -> Trace:
        counted["read"] = 1
        counted["metadata"] = len(gathered.metadata)
        return assemble(gathered, *args, **more)

    with (
        mock.patch("torch_tb_profiler.importers.chrome_trace.pair_begin_end", paired),
        mock.patch("torch_tb_profiler.importers.chrome_trace.assemble", assembled),
        mock.patch("torch_tb_profiler.importers.gather._is_empty", empty),
    ):
        yield counted


@contextmanager
def _whole_file() -> Iterator[list[Trace]]:
    """The trace that was read, before it is divided by ranks."""
    found: list[Trace] = []
    read = import_job._whole

    def whole(*args: Any) -> Trace:
        found.append(read(*args))
        return found[-1]

    with mock.patch.object(import_job, "_whole", whole):
        yield found


def _stored(trace: Trace) -> int:
    return sum(trace[name].n for name in STORED)


def _expect_balance(case: Case, trace: Trace, facts: Facts, counted: dict[str, int]) -> None:
    if not counted["read"]:
        return  # Damage made it another format: folded stacks have lines, not entries.
    stored = _stored(trace)
    lost = outcome_of(trace, facts).lost
    known = stored + lost + counted["metadata"] + counted["ends"] + counted["empty"]
    _expect(
        trace.entries == known,
        f"{trace.entries} entries = {stored} stored + {lost} lost + {counted}",
    )
    uncounted = case.entries is None or trace.defects[d.SKIPPED]
    written = trace.entries if uncounted else case.entries
    _expect(trace.entries == written, f"{trace.entries} entries, {written} written")


def _expect_sums(trace: Trace, facts: Facts) -> None:
    spans, steps = trace["spans"], facts["steps"]
    wall = step_lengths(steps)
    _expect(np.array_equal(sum(steps[key] for key in CATEGORIES), wall), "categories add to wall")
    _expect(all((steps[key] >= 0).all() for key in CATEGORIES), "no category is negative")
    kernels = kernel_rows(facts, everything(facts), "properties")
    of_kernels = spans["role"] == Role.KERNEL
    _expect(int(kernels["calls"].sum()) == int(of_kernels.sum()), "kernels are counted")
    total = sum(spans["dur"][of_kernels].tolist())
    _expect(sum(kernels["total_ns"].tolist()) == total, "kernels add up")


def _same(one: Any, other: Any) -> bool:
    return one.tables.keys() == other.tables.keys() and all(
        one[name].n == other[name].n
        and all(_equal(one[name][key], other[name][key]) for key in one[name])
        for name in one.tables
    )


def _equal(one: Any, other: Any) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _expect_round_trip(path: Path, trace: Trace, facts: Facts) -> None:
    sidecar.write(path, trace, facts)
    mapped, mapped_facts = sidecar.read(path)
    _expect(_same(mapped, trace) and _same(mapped_facts, facts), "the sidecar holds all rows")
    _expect(mapped.strings.all() == trace.strings.all(), "the sidecar holds all texts")
    _expect(mapped.header == trace.header, "the sidecar holds the header")
    same = (mapped.entries, mapped.origin_ns, mapped.base_ns, mapped.defects.as_dict()) == (
        *(trace.entries, trace.origin_ns, trace.base_ns),
        trace.defects.as_dict(),
    )
    _expect(same, "the sidecar holds the figures")


def _expect_derived(path: Path, opened: Opened) -> None:
    timeline, insight = timeline_of(opened).timeline, insight_of(opened).insight
    sidecar.write_derived(path, timeline)
    _expect(
        _same(sidecar.read_derived(path, Timeline), timeline),
        "the timeline's sidecar holds all rows",
    )
    sidecar.write_derived(path, insight)
    _expect(
        _same(sidecar.read_derived(path, Insight), insight), "the insight's sidecar holds all rows"
    )


def _opened(path: Path, trace: Trace, facts: Facts) -> Opened:
    opened = hand_made.opened(facts, str(path), f"run/{path.name}")
    return replace(opened, trace=trace)


def _ask(opened: Opened, settings: Settings, random: Random) -> dict[int, int]:
    """Ask every route in every grouping; the replies by status."""
    asked, replies = client(WrittenCatalogue(opened)), dict[int, int]()
    faults = _Faults()
    log = logging.getLogger()
    log.addHandler(faults)
    try:
        for path, query in questions(opened, random):
            response = asked.get(path, query_string=query)
            where = f"{path} {query}: {response.status_code} {body(response)[:300]!r}"
            allowed = (*_ANSWERS, 502) if path in _OF_THE_FILE else _ANSWERS
            _expect(response.status_code in allowed, f"{where}\n{faults.text()}")
            replies[response.status_code] = replies.get(response.status_code, 0) + 1
            content = body(response)
            _expect(len(content) <= MOST_REPLY_BYTES or path == "/trace/file", f"{where} is small")
            if response.content_type == "application/json" and path not in _OF_THE_FILE:
                json.loads(content, parse_constant=_refuse)
    finally:
        log.removeHandler(faults)
    return replies


class _Faults(logging.Handler):
    """Keeps the last traceback, for the report."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self._last = self.format(record)

    def text(self) -> str:
        return self._last


def _refuse(constant: str) -> None:
    raise Broken(f"does not hold: {constant} is no JSON")


def questions(opened: Opened, random: Random) -> Iterator[tuple[str, dict[str, str]]]:
    """Every route once, with each of its words, and at random places of the trace."""
    where = {"run": "run", "worker": "w0", "span": "1"}
    other = {"run2": "run", "worker2": "w0", "span2": "1"}
    timeline = timeline_of(opened).timeline
    lanes = f"0-{max(timeline['lanes'].n - 1, 0)}"
    names = opened.trace.strings.many(opened.facts["operators"]["name"].tolist()[:1])
    end = max(opened.facts.summary.span_ns, 2)
    begin = random.randrange(end)
    window = {"t0": str(begin), "t1": str(min(begin + 1 + random.randrange(end), (1 << 62) - 1))}
    events = opened.trace["spans"].n + opened.trace["instants"].n
    for path, route in ROUTES.items():
        query = dict(where) if route.opens else {}
        if "id" in route.places:
            query["id"] = TIMELINE_ID
        if "run2" in route.places:
            query |= other
        query |= PARAMETERS.get(path, {})
        entries = {entry.name for entry, _ in route.entries()}
        query |= {key: value for key, value in window.items() if key in query}
        if "event" in query:
            query["event"] = str(random.randrange(max(events, 1)))
        if "lanes" in query:
            query["lanes"] = lanes
        if path == "/callers":
            query["name"] = (names or ["x"])[0]
        if path == "/trace/tiles":
            top = top_level(timeline)
            for level in {0, random.randrange(top + 1), top}:
                yield path, {**query, "level": str(level), "k": "0"}
            continue
        yield path, query
        for name, parameter in route.parameters.items():
            words = getattr(parameter.kind, "words", ())
            for word in words if name in entries else ():
                yield path, {**query, name: word}
        if "steps" in entries and opened.facts["steps"].n:
            step = random.randrange(opened.facts["steps"].n)
            yield path, {**query, "steps": str(step)}


def _export(opened: Opened, settings: Settings) -> None:
    """Every table as CSV."""
    frames = TraceFrames(TraceContext(opened, settings))
    for name in OF_A_TRACE:
        write_table(table(frames, name), io.BytesIO(), "csv")
