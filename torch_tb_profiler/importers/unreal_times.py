"""Times that are none: 0 where the writer had nothing to write, or times of another clock.

::

    0 (ts 0, dur 0)                         the recording                          another clock
    ├ ─ ─ ─ ─ ─ ─ ─ 5,000 s ─ ─ ─ ─ ─ ─ ─ ─ [████ █  ██ ███ █] ─ ─ ─ ─ years ─ ─ ─ ─ ┤

Events are divided where nothing is recorded for long; a span covers its whole length:

- for ``FAR_NS`` or longer: no recording pauses for a day;
- behind the events that begin at or before the writer's zero, if the next one is ``UNSET_NS`` or more away and the
  recording has no such pause elsewhere. Where the file says what its zero stands for (``baseTimeNanoseconds``), the
  longest other pause must be shorter. Elsewhere, where a recording may well begin at 0, it must be ten times shorter,
  and the events must end by then.

The part with most spans that last is the recording; that of the zeros alone is only taken if there is no other.

A lone event before or after it, of any kind, is none of it either if it is ``LONE_NS`` or more and ``LONE_FACTOR`` times as
long away as all others, or it itself, last: no program marks a moment, rests and is then recorded for so short a time. Where
the others rest for ``UNSET_NS`` too, rests are usual, and it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from torch_tb_profiler.importers.decimal_text import INVALID, nanoseconds
from torch_tb_profiler.importers.events import Event
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.defects import DefectCounts

FAR_NS = 24 * 3600 * 10**9
UNSET_NS = 10**9
UNBASED_FACTOR = 10
LONE_NS = 10 * 10**9
LONE_FACTOR = 1000
_LEAST_OTHERS = 3
"""Of two events, either might be the lone one."""
_SAMPLE = 4096
BASE_KEY = "baseTimeNanoseconds"
_POINTS = ("memory", "instants", "flows")
_INSTANT_PHASES = [ord(phase) for phase in "iIR"]


def drop_unreal(
    groups: dict[str, dict[str, Array]], header: Mapping[str, Any], counts: DefectCounts
) -> None:
    """Remove, in place, all gathered rows whose time is none; each is counted.

    ``groups``: columns by group, as ``Gatherer`` names them, one array each.
    """
    window = recording_window(list(_times(groups)), header, events=_events(groups))
    if window is None:
        return
    for name in groups.keys() & {*_POINTS, "marks", "spans"}:
        time = groups[name]["time" if name in _POINTS else "start"]
        real = (time >= window[0]) & (time <= window[1])
        instant = np.zeros(len(real), np.bool_)
        if name == "instants":
            instant = np.isin(groups[name]["phase"], _INSTANT_PHASES)
        if name != "marks":
            counts.add(d.FAR_EVENT, int((~real & instant).sum()))
            counts.add(d.UNREAL_TIME, int((~real & ~instant).sum()))
        _keep(groups[name], real)
        if name == "spans":
            _renumber(groups, real)


def real_marks(
    marks: list[tuple[int, Event]],
    groups: Mapping[str, Mapping[str, Iterable[Array]]],
    header: Mapping[str, Any],
    counts: DefectCounts,
) -> list[tuple[int, Event]]:
    """Begin and end events (ordinal, event) without those whose time is none; each is counted.

    ``groups``: what else was gathered, columns in pieces.
    """
    times = nanoseconds([event.ts for _, event in marks])
    valid = times[times != INVALID]
    others = {
        name: {
            key: np.concatenate(list(groups[name][key]))
            for key in groups[name].keys() & {"start", "dur", "time"}
        }
        for name in groups.keys() & {*_POINTS, "spans"}
    }
    window = recording_window([*_times(others), (valid, valid)], header)
    if window is None:
        return marks
    real = (times == INVALID) | (times >= window[0]) & (times <= window[1])
    counts.add(d.UNREAL_TIME, int((~real).sum()))
    return [mark for mark, kept in zip(marks, real.tolist(), strict=True) if kept]


def recording_window(
    times: Iterable[tuple[Ints, Ints]], header: Mapping[str, Any], events: int = 0
) -> tuple[int, int] | None:
    """The first and last time of the recording, ns on the writer's clock; None if all times belong to it.

    Args:
        times: starts and ends of events, int64 ns on the writer's clock, in any order.
        header: of the file.
        events: how many of these, the first, are events of their own, so that one may be a lone one; the others
            are ends of flows.
    """
    listed = [(start, end) for start, end in times if len(start)]
    if not listed or (_plainly_real(listed) and not (events and _may_hold_lone(listed))):
        return None
    start = np.concatenate([start for start, _ in listed])
    end = np.concatenate([end for _, end in listed])
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reach = np.maximum.accumulate(end)
    pause = start[1:] - reach[:-1]
    far = pause >= FAR_NS
    base = header.get(BASE_KEY)
    _part_unset(start, reach, pause, far, isinstance(base, int) and base > 0)
    part = np.concatenate(([0], np.cumsum(far)))
    count = np.bincount(part)
    lasting = np.bincount(part, weights=end > start)
    set_ = np.bincount(part, weights=start != 0) > 0
    best = int(np.lexsort((count, lasting, set_))[-1])
    inside = np.flatnonzero(part == best)
    row = int(inside[0]), int(inside[-1])
    if events:
        row = _without_lone(start, reach, np.cumsum(order < events), *row)
    return None if row == (0, len(start) - 1) else (int(start[row[0]]), int(reach[row[1]]))


def _plainly_real(times: list[tuple[Ints, Ints]]) -> bool:
    """Whether no time can be far from the others, nor one at 0 unset: then nothing needs to be sorted."""
    first = min(int(start.min()) for start, _ in times)
    last = max(int(end.max()) for _, end in times)
    if last - first >= FAR_NS:
        return False
    reach, following = first, last + 1
    for start, end in times:
        later = start > 0
        reach = max(reach, int(end[~later].max(initial=first)))
        following = min(following, int(start[later].min(initial=following)))
    return first > 0 or following > last or following - reach < UNSET_NS


def _may_hold_lone(times: list[tuple[Ints, Ints]]) -> bool:
    """Whether a sample lies as close together as it does beside a lone event; true of few events."""
    length = max(int(end.max()) for _, end in times) - min(int(start.min()) for start, _ in times)
    start = max((start for start, _ in times), key=len)
    sample = start[:: len(start) // _SAMPLE + 1]
    away = np.abs(sample - int(np.median(sample))) > length // LONE_FACTOR
    return length >= LONE_NS and int(away.sum()) <= _LEAST_OTHERS


def _without_lone(start: Ints, reach: Ints, events: Ints, first: int, last: int) -> tuple[int, int]:
    """The first and last row of a part without a lone event at either end; ``events``: how many there are up to each row."""
    rest = first + np.flatnonzero(start[first + 1 : last + 1] - reach[first:last] >= UNSET_NS)
    if not 1 <= len(rest) <= 2:
        return first, last
    before = int(events[first - 1]) if first else 0
    begin = int(rest[0]) + 1 if events[rest[0]] - before <= 1 else first
    end = int(rest[-1]) if events[last] - events[rest[-1]] <= 1 else last
    kept = int(events[end]) - (int(events[begin - 1]) if begin else 0)
    if kept < _LEAST_OTHERS or ((rest >= begin) & (rest < end)).any():
        return first, last
    lasting = [int(reach[end] - start[begin])]
    away = []
    if begin > first:
        lasting.append(int(reach[begin - 1] - start[first]))
        away.append(int(start[begin] - reach[begin - 1]))
    if end < last:
        lasting.append(int(reach[last] - start[end + 1]))
        away.append(int(start[end + 1] - reach[end]))
    far = min(away) >= max(LONE_NS, LONE_FACTOR * max(lasting))
    return (begin, end) if far else (first, last)


def _part_unset(start: Ints, reach: Ints, pause: Ints, far: Mask, based: bool) -> None:
    """Mark, in ``far``, the pause behind events at or before the writer's zero, if their times are unset."""
    at = int(np.searchsorted(start, 0, side="right")) - 1
    if not 0 <= at < len(pause) or pause[at] < UNSET_NS or (reach[at] > 0 and not based):
        return
    others = pause[at + 1 :]
    parted = np.flatnonzero(far[at + 1 :])
    others = others[: int(parted[0])] if len(parted) else others
    far[at] |= pause[at] > (1 if based else UNBASED_FACTOR) * int(others.max(initial=0))


def _times(groups: Mapping[str, Mapping[str, Array]]) -> Iterator[tuple[Ints, Ints]]:
    """Starts and ends of everything that has a time, those of flows last."""
    if "spans" in groups:
        start = groups["spans"]["start"]
        yield start, start + groups["spans"]["dur"]
    for name in _POINTS:
        if name in groups:
            yield groups[name]["time"], groups[name]["time"]


def _events(groups: Mapping[str, Mapping[str, Array]]) -> int:
    """How many of these are no ends of flows."""
    times = {"spans": "start", "memory": "time", "instants": "time"}
    return sum(len(groups[name][time]) for name, time in times.items() if name in groups)


def _keep(columns: dict[str, Array], rows: Mask) -> None:
    for name in columns:
        columns[name] = columns[name][rows]


def _renumber(groups: dict[str, dict[str, Array]], kept: Mask) -> None:
    """Let side tables refer to the spans that are left."""
    number = np.cumsum(kept) - 1
    for columns in groups.values():
        if "span" in columns:
            _keep(columns, kept[columns["span"]])
            columns["span"] = number[columns["span"]]
