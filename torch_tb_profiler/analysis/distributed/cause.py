"""Why a rank came late to a collective: what took longer on it than on the rank that waited most.

::

    late    ]──[ forward ]──[ data loading                        ]──[ backward ]──[ all_reduce ]
    other   ]──[ forward ]──[ data loading ]──[ backward ]──[ waits               | all_reduce ]
            └── the preceding collective ends here on both: the comparison starts here

If the launch came in time but the device was late, it ran more or slower kernels. Otherwise the
host is to blame, first the thread that launched the collective. Calls that wait for others
(synchronisation, the main thread during the backward pass) are blamed last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, positions_of, sum_by
from torch_tb_profiler.analysis.distributed.late_ranks import StepStraggler
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.names import name_mask
from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.analysis.timeline.call_path import ancestors
from torch_tb_profiler.analysis.timeline.event_stack import event_stack
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

LEAST_SHARE = 0.25
"""Share of the lateness that a cause must explain to be preferred over those blamed after it."""
_WAITING = ("synchron", "run_backward", "wait")
"""Parts of the names, in lower case, of calls that wait for others."""
_STEP = "ProfilerStep#"


@dataclass(frozen=True)
class Arrival:
    """A rank on its way to a collective. Times in ns of its own trace.

    event: row of the collective.
    launch: row of the host call that started it, −1 unknown.
    begin: end of the preceding collective.
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
        """When the host started it; if unknown, when it began."""
        return int(self.trace["spans"]["start"][self.launch]) if self.launch >= 0 else self.arrival


@dataclass(frozen=True)
class Cause:
    """What took longer on the late rank.

    event: its longest call there.
    extra: how much longer all calls of that name took than on the other rank, ns.
    on_device: where it ran.
    side_extra: how much longer all work there took, ns.
    operator: the operator or annotation that it is or lies in.
    module, line: the position in model and program; None unknown.
    """

    event: int
    name: str
    extra: int
    on_device: bool
    side_extra: int
    operator: str | None = None
    module: str | None = None
    line: str | None = None


@dataclass(frozen=True)
class LateRank:
    """Who was late in a step, and why. ``member``: its place among the workers of the run.
    ``cause``: None where it is unknown or was not looked for.
    """

    member: int
    late: StepStraggler
    cause: Cause | None


@dataclass(frozen=True)
class _TimeByName:
    """Time and longest event per name."""

    time: dict[str, int]
    event: dict[str, int]


def find_cause(late: Arrival, other: Arrival, waited: int) -> Cause | None:
    """Why ``late`` reached a collective ``waited`` ns after ``other``; None if nothing recorded
    took longer.

    Also None if less than half of the wait arose since the preceding collective.
    """
    lateness = (late.arrival - late.begin) - (other.arrival - other.begin)
    if lateness <= 0 or 2 * lateness < waited:
        return None
    by_host = 2 * ((late.called - late.begin) - (other.called - other.begin)) >= lateness
    late_host, other_host = _host_time(late), _host_time(other)
    host = [
        _excess(late_host[key], other_host[key], False)
        for key in ("launching", "others", "waiting")
    ]
    work = _excess(_device_time(late), _device_time(other), True)
    order = (*host[:2], work, host[2]) if by_host else (work, *host)
    candidates = [excess for excess in order if excess]
    for excess in candidates:
        if max(excess.extra, excess.side_extra) >= LEAST_SHARE * lateness:
            return _described(late, excess)
    best = max(candidates, key=lambda excess: excess.extra, default=None)
    return _described(late, best) if best else None


def _excess(late: _TimeByName, other: _TimeByName, on_device: bool) -> Cause | None:
    """The name with the largest excess, without where it is; None if there is none."""
    excess = {name: time - other.time.get(name, 0) for name, time in late.time.items()}
    name = max(excess, key=excess.__getitem__, default=None)
    if name is None or excess[name] <= 0:
        return None
    side_extra = sum(late.time.values()) - sum(other.time.values())
    return Cause(late.event[name], name, excess[name], on_device, side_extra)


def _device_time(side: Arrival) -> _TimeByName:
    """Kernels, copies and memsets between the two collectives, without communication."""
    spans = side.trace["spans"]
    low, high = np.searchsorted(spans["start"], [side.begin, side.arrival]).tolist()
    row = low + np.flatnonzero(
        (spans["role"][low:high] >= Role.KERNEL) & (spans["role"][low:high] <= Role.MEMSET)
    )
    row = row[~np.isin(row, side.insight["collectives"]["event"])]
    end = np.minimum(spans["start"][row] + spans["dur"][row], side.arrival)
    return _by_name(side.trace, row, end - spans["start"][row])


def _host_time(side: Arrival) -> dict[str, _TimeByName]:
    """Host self time between the collectives: of launching thread, others, waiting calls."""
    spans = side.trace["spans"]
    begin, end = side.begin, side.called
    low, high = np.searchsorted(spans["start"], [begin, end]).tolist()
    reach = np.flatnonzero(spans["start"][:low] + spans["dur"][:low] > begin)
    row = np.concatenate((reach, np.arange(low, high)))
    role = spans["role"][row]
    row = row[is_call(role) | (role == Role.PYTHON)]
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
    """Time of the children of each row (ascending) that are among the rows."""
    position = positions_of(row, parent)
    inside = position >= 0
    return sum_by(position[inside], len(row), time[inside])


def _named(trace: Trace, row: Ints, words: tuple[str, ...]) -> Mask:
    """Which spans have a name with one of some words in it."""
    name = trace["spans"]["name"][row]
    return name_mask(trace.strings, name, lambda text: any(w in text.lower() for w in words))[name]


def _by_name(trace: Trace, row: Ints, time: Ints) -> _TimeByName:
    name = trace["spans"]["name"][row]
    first, group = group_rows((name,))
    total = sum_by(group, len(first), time)
    longest = row[largest_by(group, len(first), time)]
    texts = trace.strings.many(name[first].tolist())
    return _TimeByName(
        dict(zip(texts, total.tolist(), strict=True)),
        dict(zip(texts, longest.tolist(), strict=True)),
    )


def _described(side: Arrival, cause: Cause) -> Cause:
    """The cause with its operator, module and line."""
    event = cause.event
    spans, links = side.trace["spans"], side.facts["span_links"]
    role = spans["role"]
    if role[event] in DEVICE_ROLES:
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
    return replace(cause, operator=operator, module=module_of(side.insight, event), line=line)


def module_of(insight: Insight, event: int) -> str | None:
    """The innermost module that an event ran for, in either pass; None without any."""
    paths: Mapping[str, Ints] = insight["paths"]
    of_span = insight["span_paths"]["path"]
    path = int(of_span[event]) if event < len(of_span) else -1
    while path >= 0:
        if paths["kind"][path] == PathKind.MODULE:
            return insight.strings[int(paths["name"][path])]
        path = int(paths["parent"][path])
    return None
