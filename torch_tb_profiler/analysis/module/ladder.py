"""The line ladder: time on the critical path by call chain, from the outermost call down to where it splits.

A chain of calls of which each keeps 95 % of the time is one rung, named by the last of them that is of the program or of a
package, so that a line which only calls everything tells nothing twice::

    calls                         rungs
    train.py(9): main    100      loop.py(3): run         99   and 1 line above it
      loop.py(3): run     99        data.py(7): read      60
        data.py(7): read  60        model.py(40): forward 38
        model.py(40): forward 38

Where no Python frames were recorded the rungs are modules, annotations and operators: the paths that Module shows.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked, sum_by
from torch_tb_profiler.analysis.arrays.nesting import (
    climb,
    still_open,
    subtree_totals,
    with_ancestors,
)
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.critical_path.origins import host_side
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.figures.source_lines import (
    OTHERS,
    PACKAGE,
    frame_ranks,
    shown_frames,
)
from torch_tb_profiler.analysis.module.frame_table import FRAME_KINDS
from torch_tb_profiler.analysis.module.nodes import module_names
from torch_tb_profiler.analysis.reasons.places import Places
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause, PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role

KEPT = 0.95
"""Share of the time of its first call that each call of a rung has."""
LEAST = 0.02
"""Share of the whole that a rung has at least."""
MOST = 60
"""Rungs, those with the most time."""
_BACKWARD = regex(r"<built-in method run_backward |torch/autograd/graph\.py")
_MIXED = 0.5
"""Share of its time from which on a group names a rung."""

_GROUP = f"What takes more than half of it, one of: {', '.join(GROUPS)}."
LADDER = display_spec(
    """
line_ladder: Time on the critical path by call chain: one row per rung, callers before what they call.
    name     code      Rung         term=rung width=320       `file(line): function`; without Python frames a module, annotation or operator.
    parent   row       -            unit=row                  The rung that it is called from.
    kind     category  -            -                         `line`, `module`, `annotation` or `operator`.
    joined   count     -            unit=calls                Other calls of its chain.
    path_ns  time      On the path  term=path_time bar        With all that it calls.
    own_ns   time      Own          term=rung_own             Of it, what no rung beneath has.
    share    share     Share        term=path_share           Its part of the path.
    group    category  Mostly       term=rung_group optional  <group>
    event    row       -            -                         The longest stretch of it on the path.
