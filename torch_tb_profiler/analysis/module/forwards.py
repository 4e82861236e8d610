"""The functions of the backward pass, and the forward operator of each."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    matching_points,
    positions_of,
    same_keys,
    scatter,
)
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.device_causes import latest_before
from torch_tb_profiler.analysis.facts.host_names import is_engine_call, name_mask
from torch_tb_profiler.analysis.module.nodes import Nodes
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Trace

_ACCUMULATE = "AccumulateGrad"
_ARROWS = ("fwdbwd", "forward_backward")


class Functions(msgspec.Struct, frozen=True):
    """Outermost calls of the backward pass, one per graph function that ran.

    position: their nodes, ascending; int64 of shape (functions,).
    numbered: which have a sequence number of their own; the others belong to the previous one.
    around: per node the node of the innermost function at or around it; −1 outside the backward
        pass.
    number: per node its sequence number; −1 none.
    thread: per node the forward thread that it names; ≤ 0 if it is itself of the forward pass, or
        none.
    track: per node.
    maker: nodes that may have created a graph node: numbered operators outside the backward pass;
        ascending.
    """

    position: Ints
    numbered: Mask
    around: Array
    number: Ints
    thread: Ints
    track: Array
    maker: Ints


def functions_of(trace: Trace, nodes: Nodes) -> Functions:
    """What runs in the backward pass: what the engine evaluates, and what names a forward thread.

    PyTorch before 1.9 records no ``evaluate_function``: there also what lies between, on threads
    that do nothing else.
    """
    number, thread = _numbers(trace, nodes)
    name = trace["spans"]["name"][nodes.row]
    evaluate = name_mask(trace.strings, name, is_engine_call)
    accumulate = name_mask(trace.strings, name, lambda text: text.endswith(_ACCUMULATE))
    operator = nodes.kind == PathKind.OPERATOR
    marked = operator & (evaluate[name] | (thread > 0))
    track = trace["spans"]["track"][nodes.row]
    marked |= _between(nodes, marked, evaluate[name], number, track)
    outer = np.append(nearest(nodes.parent, marked), -1)[nodes.parent]
    # The function itself is nested in the engine's call of it and repeats its number.
    begins = marked & (evaluate[name] | (outer < 0) | (number[outer] != number))
    around = nearest(nodes.parent, begins)
    position = np.flatnonzero(begins)
    numbered = (number[position] >= 0) & ~accumulate[name[position]]
    maker = np.flatnonzero(operator & (number >= 0) & (thread <= 0) & ~evaluate[name])
    return Functions(position, numbered, around, number, thread, track, maker)


def _numbers(trace: Trace, nodes: Nodes) -> tuple[Ints, Ints]:
    arguments = trace["operator_args"]
    number, thread = np.full(len(nodes.row), -1, np.int64), np.full(len(nodes.row), -1, np.int64)
    own, node = nodes.of_spans(arguments["span"])
    number[node], thread[node] = arguments["sequence"][own], arguments["forward_thread"][own]
    return number, thread


def _between(nodes: Nodes, marked: Mask, evaluate: Mask, number: Ints, track: Array) -> Mask:
    """Outermost operators between functions on threads of pure backward without engine calls."""
    outermost = nodes.parent < 0
    tracks = int(track.max()) + 1 if len(track) else 0
    first = np.full(tracks, len(track), np.int64)
    begin = np.flatnonzero(outermost & marked)
    first[track[begin[::-1]]] = begin[::-1]
    other = evaluate | (outermost & ~marked & ((nodes.kind != PathKind.OPERATOR) | (number >= 0)))
    first[track[other]] = len(track)
    return np.asarray(outermost & ~marked & (np.arange(len(track)) > first[track]))


def forwards(trace: Trace, nodes: Nodes, functions: Functions) -> Ints:
    """The forward operator's node of every function, −1 unknown; it starts earlier."""
    forward = np.full(len(functions.position), -1, np.int64)
    if not len(functions.maker):
        return forward
    _by_arrow(trace, nodes, functions, forward)
    missing = np.flatnonzero(functions.numbered & (forward < 0))
    if len(missing):
        forward[missing] = _by_number(trace, nodes, functions, functions.position[missing])
    forward[(forward >= functions.position) | ~functions.numbered] = -1
    return forward


def _by_arrow(trace: Trace, nodes: Nodes, functions: Functions, forward: Ints) -> None:
    flows = trace["flows"]
    kinds = [number for number in map(trace.strings.number, _ARROWS) if number >= 0]
    arrow = np.isin(flows["category"], kinds)
    begin = np.flatnonzero(arrow & (flows["phase"] == ord("s")))
    end = np.flatnonzero(arrow & (flows["phase"] == ord("f")))
    if not len(begin) or not len(end):
        return
    start = trace["spans"]["start"][nodes.row]
    tied = latest_before(
        flows["id"][begin], flows["time"][begin], flows["id"][end], flows["time"][end]
    )
    begin, end = begin[tied[tied >= 0]], end[tied >= 0]
    maker, target = functions.maker, np.flatnonzero(functions.thread > 0)
    at_begin = matching_points(
        (functions.track[maker], start[maker]), (flows["track"][begin], flows["time"][begin])
    )
    at_end = matching_points(
        (functions.track[target], start[target]), (flows["track"][end], flows["time"][end])
    )
    both = np.flatnonzero((at_begin >= 0) & (at_end >= 0))
    function = np.searchsorted(functions.position, functions.around[target[at_end[both]]])
    forward[function] = maker[at_begin[both]]


def _by_number(trace: Trace, nodes: Nodes, functions: Functions, wanted: Ints) -> Ints:
    """The last operator before each function that starts with its number, on the forward thread.

    Threads count separately, and functions name the forward thread by a number of PyTorch's own.
    Sequence numbers that only one thread has reveal which thread it is.
    """
    maker, number, track = functions.maker, functions.number, functions.track
    first, _ = group_rows((number[maker], track[maker]))
    have, threads = number[maker][first], track[maker][first]
    ids, any_maker, count = np.unique(have, return_index=True, return_counts=True)
    position = positions_of(ids, number[wanted])
    known = position >= 0
    unique = known & (count[position] == 1)
    on = np.where(unique, threads[any_maker[position]], -1)
    thread = functions.thread[wanted]
    voters = np.flatnonzero(unique & (thread > 0))
    pair, vote = group_rows((thread[voters], on[voters]))
    # The last assignment wins: for each thread the pair with the most votes.
    pair = voters[pair[np.argsort(np.bincount(vote, minlength=len(pair)), kind="stable")]]
    named, which = np.unique(thread, return_inverse=True)
    elected = scatter(len(named), which[pair], on[pair])
    on = np.where(known & ~unique, elected[which], on)
    use = np.flatnonzero(on >= 0)
    made, used = same_keys((number[maker], track[maker]), (number[wanted[use]], on[use]))
    start = trace["spans"]["start"][nodes.row]
    tied = latest_before(made, start[maker], used, start[wanted[use]])
    forward = scatter(len(wanted), use[tied >= 0], maker[tied[tied >= 0]])
    return forward
