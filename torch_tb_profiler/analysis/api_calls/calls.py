"""Runtime and driver calls by name, and the longest ones with why they took long."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.api_calls.launches import Launches
from torch_tb_profiler.analysis.arrays.grouping import (
    extreme_by,
    group_rows,
    largest_by,
    medians,
    picked,
    positions_of,
    sum_by,
)
from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.facts.earlier_work import left_out
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.analysis.facts.launches import WAITS
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

LONGEST = 100
"""Calls that are listed one by one."""
_FIRST_LAUNCH = 10
"""The first launch of a kernel loads it if it takes this many times the median of its call's name."""

WAITING = "synchronization"
REASONS = (
    (WAITING, WAITS),
    ("allocation", regex(r".*(?:Malloc|Free|HostAlloc|HostRegister|HostUnregister|Mem(?:Alloc|Create|Map|Release)|MemPool)")),
    ("code_loading", regex(r".*(?:ModuleLoad|LibraryLoad|ModuleGet|LibraryGet|GetFunction|LinkComplete|FuncGetAttributes|RegisterFatBinary)")),
    ("graph", regex(r".*Graph(?!Launch)|.*StreamBeginCapture|.*StreamEndCapture")),
)  # fmt: skip
"""Reasons that follow from a call's name alone, the first that fits."""
_KINDS = (
    *REASONS,
    ("launch", regex(r".*Launch")),
    ("copy", regex(r".*(?:[Mm]emcpy|[Mm]emset)")),
)
"""What a call is for, the first that fits its name."""
PAGEABLE, FIRST_LAUNCH = "pageable_copy", "first_launch"

API_CALLS = display_spec("""
api_calls: One row per name of a runtime or driver call, the largest total first. A call within another one of its name counts as a call and not for times.
    name          code       Call              term=api_name pool=other width=260  Name of the call.
    kind          category   For               term=api_kind optional width=130    What it is for, by its name: launch, copy, allocation, synchronization (it
        waits for the device), code_loading, graph; missing of others.
    calls         count      Calls             term=api_calls pool=sum unit=calls  How many.
    total_ns      time       Total             term=api_total pool=sum bar         Sum of their durations.
    thread_share  share      Of launch thread  term=api_share optional             Its time on the thread with the most launches, as a share of the time of the
        steps.
    mean_ns       mean time  Mean              term=api_mean pool=mean             Mean duration.
    median_ns     mean time  Median            term=api_median optional            Median duration.
    max_ns        time       Max               term=api_max pool=max               Longest duration.
    event         row        -                 -                                   Its longest call.
""")  # fmt: skip
LONG_CALLS = display_spec("""
long_calls: The longest runtime and driver calls, one by one.
    name      code      Call      term=api_name width=240                Name of the call.
    dur_ns    time      Duration  term=long_call bar                     How long it took.
    reason    category  Why       term=api_reason optional width=140     Why it took long: synchronization, pageable_copy, first_launch, allocation,
        code_loading, graph; missing where not known.
    operator  code      Operator  term=long_operator optional width=220  The operator around it.
    kernel    code      Launched  term=long_launched optional width=220  The first kernel, copy or memset that it launched.
    start_ns  time      Begin     term=long_begin                        Since the first event of the trace.
    event     row       -         -                                      The call.
""")  # fmt: skip


class Calls(msgspec.Struct, frozen=True):
    """Runtime and driver calls of the selected steps, in time order; arrays of shape (calls,).

    row: of spans. name: string. dur: ns. outer: not within a call of its name.
    """

    row: Ints
    name: Array
    dur: Ints
    track: Array
    outer: Mask


def calls_of(trace: Trace, facts: Facts, selection: Selection) -> Calls:
    """The runtime and driver calls of the selected steps."""
    spans, links = trace["spans"], facts["span_links"]
    row = np.flatnonzero(spans["role"] == Role.RUNTIME)
    row = row[mask(selection, links["step"][row])]
    name = spans["name"][row]
    parent = links["parent"][row]
    nested = np.flatnonzero((parent >= 0) & (spans["role"][parent] == Role.RUNTIME))
    outer = np.ones(len(row), np.bool_)
    outer[nested] = spans["name"][parent[nested]] != name[nested]
    return Calls(row, name, spans["dur"][row], spans["track"][row], outer)


