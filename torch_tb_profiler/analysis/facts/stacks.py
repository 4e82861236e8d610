"""Call stacks of operators, interned as a tree of frames."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import climb, depths
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder


@dataclass(frozen=True)
class Stacks:
    """``parent`` and ``frame`` are the columns of the table ``stacks`` (int64); ``of_node`` (int32)
    is the stack of every node of the call tree, −1 none.
    """

    parent: Ints
    frame: Ints
    of_node: Array


def call_stacks(trace: Trace, tree: CallTree, enclosing: Array, strings: StringBuilder) -> Stacks:
    """Stacks from ``Call stack`` arguments, else from the Python frames around each operator, else
    from a backward operator's forward.

    Args:
        enclosing: for every row of spans the innermost enclosing host span, −1 none; shape
            (spans,).
        strings: frames of ``Call stack`` arguments are added to it.
    """
    of_node = np.full(len(tree.row), -1, np.int32)
    parent, frame = _from_frames(trace, tree, enclosing, of_node)
    parent, frame = _from_arguments(trace, tree, strings, of_node, parent, frame)
    if len(parent):
        _from_forward(trace, tree, of_node)
        _inherit(tree, of_node)
    return Stacks(np.array(parent, np.int64), np.array(frame, np.int64), of_node)


def _from_frames(
    trace: Trace, tree: CallTree, enclosing: Array, of_node: Array
) -> tuple[Ints, Ints]:
    spans = trace["spans"]
    is_frame = spans["role"] == Role.PYTHON
    nothing = np.zeros(0, np.int64)
    if not is_frame.any():
        return nothing, nothing
    node = np.flatnonzero(tree.is_operator)
    inner = climb(enclosing, enclosing[tree.row[node]], is_frame)
    if not (inner >= 0).any():
        return nothing, nothing
    used, above = frames_needed(enclosing, is_frame, inner)
    depth = depths(above)
    place = np.full(spans.n, -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    stack = np.full(len(used), -1, np.int64)
    parents: list[Ints] = []
    frames: list[Ints] = []
    count = 0
    width = len(trace.strings) + 1
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2 if len(depth) else 1))
    for begin, end in pairwise(bounds.tolist()):
        level = order[begin:end]
        caller = np.where(above[level] >= 0, stack[above[level]], -1)
        keys, of = np.unique(
            (caller + 1) * width + spans["name"][used[level]] + 1, return_inverse=True
        )
        stack[level] = count + of
        parents.append(keys // width - 1)
        frames.append(keys % width - 1)
        count += len(keys)
    of_node[node] = np.where(inner >= 0, stack[place[inner]], -1)
    return np.concatenate(parents or [nothing]), np.concatenate(frames or [nothing])


def frames_needed(enclosing: Array, is_frame: Mask, inner: Array) -> tuple[Ints, Ints]:
    """(rows of the frames around any operator, ascending; position in them of each one's calling
    frame, −1 outermost).
    """
    seen = np.zeros(len(enclosing), np.bool_)
    caller = np.full(len(enclosing), -1, np.int32)
    found = inner[inner >= 0]
    while len(found):
        # Of rows that name the same frame the last one written stays: distinct frames without a
        # sort.
        caller[found] = np.arange(len(found))
        found = found[caller[found] == np.arange(len(found))]
        seen[found] = True
        outer = climb(enclosing, enclosing[found], is_frame)
        caller[found] = outer
        found = outer[outer >= 0]
        found = found[~seen[found]]
    used = np.flatnonzero(seen)
    outer = caller[used]
    return used, np.where(outer >= 0, np.searchsorted(used, outer), -1)


def _from_arguments(
    trace: Trace, tree: CallTree, strings: StringBuilder, of_node: Array, parent: Ints, frame: Ints
) -> tuple[Ints, Ints]:
    """Stacks of ``Call stack`` arguments (innermost frame first, ``;`` between); they take
    precedence.
    """
    arguments = trace["operator_args"]
    written = np.flatnonzero(arguments["stack"] >= 0)
    if not len(written):
        return parent, frame
    parents: list[int] = []
    frames: list[int] = []
    known: dict[tuple[int, int], int] = {}
    stack_of = np.full(len(trace.strings) + 1, -1, np.int64)
    for number in distinct(arguments["stack"][written], trace.strings):
        above = -1
        for text in reversed(
            [part for part in trace.strings[number].strip('"').split(";") if part]
        ):
            key = (above, strings.intern(text))
            above = known.setdefault(key, len(parent) + len(parents))
            if above == len(parent) + len(parents):
                parents.append(key[0])
                frames.append(key[1])
        stack_of[number] = above
    node = tree.node[arguments["span"][written]]
    of_node[node[node >= 0]] = stack_of[arguments["stack"][written[node >= 0]]]
    return np.concatenate((parent, np.array(parents, np.int64))), np.concatenate(
        (frame, np.array(frames, np.int64))
    )


def _from_forward(trace: Trace, tree: CallTree, of_node: Array) -> None:
    """Give backward operators (``Fwd thread id`` above 0) the stack of the forward one with their
    sequence number.

    Every operator carries the number that the next node of the graph will get, so the last one that
    begins with a number is the one that made the node (as in torch's
    ``generateForwardBackwardLinks``). Each thread counts for itself: a number of several threads is
    taken only if they agree on the stack.
    """
    arguments = trace["operator_args"]
    node = tree.node[arguments["span"]].astype(np.int64)
    numbered = (arguments["sequence"] >= 0) & (node >= 0)
    node = node[numbered]
    sequence = arguments["sequence"][numbered]
    thread = arguments["forward_thread"][numbered]
    forward = (thread <= 0) & (of_node[node] >= 0)
    backward = np.flatnonzero((thread > 0) & (of_node[node] < 0))
    if not forward.any() or not len(backward):
        return
    maker, number = node[forward], sequence[forward]
    track = trace["spans"]["track"][tree.row[maker]]
    # Rows are in the order of begins, so the last row of every (number, track) is the latest.
    order = np.lexsort((track, number))
    last = np.flatnonzero(
        np.append((np.diff(number[order]) != 0) | (np.diff(track[order]) != 0), True)
    )
    number, stack = number[order][last], of_node[maker[order][last]]
    ids, of = np.unique(number, return_inverse=True)
    lowest = np.full(len(ids), np.iinfo(np.int64).max)
    highest = np.full(len(ids), -1, np.int64)
    np.minimum.at(lowest, of, stack)
    np.maximum.at(highest, of, stack)
    place = np.minimum(np.searchsorted(ids, sequence[backward]), len(ids) - 1)
    sure = (ids[place] == sequence[backward]) & (lowest[place] == highest[place])
    of_node[node[backward[sure]]] = lowest[place[sure]]


def _inherit(tree: CallTree, of_node: Array) -> None:
    """Operators without a stack take that of the innermost operator around them that has one."""
    missing = np.flatnonzero(tree.is_operator & (of_node < 0))
    around = climb(tree.parent, tree.parent[missing], of_node >= 0)
    found = around >= 0
    of_node[missing[found]] = of_node[around[found]]
