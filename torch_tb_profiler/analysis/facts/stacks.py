"""Call stacks of operators, interned as a tree of frames.

Of Python frames that were open already when the recording began (table ``opened_frames``) the profiler writes the
line that ran at that moment, which is the line that started the recording and no place where time goes::

    file(line): function     main.py(80): main            the line 80 is ``prof.step()``
    what is shown            main.py: main
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import extreme_by, mask_of, picked, positions_of
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest, with_ancestors
from torch_tb_profiler.analysis.arrays.numbering import PathLayout, number_paths, number_tree
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.host_names import distinct, is_engine_call, name_mask
from torch_tb_profiler.analysis.facts.replay_calls import ReplayedCalls, joined, with_callers
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

_PROFILER = regex(r"(?:^|[/\\])torch[/\\](?:autograd[/\\]profiler\.py|profiler[/\\]\w+\.py)\(")

_DEEPEST = 1000


class Stacks(msgspec.Struct, frozen=True):
    """``parent``, ``frame``: columns of the table ``stacks``, int64; ``of_node``: int32, stack of
    every call tree node, −1 none.
    """

    parent: Ints
    frame: Ints
    of_node: Array


def call_stacks(
    trace: Trace, tree: CallTree, enclosing: Array, strings: StringBuilder, launches: Ints
) -> Stacks:
    """Stacks from ``Call stack`` arguments, else Python frames, else a backward operator's forward; of frames around
    the autograd engine, which runs in the thread that called it where no device is used, only what has no known forward.

    enclosing: for every row of spans the innermost enclosing host span, −1 none; shape (spans,).
    strings: frames of ``Call stack`` arguments are added to it.
    launches: rows of graph launches, which have a stack though they are no operators.
    """
    of_node = np.full(len(tree.row), -1, np.int32)
    wanted = tree.is_operator.copy()
    launching = tree.node[launches]
    wanted[launching[launching >= 0]] = True
    node = np.flatnonzero(wanted)
    parent, frame, caller = _from_frames(trace, tree, enclosing, of_node, node)
    parent, frame = _from_arguments(trace, tree, strings, of_node, parent, frame)
    if len(parent):
        _from_forward(trace, tree, of_node)
        _inherit(tree, of_node)
        of_node[node] = np.where(of_node[node] < 0, caller, of_node[node])
    return Stacks(np.array(parent, np.int64), np.array(frame, np.int64), of_node)


def _from_frames(
    trace: Trace, tree: CallTree, enclosing: Array, of_node: Array, node: Ints
) -> tuple[Ints, Ints, Ints]:
    """``(parent, frame, caller)``: the tree of frames, and the stack of each node whose nearest frame lies around the
    engine's call that it is in, −1 of others: these have it in ``of_node``.
    """
    is_frame = trace["spans"]["role"] == Role.PYTHON
    if not is_frame.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.full(len(node), -1)
    inner = climb(enclosing, enclosing[tree.row[node]], is_frame)
    parents, frames, stack = frame_stacks(trace, enclosing, inner, is_frame)
    name = trace["spans"]["name"][tree.row]
    engine = nearest(tree.parent, name_mask(trace.strings, name, is_engine_call)[name])[node]
    of_caller = picked(tree.row, engine) > inner
    of_node[node] = np.where(of_caller, -1, stack)
    return parents, frames, np.where(of_caller, stack, -1)


def frame_stacks(
    trace: Trace, enclosing: Array, inner: Ints, is_frame: Mask
) -> tuple[Ints, Ints, Ints]:
    """``(parents, frames, stack)``: the tree of the frames around some frames, parents first, and the position in
    it of each of these. ``inner``: their rows of spans, −1 none; ``is_frame``: which rows count.
    """
    around = np.append(nearest(enclosing, is_frame), np.int32(-1))[enclosing]
    used = np.flatnonzero(with_ancestors(around, mask_of(len(around), inner[inner >= 0])))
    caller = (np.searchsorted(used, around[used]) - (around[used] < 0)).astype(np.int32)
    tree = number_tree(caller, trace["spans"]["name"][used])
    return tree.parent, tree.code, picked(tree.path, np.searchsorted(used, inner) - (inner < 0))


def _from_arguments(
    trace: Trace, tree: CallTree, strings: StringBuilder, of_node: Array, parent: Ints, frame: Ints
) -> tuple[Ints, Ints]:
    """Add the stacks of ``Call stack`` arguments (innermost first), which take precedence."""
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
        for text in filter(None, reversed(trace.strings[number].strip('"').split(";"))):
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
    """Give backward operators (``Fwd thread id`` > 0) the stack of the forward operator with their
    sequence number.

    Every operator carries the number that the next graph node will get, so the last one that starts
    with a number created the node (as in torch's ``generateForwardBackwardLinks``). Threads count
    separately: a number of several threads is used only if they agree on the stack.
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
    # Rows are in time order, so the last row of each (number, track) is the latest.
    order = np.lexsort((track, number))
    last = np.flatnonzero(
        np.append((np.diff(number[order]) != 0) | (np.diff(track[order]) != 0), True)
    )
    number, stack = number[order][last], of_node[maker[order][last]]
    ids, group = np.unique(number, return_inverse=True)
    lowest, highest = (
        extreme_by(extreme, group, len(ids), stack) for extreme in (np.minimum, np.maximum)
    )
    position = positions_of(ids, sequence[backward])
    agreed = (position >= 0) & (lowest[position] == highest[position])
    of_node[node[backward[agreed]]] = lowest[position[agreed]]


def _inherit(tree: CallTree, of_node: Array) -> None:
    """Give operators without a stack that of the innermost operator around them that has one."""
    missing = np.flatnonzero(tree.is_operator & (of_node < 0))
    around = climb(tree.parent, tree.parent[missing], of_node >= 0)
    known = around >= 0
    of_node[missing[known]] = of_node[around[known]]


def with_replayed(stacks: Stacks, trace: Trace, tree: CallTree, replayed: ReplayedCalls) -> Stacks:
    """The stacks with those of replayed calls: the frames of the capture beneath those around the
    launch of the graph. ``of_node`` continues with the replayed calls.
    """
    if not len(replayed):
        return stacks
    calls = trace["captured_calls"]
    around = np.append(nearest(calls["parent"], calls["role"] == Role.PYTHON), np.int32(-1))
    outer, frame = (around[of].astype(np.int64) for of in (calls["parent"], replayed.call))
    base = picked(stacks.of_node, tree.node[replayed.launch]).astype(np.int64)
    own, inside = (base + 1) * calls.n + frame, frame >= 0
    key = with_callers(own[inside], calls.n, outer)
    beneath, call = key // calls.n - 1, key % calls.n
    above = np.where(outer[call] >= 0, np.searchsorted(key, key - call + outer[call]), -1)
    layout = PathLayout(
        above, calls["name"][call].astype(np.int64), np.where(above < 0, beneath, -1), above < -1
    )
    count = len(stacks.parent) + len(key)
    numbered = number_paths(layout, stacks.parent, stacks.frame, most=count)
    base[inside] = numbered.path[np.searchsorted(key, own[inside])]
    return Stacks(numbered.parent, numbered.code, joined(stacks.of_node, base))


def opened_frames(trace: Trace, enclosing: Array, strings: StringBuilder) -> Table:
    """What is shown of the names of these frames. ``enclosing``: for every row of spans the innermost host
    span around it; ``strings``: the texts to show are added to it.
    """
    spans = trace["spans"]
    frame = np.flatnonzero(spans["role"] == Role.PYTHON)
    track = spans["track"].take(frame)
    chains = [_chain(enclosing, frame[track == own]) for own in unique_values(track)]
    began = _began(trace, chains)
    names = [spans["name"][chain[spans["start"][chain] < began]] for chain in chains]
    shown = {}
    for number in unique_values(np.concatenate(names)).tolist() if names else ():
        frame_ = PythonFrame.of(trace.strings[number])
        if frame_ is not None and frame_.line is not None and frame_.file.endswith(".py"):
            shown[number] = strings.intern(frame_.without_line)
    return fact_schema.OPENED_FRAMES.build(
        name=np.array(list(shown), np.int64), shown=np.array(list(shown.values()), np.int64)
    )


def _chain(enclosing: Array, frame: Ints) -> Ints:
    """Of the frames of a thread the first, the first within it, and so on; rows of spans."""
    chain = frame[:_DEEPEST]
    ends = np.flatnonzero(enclosing[chain[1:]] != chain[:-1])
    return chain[: ends[0] + 1] if len(ends) else chain


def _began(trace: Trace, chains: list[Ints]) -> int:
    """When the recording began: what starts earlier was open then. It is when the innermost frame of the
    profiler that started it calls something, else when anything but a frame begins.
    """
    spans = trace["spans"]
    for chain in chains:
        profiler = [bool(_PROFILER.search(trace.strings[int(n)])) for n in spans["name"][chain]]
        if any(profiler):
            inner = chain[len(profiler) - profiler[::-1].index(True) :]
            return int(spans["start"][inner[0]] if len(inner) else spans["start"][chain[-1]] + 1)
    other = spans["start"][spans["role"] != Role.PYTHON]
    return int(other.min()) if len(other) else 0
