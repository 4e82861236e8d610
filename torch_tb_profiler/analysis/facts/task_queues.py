"""Device work whose launch another thread than the operator's made: torch_npu's queue of tasks.

::

    main thread     [aten::mm [aclnnMm  [Enqueue] ]]
                                  ┊         └────┐ same correlation
    worker thread                 ┊          [Dequeue@aclnnMm   [Node@launch] ]
                                  └─ async_npu ──────┐              └── HostToDevice ─┐
    NPU                                              └▶|■■ MatMulV2 ■■|◀──────────────┘

The arrow from the operator decides. Without one the operator is the innermost around the Enqueue
whose Dequeue the launch lies in, else around the launch on the thread of its number.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import matching_points, positions_of, same_keys
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.span_lookup import innermost, span_at
from torch_tb_profiler.store.categories import (
    AROUND_LAUNCH,
    DEQUEUED,
    ENQUEUED,
    OPERATOR_TO_WORK,
)
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role


def launches_around(trace: Trace, row: Ints) -> Ints:
    """The runtime call in which the arrow to each device row begins; rows of spans, −1 none."""
    launch = np.full(len(row), -1, np.int64)
    tied, track, time = _begins(trace, row, AROUND_LAUNCH)
    if len(tied):
        call = span_at(trace, track, time)
        is_call = (call >= 0) & (trace["spans"]["role"][call] == Role.RUNTIME)
        launch[tied] = np.where(is_call, call, -1)
    return launch


def operators_by_arrow(trace: Trace, tree: CallTree, row: Ints) -> Ints:
    """The operator at whose start the arrow to each device row begins; positions in the call tree,
    −1 none.
    """
    spans, operator = trace["spans"], np.full(len(row), -1, np.int64)
    tied, *begin = _begins(trace, row, OPERATOR_TO_WORK)
    if len(tied):
        # Of operators that begin together the last one is the innermost.
        call = matching_points((spans["track"][tree.row], spans["start"][tree.row]), begin)
        operator[tied] = np.where(call >= 0, tree.operator[call], -1)
    return operator


def operators_of_queue(trace: Trace, tree: CallTree, launch: Ints) -> Ints:
    """The operator that had each launch (rows of spans) made; positions in the call tree, −1 none."""
    spans = trace["spans"]
    found = np.full(len(launch), -1, np.int64)
    enqueued, dequeued = (_of_category(trace, text) for text in (ENQUEUED, DEQUEUED))
    thread = _threads(trace)
    of_launch, time = thread[spans["track"][launch]], spans["start"][launch]
    if len(enqueued) and len(dequeued):
        inside = _around(trace, dequeued, thread, of_launch, time)
        alone = np.flatnonzero(inside < 0)
        # The call may be noted for a thread of its own.
        nowhere = np.zeros_like(thread)
        inside[alone] = _around(
            trace, dequeued, nowhere, nowhere[spans["track"][launch[alone]]], time[alone]
        )
        known = np.flatnonzero(inside >= 0)
        order = np.argsort(spans["correlation"][enqueued], kind="stable")
        ids = spans["correlation"][enqueued][order]
        wanted = spans["correlation"][inside[known]]
        place = np.where(wanted >= 0, positions_of(ids, wanted), -1)
        known, source = known[place >= 0], enqueued[order[place[place >= 0]]]
        found[known] = _operators_around(
            trace, tree, thread, thread[spans["track"][source]], spans["start"][source]
        )
    rest = np.flatnonzero(found < 0)
    found[rest] = _operators_around(trace, tree, thread, of_launch[rest], time[rest])
    return found


def _begins(trace: Trace, row: Ints, category: str) -> tuple[Ints, Array, Ints]:
    """``(place, track, time)`` of the begins of the arrows of a category that end at the start of device rows, by their places.

    Ends with one id are paired with its begins as they follow each other in the file.
    """
    spans, flows = trace["spans"], trace["flows"]
    number = trace.strings.number(category)
    of_category = flows["category"] == number
    begins = np.flatnonzero(of_category & (flows["phase"] == ord("s")))
    ends = np.flatnonzero(of_category & (flows["phase"] != ord("s")))
    if number < 0 or not len(begins) or not len(ends):
        return np.zeros(0, np.int64), flows["track"][:0], flows["time"][:0]
    at_end = matching_points(
        (flows["track"][ends], flows["time"][ends]), (spans["track"][row], spans["start"][row])
    )
    begins, ends_in_order = (
        r[np.argsort(flows["ordinal"][r], kind="stable")] for r in (begins, ends)
    )
    begun, ended = same_keys([flows["id"][begins]], [flows["id"][ends_in_order]])
    partner = np.full(flows.n, -1, np.int64)
    partner[ends_in_order] = _paired(begins, begun, ended)
    source = np.where(at_end >= 0, partner[ends[at_end]], -1)
    tied = np.flatnonzero(source >= 0)
    return tied, flows["track"][source[tied]], flows["time"][source[tied]]


def _paired(begins: Ints, begun: Ints, ended: Ints) -> Ints:
    """For each end the begin of its id: the k-th for the k-th, the last one beyond; −1 none."""
    order = np.argsort(begun, kind="stable")
    ids, first, count = np.unique(begun[order], return_index=True, return_counts=True)
    place = positions_of(ids, ended)
    which = np.zeros(len(ended), np.int64)
    by_id = np.argsort(ended, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(ended[by_id]) != 0])
    lengths = np.diff(np.r_[starts, len(ended)])
    which[by_id] = np.arange(len(ended)) - np.repeat(starts, lengths)
    chosen = order[np.minimum(first[place] + np.minimum(which, count[place] - 1), len(begun) - 1)]
    return np.where(place >= 0, begins[chosen], -1)


def _of_category(trace: Trace, text: str) -> Ints:
    spans, number = trace["spans"], trace.strings.number(text)
    found = np.flatnonzero(spans["category"] == number) if number >= 0 else np.zeros(0, np.int64)
    return found[spans["correlation"][found] >= 0]


def _threads(trace: Trace) -> Array:
    """A number for the thread id of each track: processes of such files are no processes."""
    return np.unique(trace["tracks"]["tid"], return_inverse=True)[1].astype(np.int64)


def _around(trace: Trace, row: Ints, thread: Array, on: Array, time: Ints) -> Ints:
    """The innermost of some spans (rows) around points of threads; −1 none."""
    return innermost(trace, row, thread[trace["spans"]["track"][row]], on, time)


def _operators_around(trace: Trace, tree: CallTree, thread: Array, on: Array, time: Ints) -> Ints:
    """The innermost operator around points of threads; positions in the call tree, −1 none."""
    if not len(time):
        return np.zeros(0, np.int64)
    operators = tree.row[np.flatnonzero(tree.is_operator)].astype(np.int64)
    around = _around(trace, operators, thread, on, time)
    return np.where(around >= 0, tree.node[around], -1).astype(np.int64)
