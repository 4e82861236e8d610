"""Arrows between events, and those that touch a time window.

They come from the launches in the facts and from the file's flow events (``ph`` s, t, f). A flow
end has a thread and a time but no event: it belongs to the span that starts there, else to the
innermost one around::

    main   [aten::mul        ]              s at the start of aten::mul, t inside the launch,
             <launch>    [MulBackward]      f at MulBackward: aten::mul → launch → MulBackward
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, scatter, stable_order
from torch_tb_profiler.analysis.facts.span_lookup import span_at
from torch_tb_profiler.store import categories, timeline_schema
from torch_tb_profiler.store.categories import GRAPH_CAPTURE
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Facts, Trace

LAUNCH, FORWARD_BACKWARD, REST = "launch", "fwdbwd", "other"
LABELS = {
    LAUNCH: "launch → device work",
    FORWARD_BACKWARD: "forward → backward",
    GRAPH_CAPTURE: "graph capture → replay",
    REST: "other flows",
}
MOST_CATEGORIES = 32
"""Flow categories with their own kind; rarer ones share the kind ``other``."""
_COLUMNS = ("source", "target", "source_time", "target_time")
_BEGIN, _STEP, _FINISH = (ord(letter) for letter in "stf")


def arrows_of(
    trace: Trace, facts: Facts, lane_of_event: Array
) -> tuple[list[dict[str, Any]], Table]:
    """``(kinds, arrows)``: the rows of ``about["arrow_kinds"]``, and the table ``arrows`` by
    source_time.

    ``lane_of_event``: shape (events,), −1 none; events without a lane have no arrows.

    A kind is ``{"kind", "label", "total", "untied"}``; ``untied``: flow events without a
    counterpart. Flows that repeat a known launch are left out. In a chain s → t → f each end starts
    at the previous s or t; an f before its s (device clocks differ) at the earliest s after it.
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
    arrows = timeline_schema.ARROWS.build(
        kind=np.repeat(np.arange(len(parts)), [len(part.source) for part in parts]),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS},
    )
    return kinds, arrows.take(np.argsort(arrows["source_time"], kind="stable"))


def arrows_within(
    arrows: Table,
    begin: int,
    end: int,
    kinds: Array | None = None,
    lanes: tuple[Array, Mask] | None = None,
) -> Ints:
    """Rows of arrows that overlap [begin, end) in time, forwards or backwards.

    kinds: rows of the arrow kinds, None for all.
    lanes: lane of every event, and which lanes count, bool of shape (lanes,): one end must lie on one; None for all.
    """
    source, target = arrows["source_time"], arrows["target_time"]
    before, after = (source < end) | (target < end), (source >= begin) | (target >= begin)
    found = np.flatnonzero(before & after)
    if kinds is not None:
        found = found[np.isin(arrows["kind"][found], kinds)]
    if lanes is not None:
        lane, chosen = lanes
        ends = (chosen[lane[arrows[key][found]]] for key in ("source", "target"))
        found = found[np.logical_or(*ends)]
    return found


