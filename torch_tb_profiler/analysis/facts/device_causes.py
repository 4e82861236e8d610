"""The host-side cause of device work: its launch, and the operator around the launch."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    mask_of,
    matching_points,
    positions_of,
    same_keys,
)
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.flags import NoOperator
from torch_tb_profiler.analysis.facts.host_names import HostNames
from torch_tb_profiler.analysis.facts.task_queues import (
    launches_around,
    operators_by_arrow,
    operators_of_queue,
)
from torch_tb_profiler.store.categories import (
    FORWARD_BACKWARD,
    GRAPH_CAPTURE,
    OPERATOR_TO_WORK,
)
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.process_roles import TORCH_NPU
from torch_tb_profiler.store.roles import Role

_NOT_LAUNCHES = (*FORWARD_BACKWARD, GRAPH_CAPTURE, OPERATOR_TO_WORK)
"""Flow categories whose source is not a launch."""


class DeviceCauses(msgspec.Struct, frozen=True):
    """Arrays of shape (device events,), −1 unknown.

    row: rows of spans of kernels, copies and memsets, ascending.
    launch: row of spans of the runtime call.
    operator: position in the call tree.
    time: start of the launch, else of the operator, ns; of the operator where another thread made
        the launch for it.
    reason: uint8 ``NoOperator``.
    ambiguous: number of events whose correlation id several launches carry.
    """

    row: Ints
    launch: Ints
    operator: Ints
    time: Ints
    reason: Array
    ambiguous: int


def device_rows(trace: Trace) -> Ints:
    """Rows of spans that are device work, ascending."""
    role = trace["spans"]["role"]
    return np.flatnonzero((role >= Role.KERNEL) & (role <= Role.MEMSET))


def causes(trace: Trace, tree: CallTree, names: HostNames) -> DeviceCauses:
    """Trace device events to the host by correlation id, else flow, else unique ``External id``."""
    spans = trace["spans"]
    row = device_rows(trace)
    launch, ambiguous = _by_correlation(trace, row)
    missing = np.flatnonzero(launch < 0)
    if len(missing):
        launch[missing] = _by_flow(trace, row[missing])
    launch = np.where(launch < 0, launches_around(trace, row), launch)
    known = launch >= 0
    operator = np.full(len(row), -1, np.int64)
    node = tree.node[launch[known]]
    operator[known] = np.where(node >= 0, tree.operator[node], -1)
    missing = np.flatnonzero(launch < 0)
    if len(missing):
        operators = np.flatnonzero(tree.is_operator)
        own = by_external(trace, tree.row[operators], row[missing])
        operator[missing] = np.append(operators, -1)[own]
    time = np.full(len(row), -1, np.int64)
    time[known] = spans["start"][launch[known]]
    queued = _hand_over(trace, tree, row, launch, operator)
    unlaunched = (~known | queued) & (operator >= 0)
    time[unlaunched] = spans["start"][tree.row[operator[unlaunched]]]
    return DeviceCauses(
        row, launch, operator, time, _reasons(trace, tree, names, launch, operator), ambiguous
    )


def _hand_over(trace: Trace, tree: CallTree, row: Ints, launch: Ints, operator: Ints) -> Mask:
    """Set, in place, the operators of work that was launched outside operators by a thread for
    another one; for which work it did.
    """
    before = operator >= 0
    missing = np.flatnonzero(~before)
    if trace.header.get("profiler") != TORCH_NPU or not len(missing):
        return np.zeros(len(row), np.bool_)
    operator[missing] = operators_by_arrow(trace, tree, row[missing])
    missing = np.flatnonzero((operator < 0) & (launch >= 0))
    operator[missing] = operators_of_queue(trace, tree, launch[missing])
    return np.asarray(~before & (operator >= 0))


def latest_before(key_a: Ints, time_a: Ints, key_b: Ints, time_b: Ints) -> Ints:
    """For each b the latest a of the same key that is not after it, else the earliest after it.

    Positions in a, int64; −1 if no a has the key.
    """
    if not len(key_a) or not len(key_b):
        return np.full(len(key_b), -1, np.int64)
    order = np.argsort(key_a, kind="stable")
    ranked = key_a[order]
    if (ranked[1:] != ranked[:-1]).all():
        return np.append(order, -1)[positions_of(ranked, key_b)]
    n = len(key_a)
    key = np.concatenate((key_a, key_b))
    late = np.arange(len(key)) >= n
    order = np.lexsort((late, np.concatenate((time_a, time_b)), key))
    key, from_a = key[order], ~late[order]
    position = np.arange(len(key))
    before = np.maximum.accumulate(np.where(from_a, position, -1))
    after = np.minimum.accumulate(np.where(from_a, position, len(key) - 1)[::-1])[::-1]
    fits_before = (before >= 0) & (key[before] == key)
    fits_after = from_a[after] & (key[after] == key)
    nearest = np.where(fits_before, order[before], np.where(fits_after, order[after], -1))
    matched = np.empty(len(key_b), np.int64)
    matched[order[~from_a] - n] = nearest[~from_a]
    return matched


def _by_correlation(trace: Trace, row: Ints) -> tuple[Ints, int]:
    spans = trace["spans"]
    correlation, start = spans["correlation"], spans["start"]
    calls = np.flatnonzero((spans["role"] == Role.RUNTIME) & (correlation > 0))
    launch = np.full(len(row), -1, np.int64)
    tied = np.flatnonzero(correlation[row] > 0)
    if not len(calls) or not len(tied):
        return launch, 0
    call = latest_before(correlation[calls], start[calls], correlation[row[tied]], start[row[tied]])
    launch[tied] = np.append(calls, -1)[call]
    ids, count = np.unique(correlation[calls], return_counts=True)
    again = tied[np.isin(correlation[row[tied]], ids[count > 1])]
    if not len(again):
        return launch, 0
    several = calls[np.isin(correlation[calls], correlation[row[again]])]
    launch[again], ambiguous = _of_repeated(trace, several, row[again])
    return launch, ambiguous


def _of_repeated(trace: Trace, calls: Ints, row: Ints) -> tuple[Ints, int]:
    """Launches of device rows whose id several of ``calls`` carry, and how many of the rows their
    ``External id`` does not decide: as many launches as pieces of work belong together in their
    order, else the latest launch before the work is taken.
    """
    spans = trace["spans"]
    begin, start = spans["start"][calls], spans["start"][row]
    key, wanted = _launch_keys(trace, calls, row)
    launch = np.append(calls, -1)[latest_before(key, begin, wanted, start)]
    n = int(max(key.max(), wanted.max())) + 1
    many, works = np.bincount(key, minlength=n), np.bincount(wanted, minlength=n)
    at_call, at_work = np.lexsort((begin, key)), np.lexsort((start, wanted))
    even = many == works
    at_call, at_work = at_call[even[key[at_call]]], at_work[even[wanted[at_work]]]
    early = mask_of(n, key[at_call][start[at_work] < begin[at_call]])
    fits = ~early[key[at_call]]
    launch[at_work[fits]] = calls[at_call[fits]]
    return launch, int((many[wanted] > 1).sum())


def _launch_keys(trace: Trace, calls: Ints, row: Ints) -> tuple[Ints, Ints]:
    """A number for each launch and each device row, equal where their correlation ids are and, for
    an id of which all have one that a launch and work share, the ``External id`` too; int64.
    """
    spans = trace["spans"]
    id_a, id_b = same_keys((spans["correlation"][calls],), (spans["correlation"][row],))
    external_a, external_b = spans["external"][calls], spans["external"][row]
    both_a, both_b = same_keys((id_a, external_a), (id_b, external_b))
    incomplete = mask_of(
        int(max(id_a.max(initial=-1), id_b.max(initial=-1))) + 1, id_a[external_a <= 0]
    )
    incomplete[id_b[(external_b <= 0) | ~np.isin(both_b, both_a)]] = True
    return same_keys(
        (id_a, np.where(incomplete[id_a], 0, external_a)),
        (id_b, np.where(incomplete[id_b], 0, external_b)),
    )


def _by_flow(trace: Trace, row: Ints) -> Ints:
    """Launches of device rows along flow arrows from a runtime call (s) to the work (f, t); −1 none."""
    spans, flows = trace["spans"], trace["flows"]
    launch = np.full(len(row), -1, np.int64)
    others = [number for number in map(trace.strings.number, _NOT_LAUNCHES) if number >= 0]
    used = ~np.isin(flows["category"], others)
    begins = np.flatnonzero(used & (flows["phase"] == ord("s")))
    # Intel's and AMD's tools end an arrow with "t".
    ends = np.flatnonzero(used & (flows["phase"] != ord("s")))
    calls = np.flatnonzero(spans["role"] == Role.RUNTIME)
    if not len(begins) or not len(ends) or not len(calls):
        return launch
    at_end = matching_points(
        (flows["track"][ends], flows["time"][ends]), (spans["track"][row], spans["start"][row])
    )
    tied = np.flatnonzero(at_end >= 0)
    arrow = ends[at_end[tied]]
    begun, ended = same_keys(
        *((flows["category"][rows], flows["id"][rows]) for rows in (begins, arrow))
    )
    source = latest_before(begun, flows["time"][begins], ended, flows["time"][arrow])
    tied, begin = tied[source >= 0], begins[source[source >= 0]]
    call = matching_points(
        (spans["track"][calls], spans["start"][calls]),
        (flows["track"][begin], flows["time"][begin]),
    )
    launch[tied] = np.append(calls, -1)[call]
    return launch


def by_external(trace: Trace, calls: Ints, row: Ints) -> Ints:
    """For each device row the position of the only call in ``calls`` (rows) with its ``External
    id``; −1 none.

    Some versions write the correlation id as ``External id``; that is ignored.
    """
    spans = trace["spans"]
    external = spans["external"][calls]
    known = np.flatnonzero(external > 0)
    ids, first, count = np.unique(external[known], return_index=True, return_counts=True)
    ids, first = ids[count == 1], known[first[count == 1]]
    wanted = spans["external"][row]
    wanted = np.where((wanted > 0) & (wanted != spans["correlation"][row]), wanted, -1)
    return np.append(first, -1)[positions_of(ids, wanted)]


def _reasons(trace: Trace, tree: CallTree, names: HostNames, launch: Ints, operator: Ints) -> Array:
    reason = np.full(len(launch), NoOperator.OUTSIDE, np.uint8)
    graph = names.graph_launch[trace["spans"]["name"][launch]] & (launch >= 0)
    reason[graph] = NoOperator.GRAPH
    reason[launch < 0] = NoOperator.NO_LAUNCH
    if not tree.is_operator.any():
        reason[:] = NoOperator.NO_HOST
        reason[graph] = NoOperator.GRAPH
    reason[operator >= 0] = NoOperator.KNOWN
    return reason
