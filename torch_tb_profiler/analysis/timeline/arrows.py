"""What leads from one event to another, and which of it touches a window of time.

Arrows come from two places: the launches that the analysis found, and the flow events of the file
(``ph`` s, t, f). A flow's ends carry a thread and a time, no event, so each end is tied to the span
of its thread that begins then, else to the innermost one around that time::

    main   [aten::mul        ]                 s at the begin of aten::mul, t inside the kernel's launch, f at MulBackward
             <launch>    [MulBackward]         two arrows: aten::mul → launch → MulBackward
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.facts.span_lookup import span_at
from torch_tb_profiler.store import flow_categories, timeline_schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.flow_categories import GRAPH_CAPTURE
from torch_tb_profiler.store.model import Facts, Trace

LAUNCH, FORWARD_BACKWARD, REST = "launch", "fwdbwd", "other"
LABELS = {
    LAUNCH: "launch → device work",
    FORWARD_BACKWARD: "forward → backward",
    GRAPH_CAPTURE: "graph capture → replay",
    REST: "other flows",
}
MOST_CATEGORIES = 32
"""Flow categories with a kind of their own; the rarest beyond share the kind ``other``."""
BLOCK = 4096
_BEGIN, _STEP, _FINISH = (ord(letter) for letter in "stf")


def arrows_of(
    trace: Trace, facts: Facts, lane_of_event: Array
) -> tuple[list[dict[str, Any]], Table]:
    """``(kinds, arrows)``: the rows of ``about["arrow_kinds"]`` and the table ``arrows``, ordered
    by source_time.

    ``lane_of_event``: the lane of every event, shape (events,), −1 none; what has no lane has no
        arrows.

    A kind is ``{"kind", "label", "total", "untied"}``; ``untied`` counts its flow events that lead
    nowhere. A flow that repeats a known launch is left out. In a chain s → t → f each t and f is
    reached from the s or t before it; an f before its s (clocks of devices differ) from the
    earliest s after it. Linear in the number of spans and flows but for the sort of the flows.
    """
    spans, launch = trace["spans"], facts["span_links"]["launch"]
    work = np.flatnonzero(launch >= 0)
    parts = [
        _Part(LAUNCH, launch[work], work, spans["start"][launch[work]], spans["start"][work], 0)
    ]
    parts += _flow_parts(trace, launch)
    parts = [_on_lanes(part, lane_of_event) for part in parts]
    parts = [part for part in parts if len(part.source) or part.untied]
    kinds = [
        {
            "kind": part.kind,
            "label": LABELS.get(part.kind, part.kind),
            "total": len(part.source),
            "untied": part.untied,
        }
        for part in parts
    ]
    if not parts:
        return kinds, timeline_schema.ARROWS.empty()
    time = np.concatenate([part.source_time for part in parts])
    order = np.argsort(time, kind="stable")
    return kinds, timeline_schema.ARROWS.build(
        kind=np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.source) for part in parts])[
            order
        ],
        source=np.concatenate([part.source for part in parts])[order],
        target=np.concatenate([part.target for part in parts])[order],
        source_time=time[order],
        target_time=np.concatenate([part.target_time for part in parts])[order],
    )


class ArrowIndex:
    """Finds the arrows of a window; keep one per timeline. Blocks of arrows whose times lie all
    inside or all outside are not looked into.
    """

    def __init__(self, arrows: Table) -> None:
        self._arrows = arrows
        first = np.arange(0, arrows.n, BLOCK)
        low, high = self._ends(slice(None))
        self._first_low, self._last_low = (
            extreme.reduceat(low, first) if arrows.n else low
            for extreme in (np.minimum, np.maximum)
        )
        self._first_high, self._last_high = (
            extreme.reduceat(high, first) if arrows.n else high
            for extreme in (np.minimum, np.maximum)
        )

    def within(
        self,
        begin: int,
        end: int,
        kinds: Array | None = None,
        lanes: tuple[Array, Mask] | None = None,
    ) -> Ints:
        """Rows of arrows that touch [begin, end): leave before its end and arrive at or after its
        begin (the other way round where an arrow
        runs backwards in time).

        ``kinds``: rows of the arrow kinds, None for all. ``lanes``: the lane of every event and
            which lanes count, bool of shape (lanes,): one end
        of the arrow must lie on one; None for all.
        """
        touched = np.zeros(self._arrows.n, np.bool_)
        possible = (self._first_low < end) & (self._last_high >= begin)
        whole = possible & (self._last_low < end) & (self._first_high >= begin)
        for block in np.flatnonzero(whole).tolist():
            touched[block * BLOCK : (block + 1) * BLOCK] = True
        for block in np.flatnonzero(possible & ~whole).tolist():
            rows = slice(block * BLOCK, (block + 1) * BLOCK)
            low, high = self._ends(rows)
            touched[rows] = (low < end) & (high >= begin)
        found = np.flatnonzero(touched)
        if kinds is not None:
            found = found[np.isin(self._arrows["kind"][found], kinds)]
        if lanes is not None:
            lane, chosen = lanes
            found = found[
                chosen[lane[self._arrows["source"][found]]]
                | chosen[lane[self._arrows["target"][found]]]
            ]
        return found

    def _ends(self, rows: slice) -> tuple[Ints, Ints]:
        source, target = self._arrows["source_time"][rows], self._arrows["target_time"][rows]
        return np.minimum(source, target), np.maximum(source, target)


def spread(rows: Ints, most: int) -> Ints:
    """At most ``most`` of the rows, evenly from the first to the last; the same ones for the same
    rows.
    """
    if len(rows) <= most:
        return rows
    return rows[np.arange(most) * (len(rows) - 1) // max(most - 1, 1)]


@dataclass(frozen=True)
class _Part:
    """Arrows of one kind."""

    kind: str
    source: Array
    target: Array
    source_time: Ints
    target_time: Ints
    untied: int


def _on_lanes(part: _Part, lane: Array) -> _Part:
    kept = (lane[part.source] >= 0) & (lane[part.target] >= 0)
    if kept.all():
        return part
    lost = len(kept) - int(kept.sum())
    return _Part(
        part.kind,
        part.source[kept],
        part.target[kept],
        part.source_time[kept],
        part.target_time[kept],
        part.untied + lost,
    )


def _flow_parts(trace: Trace, launch: Array) -> list[_Part]:
    flows, spans = trace["flows"], trace["spans"]
    if not flows.n:
        return []
    kind_of, kinds = _kinds(trace)
    begin, end = _chains(flows)
    tied = span_at(trace, flows["track"], flows["time"])
    source, target = tied[begin], tied[end]
    whole = (source >= 0) & (target >= 0) & (source != target)
    caused = np.where(whole, launch[target], -1)
    # Old versions round to µs, so that the launch and the operator around it may begin together:
    # the place tells, not the row.
    known = (
        (caused >= 0)
        & (flows["track"][begin] == spans["track"][caused])
        & (flows["time"][begin] == spans["start"][caused])
    )
    known |= (caused >= 0) & (caused == source)
    used = np.zeros(flows.n, np.bool_)
    used[begin[whole]] = True
    used[end[whole]] = True
    parts = []
    for number, kind in enumerate(kinds):
        mine = whole & ~known & (kind_of[begin] == number)
        untied = int(((kind_of == number) & ~used).sum())
        parts.append(
            _Part(
                kind,
                source[mine],
                target[mine],
                flows["time"][begin[mine]],
                flows["time"][end[mine]],
                untied,
            )
        )
    return parts


def _kinds(trace: Trace) -> tuple[Ints, list[str]]:
    """The kind of every flow event, and the kinds. A kind is a category without what would break it
    as a parameter of a URL.
    """
    numbers, of, count = np.unique(
        trace["flows"]["category"], return_inverse=True, return_counts=True
    )
    kinds: list[str] = []
    kind_of = np.zeros(len(numbers), np.int64)
    for rank, place in enumerate(np.argsort(-count, kind="stable").tolist()):
        text = trace.strings[int(numbers[place])]
        kind = (
            FORWARD_BACKWARD
            if text.lower() in flow_categories.FORWARD_BACKWARD
            else _harmless(text)
        )
        if rank >= MOST_CATEGORIES:
            kind = REST
        if kind not in kinds:
            kinds.append(kind)
        kind_of[place] = kinds.index(kind)
    return kind_of[of], kinds


def _harmless(category: str) -> str:
    kind = "".join(
        letter if letter.isalnum() or letter in "_-.:" else "_" for letter in category[:60]
    )
    return f"flow_{kind}" if kind in ("", LAUNCH, FORWARD_BACKWARD, REST) else kind


def _chains(flows: Table) -> tuple[Ints, Ints]:
    """Pairs (from, to) of rows of flows: links of the chains of each (category, id)."""
    rank = np.zeros(256, np.uint8)
    rank[[_STEP, _FINISH]] = 1, 2
    order = np.lexsort((rank[flows["phase"]], flows["time"]))
    order = order[np.argsort(flows["id"][order], kind="stable")]
    category = flows["category"]
    # numpy sorts 16-bit integers stably in linear time.
    narrow = category.astype(np.int16) if int(category.max()) < 1 << 15 else category
    order = order[np.argsort(narrow[order], kind="stable")]
    phase, place = flows["phase"][order], np.arange(flows.n)
    opens = np.ones(flows.n, np.bool_)
    opens[1:] = (flows["id"][order[1:]] != flows["id"][order[:-1]]) | (
        category[order[1:]] != category[order[:-1]]
    )
    first = np.maximum.accumulate(np.where(opens, place, 0))
    before = np.full(flows.n, -1, np.int64)
    before[1:] = np.maximum.accumulate(np.where(phase != _FINISH, place, -1))[:-1]
    found = np.where((before >= first) & (phase != _BEGIN), before, -1)
    late = np.flatnonzero((found < 0) & (phase == _FINISH))
    if len(late):
        begins = np.flatnonzero(phase == _BEGIN)
        after = np.searchsorted(begins, late)
        late, after = late[after < len(begins)], begins[after[after < len(begins)]]
        same = first[after] == first[late]
        found[late[same]] = after[same]
    end = np.flatnonzero(found >= 0)
    return order[found[end]], order[end]