def spread(rows: Ints, most: int) -> Ints:
    """At most ``most`` rows, evenly from first to last, deterministically."""
    if len(rows) <= most:
        return rows
    return rows[np.arange(most) * (len(rows) - 1) // max(most - 1, 1)]


class _Part(msgspec.Struct, frozen=True):
    """Arrows of one kind."""

    kind: str
    source: Array
    target: Array
    source_time: Ints
    target_time: Ints
    untied: int


def _on_lanes(part: _Part, lane: Array) -> _Part:
    """The arrows of which both ends are on a lane."""
    on_lanes = (lane[part.source] >= 0) & (lane[part.target] >= 0)
    chosen = {key: getattr(part, key)[on_lanes] for key in _COLUMNS}
    return _Part(part.kind, **chosen, untied=part.untied + int((~on_lanes).sum()))


def _flow_parts(trace: Trace, launch: Array) -> list[_Part]:
    flows, spans = trace["flows"], trace["spans"]
    if not flows.n:
        return []
    kind_of, kinds = _kinds(trace)
    begin, end = _chains(flows)
    tied = span_at(trace, flows["track"], flows["time"])
    source, target = tied[begin], tied[end]
    whole = (source >= 0) & (target >= 0) & (source != target)
    caused = scatter(len(target), whole, launch[target[whole]])
    # Old versions round to µs, so launch and operator may start together: compare time, not row.
    rows = np.flatnonzero(caused >= 0)
    from_launch = (flows["track"][begin[rows]] == spans["track"][caused[rows]]) & (
        flows["time"][begin[rows]] == spans["start"][caused[rows]]
    )
    known = np.zeros(len(target), np.bool_)
    known[rows] = from_launch | (caused[rows] == source[rows])
    used = mask_of(flows.n, begin[whole])
    used[end[whole]] = True
    parts = []
    for number, kind in enumerate(kinds):
        own = whole & ~known & (kind_of[begin] == number)
        leaves, arrives = (flows["time"][edge[own]] for edge in (begin, end))
        untied = int(((kind_of == number) & ~used).sum())
        parts.append(_Part(kind, source[own], target[own], leaves, arrives, untied))
    return parts


def _kinds(trace: Trace) -> tuple[Ints, list[str]]:
    """The kind of every flow event, and the kinds: categories that are safe as URL parameters."""
    numbers, group, count = np.unique(
        trace["flows"]["category"], return_inverse=True, return_counts=True
    )
    kinds: list[str] = []
    kind_of = np.zeros(len(numbers), np.int64)
    for rank, index in enumerate(np.argsort(-count, kind="stable").tolist()):
        text = trace.strings[int(numbers[index])]
        if rank >= MOST_CATEGORIES:
            kind = REST
        elif text.lower() in categories.FORWARD_BACKWARD:
            kind = FORWARD_BACKWARD
        else:
            kind = _harmless(text)
        if kind not in kinds:
            kinds.append(kind)
        kind_of[index] = kinds.index(kind)
    return kind_of[group], kinds


def _harmless(category: str) -> str:
    kind = "".join(
        letter if letter.isalnum() or letter in "_-.:" else "_" for letter in category[:60]
    )
    return f"flow_{kind}" if kind in ("", LAUNCH, FORWARD_BACKWARD, REST) else kind


def _chains(flows: Table) -> tuple[Ints, Ints]:
    """``(source, target)``: rows of flows, the links of the chains of each (category, id)."""
    rank = np.zeros(256, np.uint8)
    rank[[_STEP, _FINISH]] = 1, 2
    order = np.lexsort((rank[flows["phase"]], flows["time"]))
    order = order[np.argsort(flows["id"][order], kind="stable")]
    category = flows["category"]
    order = order[stable_order(category[order])]
    phase, position = flows["phase"][order], np.arange(flows.n)
    opens = np.ones(flows.n, np.bool_)
    opens[1:] = (flows["id"][order[1:]] != flows["id"][order[:-1]]) | (
        category[order[1:]] != category[order[:-1]]
    )
    first = np.maximum.accumulate(np.where(opens, position, 0))
    before = np.full(flows.n, -1, np.int64)
    before[1:] = np.maximum.accumulate(np.where(phase != _FINISH, position, -1))[:-1]
    previous = np.where((before >= first) & (phase != _BEGIN), before, -1)
    late = np.flatnonzero((previous < 0) & (phase == _FINISH))
    if len(late):
        begins = np.flatnonzero(phase == _BEGIN)
        after = np.searchsorted(begins, late)
        late, after = late[after < len(begins)], begins[after[after < len(begins)]]
        same = first[after] == first[late]
        previous[late[same]] = after[same]
    end = np.flatnonzero(previous >= 0)
    return order[previous[end]], order[end]