""",
    group=_GROUP,
)


class _Calls(msgspec.Struct, frozen=True):
    """A tree of calls, parents first. of: of each stretch of the path its call, −1 none; parent, name, kind, tells: of each
    call; ``tells``: how much it says to the reader, 0 least.
    """

    of: Ints
    parent: Ints
    name: list[str]
    kind: list[str]
    tells: Array


class Rung(msgspec.Struct, frozen=True):
    """A chain of calls. call: the one that names it, a row of the tree; joined: how many others the chain has; parent: a rung, −1 none."""

    call: int
    joined: int
    parent: int


def line_ladder(trace: Trace, facts: Facts, insight: Insight, selection: Selection) -> DisplayTable:
    """The rungs of the selected steps. ``attributes``: ``path_ns``, the whole path of which they are shares, and ``placed_ns``, of it the time in
    a known call.
    """
    path = insight["critical_path"]
    counts = mask(selection, path["step"]) & (path["cause"] != PathCause.BEFORE_RECORDING)
    row = np.flatnonzero(counts)
    event, time = path["event"][row].astype(np.int64), (path["end"] - path["start"])[row]
    calls = _of_frames(trace, facts, event)
    if calls is None:
        calls = _of_paths(insight, event)
    n, group = len(calls.parent), groups_of_causes(facts.summary.has_device)[path["cause"][row]]
    placed = calls.of >= 0
    at = calls.of[placed]
    total = subtree_totals(calls.parent, sum_by(at, n, time[placed]))
    found = rungs(calls.parent, total, calls.tells, int(time.sum()))
    parts = [
        subtree_totals(
            calls.parent, sum_by(at, n, np.where(group[placed] == part, time[placed], 0))
        )
        for part in range(len(GROUPS))
    ]
    call = np.array([rung.call for rung in found], np.int64)
    parent = np.array([rung.parent for rung in found], np.int64)
    path_ns = total[call]
    beneath = sum_by(parent[parent >= 0], len(call), path_ns[parent >= 0])
    by_group = np.stack(parts)[:, call]
    named = np.where(
        by_group.max(axis=0, initial=0) > _MIXED * path_ns, by_group.argmax(axis=0), -1
    )
    keys = list(GROUPS)
    return LADDER.build(
        facts.strings,
        name=[calls.name[one] for one in call.tolist()],
        parent=parent,
        kind=[calls.kind[one] for one in call.tolist()],
        joined=np.array([rung.joined for rung in found], np.int64),
        path_ns=path_ns,
        own_ns=path_ns - beneath,
        share=path_ns / max(int(time.sum()), 1),
        group=[keys[one] if one >= 0 else None for one in named.tolist()],
        event=_longest(calls, event, time)[call],
    ).with_attributes(path_ns=int(time.sum()), placed_ns=int(time[placed].sum()))


def rungs(parent: Ints, total: Ints, tells: Array, whole: int) -> list[Rung]:
    """The rungs of a tree of calls, parents first; those of the same parent the longest first.

    parent, total: of each call its caller, −1 none, and the time of it and all beneath, ns. tells: of the calls of a chain the last of
    those with the most names it. whole: all time, ns, of which a rung has ``LEAST`` at least.
    """
    large = np.flatnonzero(total >= max(LEAST * whole, 1))
    large = large[np.argsort(-total[large], kind="stable")]
    callees: dict[int, list[int]] = {}
    for call, above in zip(large.tolist(), parent[large].tolist(), strict=True):
        callees.setdefault(above, []).append(call)
    found: list[Rung] = []
    waiting = [(call, -1) for call in reversed(callees.get(-1, ()))]
    while waiting:
        first, above = waiting.pop()
        chain = [first]
        while below := callees.get(chain[-1]):
            if total[below[0]] < KEPT * total[first]:
                break
            chain.append(below[0])
        place = max(range(len(chain)), key=lambda at: (tells[chain[at]], at))
        found.append(Rung(chain[place], len(chain) - 1, above))
        # What leaves the chain above the call that names it is not in that call.
        inner = [call for one in chain[place:] for call in callees.get(one, ())]
        inner = sorted(set(inner) - set(chain), key=lambda call: (total[call], -call))
        waiting += [(call, len(found) - 1) for call in inner]
    return _largest(found, total)


def _largest(found: list[Rung], total: Ints) -> list[Rung]:
    """At most ``MOST`` of them: a rung has at least the time of each beneath it, and comes first."""
    if len(found) <= MOST:
        return found
    order = np.argsort(-total[[rung.call for rung in found]], kind="stable")[:MOST]
    kept = np.sort(order).tolist()
    place = {old: new for new, old in enumerate(kept)}
    return [
        msgspec.structs.replace(found[one], parent=place.get(found[one].parent, -1)) for one in kept
    ]


def _longest(calls: _Calls, event: Ints, time: Ints) -> Ints:
    """Of each call the event of the longest stretch at it or beneath, −1 none."""
    order = np.argsort(time, kind="stable")
    placed = calls.of[order] >= 0
    longest = np.full(len(calls.parent), -1, np.int64)
    np.maximum.at(longest, calls.of[order][placed], np.flatnonzero(placed))
    longest = subtree_totals(calls.parent, longest, np.maximum)
    return picked(event[order], longest)


def _of_paths(insight: Insight, event: Ints) -> _Calls:
    paths = insight["paths"]
    return _Calls(
        picked(insight["span_paths"]["path"], event).astype(np.int64),
        paths["parent"].astype(np.int64),
        insight.strings.many(paths["name"]),
        [FRAME_KINDS[kind] for kind in paths["kind"].tolist()],
        paths["kind"] != PathKind.OPERATOR,
    )


def _of_frames(trace: Trace, facts: Facts, event: Ints) -> _Calls | None:
    """The frames around the stretches of the path; None where no frame of a file was recorded."""
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    python = spans["role"] == Role.PYTHON
    rank = frame_ranks(trace)
    if not rank.any():
        return None
    host = host_side(facts, event)
    frame = (rank > 0) & ~_dispatches(parent, rank, module_names(trace)[spans["name"]] & python)
    near = climb(parent, host, frame).astype(np.int64)
    near = np.where(near >= 0, near, _in_backward(trace, facts, host, frame))
    used = np.zeros(spans.n, np.bool_)
    used[near[near >= 0]] = True
    places = Places.made(
        parent, shown_frames(facts, spans["name"]), frame & with_ancestors(parent, used)
    )
    names = facts.strings.many(places.name)
    return _Calls(
        picked(places.of, near),
        places.parent,
        names,
        ["line"] * len(names),
        np.array(list(map(_tells, names, rank[places.span].tolist())), np.int64),
    )


def _dispatches(parent: Array, rank: Array, module: Mask) -> Mask:
    """PyTorch's own frames right in a module that only call its ``forward``; bool of shape (spans,)."""
    around = np.append(module, False)[parent] & (rank == OTHERS)
    calls = np.zeros(len(parent) + 1, np.bool_)
    calls[parent[(rank > 0) | module]] = True
    return np.asarray(around & calls[:-1])


def _tells(text: str, rank: int) -> int:
    """How much a frame says of a chain: of PyTorch's own those with a public name more than others."""
    frame = PythonFrame.of(text)
    return 2 if rank >= PACKAGE else int(frame is None or not frame.function.startswith(("_", "<")))


def _in_backward(trace: Trace, facts: Facts, host: Ints, frame: Mask) -> Ints:
    """Of calls on threads beside it the frame that runs the backward pass meanwhile, and waits for them; −1 none."""
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    python = spans["role"] == Role.PYTHON
    calls = np.flatnonzero(
        python & name_mask(trace.strings, spans["name"][python], _BACKWARD.search)[spans["name"]]
    )
    if not len(calls):
        return np.full(len(host), -1, np.int64)
    start, track = spans["start"], spans["track"]
    last = np.searchsorted(start[calls], start[host], side="right") - 1
    begun = np.where((host >= 0) & (last >= 0), calls[last], -1)
    open_ = still_open(begun, start[host], start + spans["dur"], parent)
    beside = np.where(track[open_] != track[host], open_, -1)
    return climb(parent, beside, frame).astype(np.int64)