def call_kind(name: str) -> str | None:
    """What a call of this name is for; None unknown."""
    return next((kind for kind, pattern in _KINDS if pattern.match(name)), None)


def call_table(
    trace: Trace, facts: Facts, selection: Selection, calls: Calls, launches: Launches
) -> DisplayTable:
    """One row per name of a call: how often and how long, the longest time first."""
    first, group = group_rows([calls.name])
    n = len(first)
    outer = np.flatnonzero(calls.outer)
    own, dur = group[outer], calls.dur[outer]
    total = sum_by(own, n, dur)
    count, whole = np.bincount(own, minlength=n), np.bincount(group, minlength=n)
    begin, earlier = trace["spans"]["start"][calls.row[outer]], left_out(facts)
    counted = dur - measure(earlier, begin, begin + dur)
    on_thread = sum_by(own, n, np.where(calls.track[outer] == launches.thread, counted, 0))
    time = selected_time(facts, selection) - int(facts["steps"]["earlier"][selection.steps].sum())
    share = on_thread / time if time and launches.thread >= 0 else np.full(n, np.nan)
    table = API_CALLS.build(
        trace.strings,
        name=calls.name[first],
        kind=[call_kind(name) for name in trace.strings.many(calls.name[first])],
        calls=whole,
        total_ns=total,
        thread_share=share,
        mean_ns=total / np.maximum(count, 1),
        median_ns=medians(own, n, dur),
        max_ns=np.maximum(extreme_by(np.maximum, own, n, dur), 0),
        event=picked(calls.row[outer], largest_by(own, n, dur)),
    )
    return table.take(np.argsort(-total, kind="stable"))


def selected_time(facts: Facts, selection: Selection) -> int:
    """Time of the selected steps, ns; of a recording that marks none, from its first event to its last."""
    if selection.whole:
        return facts.summary.span_ns
    steps = facts["steps"]
    return int((steps["end"] - steps["start"])[selection.steps].sum())


def long_calls(trace: Trace, facts: Facts, calls: Calls, launches: Launches) -> DisplayTable:
    """The longest calls, a row each."""
    outer = np.flatnonzero(calls.outer)
    dur = calls.dur[outer]
    if len(outer) > LONGEST:
        # Of equally long calls the first ones: which ones a partition puts in front depends on NumPy and the processor.
        long = dur >= np.partition(dur, -LONGEST)[-LONGEST]
        outer, dur = outer[long], dur[long]
    kept = outer[np.argsort(-dur, kind="stable")][:LONGEST]
    row = calls.row[kept]
    operator = facts["span_links"]["operator"][row]
    work = launches.first_work(row)
    name = trace["spans"]["name"]
    return LONG_CALLS.build(
        trace.strings,
        name=calls.name[kept],
        dur_ns=calls.dur[kept],
        reason=_reasons(trace, calls, kept, work, launches),
        operator=np.where(operator >= 0, name[operator], -1),
        kernel=np.where(work >= 0, name[work], -1),
        start_ns=trace["spans"]["start"][row],
        event=row,
    )


def _reasons(
    trace: Trace, calls: Calls, kept: Ints, work: Ints, launches: Launches
) -> list[str | None]:
    """Of each of some calls."""
    row = calls.row[kept]
    reasons: Array = np.full(len(row), None, object)
    first = np.flatnonzero(launches.loads(work))
    usual = _usual(calls, calls.name[kept[first]])
    reasons[first[calls.dur[kept[first]] > _FIRST_LAUNCH * usual]] = FIRST_LAUNCH
    for word, pattern in reversed(REASONS):
        reasons[named(trace, row, pattern.match)] = word
    copied = np.flatnonzero(work >= 0)
    pageable = copied[named(trace, work[copied], lambda text: "ageable" in text)]
    reasons[pageable] = PAGEABLE
    return list(reasons)


def _usual(calls: Calls, name: Array) -> Array:
    """Median duration of the calls of each of some names."""
    names, place = np.unique(name, return_inverse=True)
    group = positions_of(names, calls.name)
    of_these = np.flatnonzero(group >= 0)
    return medians(group[of_these], len(names), calls.dur[of_these])[place]
