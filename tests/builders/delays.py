"""A copy of a recording in which everything stood still at some moments."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

Event = dict[str, Any]


def delayed(events: Sequence[Event], delays: Sequence[tuple[int, int]]) -> list[Event]:
    """The events with each delay ``(moment, length)``, ns, counted from the first event: what goes on at that moment lasts
    longer, what begins later begins later.
    """
    first = min(_ns(event["ts"]) for event in events if "ts" in event)
    found = []
    for event in events:
        if "ts" not in event:
            found.append(event)
            continue
        begin = _ns(event["ts"]) - first
        moved = {**event, "ts": _later(begin, delays) / 1000}
        if "dur" in event:
            end = begin + _ns(event["dur"])
            moved["dur"] = (_later(end, delays) - _later(begin, delays)) / 1000
        found.append(moved)
    return found


def _ns(us: Any) -> int:
    return int(Decimal(str(us)) * 1000)


def _later(time: int, delays: Sequence[tuple[int, int]]) -> int:
    return time + sum(length for moment, length in delays if moment < time)
