"""Route ``/api_calls``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import numpy as np

from torch_tb_profiler.analysis.api_calls.calls import (
    API_CALLS,
    LONG_CALLS,
    WAITING,
    call_table,
    calls_of,
    long_calls,
    selected_time,
)
from torch_tb_profiler.analysis.api_calls.copies import COPIES, copy_table, device_link
from torch_tb_profiler.analysis.api_calls.launches import (
    EDGES_NS,
    LAUNCHES,
    Launches,
    delay_counts,
    launch_table,
    launches_of,
    within,
)
from torch_tb_profiler.analysis.api_calls.queues import (
    QUEUES,
    Queue,
    Queues,
    queue_table,
    queues_of,
    stream_name,
)
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.timeline.counters import thinned
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.units import format_count, format_ns, format_rate
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary


class LaunchHistogram(Wire, frozen=True, kw_only=True):
    """How many launches of kernels lie between two edges: by the delay until their kernel begins, and by their own
    duration. The last bucket has no end.
    """

    edges_ns: list[int]
    delays: list[int]
    durations: list[int]


class QueueCurve(Wire, frozen=True, kw_only=True):
    """Launches that wait on a stream: ``length[i]`` from ``time_ns[i]`` on."""

    stream: str
    time_ns: list[int]
    length: list[int]


class ApiCallsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/api_calls``. ``sentences``: what the tables say in short. ``pooled``, ``launches_pooled``: rows that the last
    row pools. ``link``: the device's links to others, with their peak; empty not known.
    """

    vocabulary: Vocabulary
    sentences: list[str]
    rows: Annotated[dict[str, Any], table_of(API_CALLS)]
    pooled: int
    longest: Annotated[dict[str, Any], table_of(LONG_CALLS)]
    histogram: LaunchHistogram
    launches: Annotated[dict[str, Any], table_of(LAUNCHES)]
    launches_pooled: int
    queues: Annotated[dict[str, Any], table_of(QUEUES)]
    curves: list[QueueCurve]
    copies: Annotated[dict[str, Any], table_of(COPIES)]
    link: str
    missing: list[Missing]


Keep = Callable[[Hashable, Callable[[], Any]], Any]
"""Keeps what it makes while the trace is open: ``Opened.memoise``."""
SAMPLES = 600
"""Of a curve; more than it has pixels says nothing."""
MOST_CURVES = 8


def api_calls_payload(
    trace: Trace,
    facts: Facts,
    selection: Selection,
    limit: int,
    short_ns: int,
    queue_limit: int,
    keep: Keep,
) -> ApiCallsPayload:
    """Tables of at most ``limit`` rows; kernels below ``short_ns`` are short, a queue of ``queue_limit`` launches is full."""
    # Numpy lets other threads run meanwhile: a fourth of the time of a large trace (measured).
    with ThreadPoolExecutor(1) as beside:
        made = beside.submit(calls_of, trace, facts, selection)
        launches = _launches(trace, facts, selection, keep)
        waiting = beside.submit(_waiting, trace, facts, selection, launches, queue_limit, keep)
        calls = made.result()
        table = call_table(trace, facts, selection, calls, launches)
        kernels = launch_table(trace, launches, short_ns)
        delays, durations = delay_counts(launches)
        copies = copy_table(trace, facts, launches)
        queues, streams, curves = waiting.result()
    link = device_link(facts)
    return ApiCallsPayload(
        vocabulary=vocabulary(facts),
        sentences=_sentences(table, kernels, streams, short_ns, queue_limit),
        rows=wire_columns(table.head(limit)),
        pooled=max(0, table.n - limit),
        longest=wire_columns(long_calls(trace, facts, calls, launches, queues)),
        histogram=LaunchHistogram(
            edges_ns=EDGES_NS.tolist(), delays=delays.tolist(), durations=durations.tolist()
        ),
        launches=wire_columns(kernels.head(limit)),
        launches_pooled=max(0, kernels.n - limit),
        queues=wire_columns(streams),
        curves=curves,
        copies=wire_columns(copies),
        link=f"{link.name}, {format_rate(link.rate(2), 'B/s')}" if link else "",
        missing=missing(absent(facts), ("device", "device_times")),
    )


