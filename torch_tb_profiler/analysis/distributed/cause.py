"""Why a rank came late to a collective: what took more time on it than on the rank that waited
longest.

::

    late    ]──[ forward ]──[ data loading                        ]──[ backward ]──[ all_reduce ]
    other   ]──[ forward ]──[ data loading ]──[ backward ]──[ waits               | all_reduce ]
            └── the collective before ends here on both: from there on both are looked at

A device that is late although its launch came in time ran more or slower kernels; else the host is
to blame, first the thread that launched the collective. What waits for others (synchronisation, the
main thread during the backward pass) is named last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, positions_of, sum_by
from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.analysis.timeline.call_path import ancestors
from torch_tb_profiler.analysis.timeline.event_stack import event_stack
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

LEAST_SHARE = 0.25
"""Share of the lateness that a single thing must have taken more to be named before what comes
after it in the order of blame.
"""
_WAITING = ("synchron", "run_backward", "wait")
"""What names hold of calls that wait for somebody else, in lower case."""
_STEP = "ProfilerStep#"


@dataclass(frozen=True)
class Arrival:
    """A rank before it reached a collective. Times in ns of its own trace.

    event: row of the collective. launch: row of the host call that started it, -1 unknown. begin:
        end of the collective before it.
    """

    trace: Trace
    facts: Facts
    insight: Insight
    event: int
    launch: int
    begin: int

    @property
    def arrival(self) -> int:
        """When the collective began."""
        return int(self.trace["spans"]["start"][self.event])

    @property
    def called(self) -> int:
        """When the host started it; where that is not known, when it began."""
        return int(self.trace["spans"]["start"][self.launch]) if self.launch >= 0 else self.arrival


@dataclass(frozen=True)
class Cause:
    """event: the longest call of what took more time on the late rank, name: what that is called.
    extra: how much more it took than on the other rank, ns.

    on_device: where it ran. side_extra: how much more all that ran there took. operator: the
        operator or annotation that it is or lies in.
    module, line: where in the model and in the program; None not known.
    """

    event: int
    name: str
    extra: int
    on_device: bool
    side_extra: int
    operator: str | None
    module: str | None
    line: str | None


@dataclass(frozen=True)
class _Taken:
    """Time per name and the longest event of each name."""

    time: dict[str, int]
    event: dict[str, int]


@dataclass(frozen=True)
class _More:
    """What took more time on one side: ``extra`` ns, and all that ran there ``all_extra``."""

    event: int
    name: str
    extra: int
    on_device: bool
    all_extra: int


def find_cause(late: Arrival, other: Arrival, waited: int) -> Cause | None:
    """Why the first side reached a collective later than the second, which waited for it so many
    ns; None when nothing recorded took more time.

    Also None when less than half of the wait came about since the begin of the sides: of what was
    before nothing can be told.
    """
    lateness = (late.arrival - late.begin) - (other.arrival - other.begin)
    if lateness <= 0 or 2 * lateness < waited:
        return None
    by_host = 2 * ((late.called - late.begin) - (other.called - other.begin)) >= lateness
    sides = [(_host_time(side), _device_time(side)) for side in (late, other)]
    (mine, device), (theirs, device_of_other) = sides
    host = [_extra(mine[key], theirs[key], False) for key in ("launching", "others", "waiting")]
    work = _extra(device, device_of_other, True)
    order = (*host[:2], work, host[2]) if by_host else (work, *host)
    enough = [
        found
        for found in order
        if found and max(found.extra, found.all_extra) >= LEAST_SHARE * lateness
    ]
    best = (
        enough[0]
        if enough
        else max((found for found in order if found), key=lambda found: found.extra, default=None)
    )
    return _described(late, best) if best else None


def _extra(mine: _Taken, theirs: _Taken, on_device: bool) -> _More | None:
    """What took most more time; None when nothing did."""
    more = {name: time - theirs.time.get(name, 0) for name, time in mine.time.items()}
    name = max(more, key=lambda one: more[one], default=None)
    if name is None or more[name] <= 0:
        return None
    return _More(
        mine.event[name],
        name,
        more[name],
        on_device,
        sum(mine.time.values()) - sum(theirs.time.values()),
    )


def _device_time(side: Arrival) -> _Taken:
    """Kernels, copies and memsets between the two collectives; communication left out."""
    spans = side.trace["spans"]
    low, high = np.searchsorted(spans["start"], [side.begin, side.arrival]).tolist()
    row = low + np.flatnonzero(
        (spans["role"][low:high] >= Role.KERNEL) & (spans["role"][low:high] <= Role.MEMSET)
    )
    row = row[~np.isin(row, side.insight["collectives"]["event"])]
    end = np.minimum(spans["start"][row] + spans["dur"][row], side.arrival)
    return _by_name(side.trace, row, end - spans["start"][row])


def _host_time(side: Arrival) -> dict[str, _Taken]:
    """Time on the host between the two collectives, without what was called from there: on the
    launching thread, on others, and of calls that wait.
    """
    spans = side.trace["spans"]
    begin, end = side.begin, side.called
    low, high = np.searchsorted(spans["start"], [begin, end]).tolist()
    reach = np.flatnonzero(spans["start"][:low] + spans["dur"][:low] > begin)
    row = np.concatenate((reach, np.arange(low, high)))
    role = spans["role"][row]
    row = row[
        (role == Role.OPERATOR)
        | (role == Role.ANNOTATION)
        | (role == Role.RUNTIME)
        | (role == Role.PYTHON)
    ]
    time = np.minimum(spans["start"][row] + spans["dur"][row], end) - np.maximum(
        spans["start"][row], begin
    )
    own = time - _beneath(side.facts["span_links"]["parent"][row], row, time)
    launching = (
        spans["track"][row] == spans["track"][side.launch]
        if side.launch >= 0
        else np.zeros(len(row), np.bool_)
    )
    waiting = _named(side.trace, row, _WAITING)
    step = _named(side.trace, row, (_STEP.lower(),))
    chosen = {
        "launching": launching & ~waiting,
        "others": ~launching & ~waiting,
        "waiting": waiting,
    }
    return {
        key: _by_name(side.trace, row[mask & ~step], own[mask & ~step])
        for key, mask in chosen.items()
    }


def _beneath(parent: Ints, row: Ints, time: Ints) -> Ints:
    """Time of the children of each of some rows, ascending, that are among them."""
    place = positions_of(row, parent)
    inside = place >= 0
    return sum_by(place[inside], len(row), time[inside])


def _named(trace: Trace, row: Ints, words: tuple[str, ...]) -> Mask:
    """Which spans have a name that holds one of some words."""
    numbers, of = np.unique(trace["spans"]["name"][row], return_inverse=True)
    return np.array(
        [any(word in trace.strings[int(number)].lower() for word in words) for number in numbers]
        + [False],
        np.bool_,
    )[of]


def _by_name(trace: Trace, row: Ints, time: Ints) -> _Taken:
    name = trace["spans"]["name"][row]
    first, of = group_rows((name,))
    total = sum_by(of, len(first), time)
    order = np.lexsort((time, of))
    longest = row[order[np.searchsorted(of[order], np.arange(len(first)), side="right") - 1]]
    texts = [trace.strings[int(name[place])] for place in first.tolist()]
    return _Taken(
        dict(zip(texts, total.tolist(), strict=True)),
        dict(zip(texts, longest.tolist(), strict=True)),
    )


def _described(side: Arrival, found: _More) -> Cause:
    event = found.event
    spans, links = side.trace["spans"], side.facts["span_links"]
    role = spans["role"]
    if Role.KERNEL <= role[event] <= Role.MEMSET:
        inner = int(links["operator"][event])
        path = ancestors(side.facts, inner if inner >= 0 else int(links["launch"][event]))
    else:
        path = ancestors(side.facts, event)
    names = [
        side.trace.strings[int(spans["name"][row])]
        for row in path
        if role[row] in (Role.OPERATOR, Role.ANNOTATION)
    ]
    operator = next((name for name in names if not name.startswith(_STEP)), None)
    line = line_of_frames("\n".join(event_stack(side.trace, side.facts, event))) or None
    return Cause(
        event,
        found.name,
        found.extra,
        found.on_device,
        found.all_extra,
        operator,
        module_of(side.insight, event),
        line,
    )


def module_of(insight: Insight, event: int) -> str | None:
    """The innermost module that an event ran for, of the backward pass too; None without any."""
    paths: Mapping[str, Ints] = insight["paths"]
    of_span = insight["span_paths"]["path"]
    path = int(of_span[event]) if event < len(of_span) else -1
    while path >= 0:
        if paths["kind"][path] == PathKind.MODULE:
            return insight.strings[int(paths["name"][path])]
        path = int(paths["parent"][path])
    return None
