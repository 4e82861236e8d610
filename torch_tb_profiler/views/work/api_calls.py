"""Route ``/api_calls``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Annotated, Any

from torch_tb_profiler.analysis.api_calls.calls import (
    API_CALLS,
    LONG_CALLS,
    WAITING,
    call_table,
    calls_of,
    long_calls,
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
from torch_tb_profiler.analysis.arrays.beside import beside
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
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
    copies: Annotated[dict[str, Any], table_of(COPIES)]
    link: str
    missing: list[Missing]


Keep = Callable[[Hashable, Callable[[], Any]], Any]
"""Keeps what it makes while the trace is open: ``Opened.memoise``."""


def api_calls_payload(
    trace: Trace,
    facts: Facts,
    selection: Selection,
    limit: int,
    short_ns: int,
    keep: Keep,
) -> ApiCallsPayload:
    """Tables of at most ``limit`` rows; kernels below ``short_ns`` are short."""
    with beside(trace["spans"].n) as start:
        made = start(calls_of, trace, facts, selection)
        launches = _launches(trace, facts, selection, keep)
        copied = start(copy_table, trace, facts, launches)
        calls = made()
        table = call_table(trace, facts, selection, calls, launches)
        kernels = launch_table(trace, launches, short_ns)
        delays, durations = delay_counts(launches)
        copies = copied()
    link = device_link(facts)
    return ApiCallsPayload(
        vocabulary=vocabulary(facts),
        sentences=_sentences(table, kernels, short_ns),
        rows=wire_columns(table.head(limit)),
        pooled=max(0, table.n - limit),
        longest=wire_columns(long_calls(trace, facts, calls, launches)),
        histogram=LaunchHistogram(
            edges_ns=EDGES_NS.tolist(), delays=delays.tolist(), durations=durations.tolist()
        ),
        launches=wire_columns(kernels.head(limit)),
        launches_pooled=max(0, kernels.n - limit),
        copies=wire_columns(copies),
        link=f"{link.name}, {format_rate(link.rate(2), 'B/s')}" if link else "",
        missing=missing(absent(facts), ("device", "device_times")),
    )


def _launches(trace: Trace, facts: Facts, selection: Selection, keep: Keep) -> Launches:
    made: Launches = keep("api launches", lambda: launches_of(trace, facts, selection))
    return within(made, facts, selection)


def _sentences(calls: DisplayTable, kernels: DisplayTable, short_ns: int) -> list[str]:
    said = _costs(calls) if calls.n else []
    if kernels.n:
        short, count = int(kernels["short"].sum()), int(kernels["calls"].sum())
        said.append(
            f"{format_count(short)} of {format_count(count)} kernels are shorter than {format_ns(short_ns)}."
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