def _launches(trace: Trace, facts: Facts, selection: Selection, keep: Keep) -> Launches:
    made: Launches = keep("api launches", lambda: launches_of(trace, facts, selection))
    return within(made, facts, selection)


def _waiting(
    trace: Trace,
    facts: Facts,
    selection: Selection,
    launches: Launches,
    queue_limit: int,
    keep: Keep,
) -> tuple[Queues, DisplayTable, list[QueueCurve]]:
    """The queues of the streams, their table, and the curves of the longest."""
    queues = keep(("api queues", queue_limit), lambda: queues_of(trace, launches, queue_limit))
    streams = queue_table(trace, facts, selection, queues, selected_time(facts, selection))
    return queues, streams, _curves(facts, selection, queues)


def _sentences(
    calls: DisplayTable, kernels: DisplayTable, streams: DisplayTable, short_ns: int, full: int
) -> list[str]:
    said = _costs(calls) if calls.n else []
    if kernels.n:
        short, count = int(kernels["short"].sum()), int(kernels["calls"].sum())
        said.append(
            f"{format_count(short)} of {format_count(count)} kernels are shorter than {format_ns(short_ns)}."
        )
    blocked = int(streams["blocked"].sum()) if streams.n else 0
    if blocked:
        said.append(
            f"Full queues ({format_count(full)} launches) blocked {format_count(blocked)} more for"
            f" {format_ns(int(streams['blocked_ns'].sum()))}."
        )
    return said


_COSTS = {
    "launch": "Launches",
    "copy": "Calls that copy",
    "allocation": "Allocations",
    "code_loading": "Calls that load code",
    "graph": "Calls that make graphs",
    None: "Other calls",
}


def _costs(calls: DisplayTable) -> list[str]:
    """What the calls that do not wait cost most, and for how long the others wait."""
    took: dict[str | None, int] = {}
    for kind, time in zip(calls.texts("kind"), calls["total_ns"].tolist(), strict=True):
        took[kind] = took.get(kind, 0) + time
    waited = took.pop(WAITING, 0)
    if not took:
        return [f"All calls wait: {format_ns(waited)}."]
    most = max(took, key=lambda kind: took[kind])
    said = (
        f"{_COSTS[most]} take {format_ns(took[most])} of {format_ns(sum(took.values()))} in calls"
    )
    if not waited:
        return [f"{_COSTS[most]} take {format_ns(took[most])}." if len(took) == 1 else f"{said}."]
    return [f"{said} that do not wait.", f"Calls that wait take {format_ns(waited)}."]


def _curves(facts: Facts, selection: Selection, queues: Queues) -> list[QueueCurve]:
    steps = facts["steps"]
    chosen = selection.steps
    window = None
    if not selection.whole and len(chosen):
        window = int(steps["start"][chosen[0]]), int(steps["end"][chosen[-1]])
    return [_curve(queue, window) for queue in queues.streams[:MOST_CURVES]]


def _curve(queue: Queue, window: tuple[int, int] | None) -> QueueCurve:
    time, length = queue.time, queue.length
    if window is not None:
        begin, end = window
        # What held when the window began holds at its begin.
        first = max(0, int(np.searchsorted(time, begin, side="right")) - 1)
        inside = slice(first, int(np.searchsorted(time, end)))
        time, length = np.maximum(time[inside], begin), length[inside]
    kept = thinned(time, length.astype(np.float64), SAMPLES) if len(time) else time
    return QueueCurve(
        stream=stream_name(queue), time_ns=time[kept].tolist(), length=length[kept].tolist()
    )
