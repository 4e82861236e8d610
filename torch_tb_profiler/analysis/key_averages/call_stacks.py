"""Call stacks of function events as in ``FunctionEvent.stack``, if operators recorded them.

A stack is a node in a tree of frames; its frames are the path to the root, innermost first. A
backward operator, and all beneath it, has the stack of the first event on its forward's thread with
its sequence number.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, group_rows, matching_points
from torch_tb_profiler.analysis.arrays.nesting import depths, nearest, nest
from torch_tb_profiler.analysis.facts.host_names import (
    EVALUATE,
    distinct,
    is_engine_call,
    name_mask,
)
from torch_tb_profiler.analysis.key_averages.function_events import FunctionEvents
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.untrusted import json_value

_LEFT_OUT = (
    ("autograd/__init__", "_make_grads"),
    ("autograd/__init__", "backward"),
    ("torch/tensor", "backward"),
    ("_internal/common_utils", "prof_callable"),
    ("_internal/common_utils", "prof_func_call"),
    ("_internal/common_utils", "prof_meth_call"),
)
"""Frames that contain both texts are left out (``_filter_stack_entry``)."""
NO_STACK = -1


class CallStacks:
    """The tree of frames, and the stack of every event (``of_event``, int64, −1 none)."""

    def __init__(self, events: FunctionEvents) -> None:
        self._parent: list[int] = []
        self._frame: list[str] = []
        self._known: dict[tuple[int, str], int] = {}
        self.of_event = np.full(len(events), NO_STACK, np.int64)
        written = events.arguments("stack")
        if not (written >= 0).any():
            return
        of_text, innermost = (
            np.full(len(events.trace.strings) + 1, -1, np.int64) for _ in range(2)
        )
        for number in distinct(written, events.trace.strings):
            entries = _entries(events.trace.strings[number])
            of_text[number] = reduce(self._add, reversed(entries), NO_STACK)
            innermost[number] = events.names.number(entries[0]) if entries else -1
        self.of_event = of_text[written]
        if _are_frames(events, innermost[written]):
            self._set_frame_stacks(events)
        self._set_backward_stacks(events)

    def frames(self, stack: int, most: int | None = None) -> tuple[str, ...]:
        """The frames of a stack, innermost first; empty for −1."""
        listed: list[str] = []
        while stack >= 0 and (most is None or len(listed) < most):
            listed.append(self._frame[stack])
            stack = self._parent[stack]
        return tuple(listed)

    def tops(self, most: int) -> tuple[Array, list[tuple[str, ...]]]:
        """The innermost ``most`` frames of every event: ``(number, frames)``, int64 of shape
        (events,) and frames by number.
        """
        used, of_event = np.unique(self.of_event, return_inverse=True)
        numbers: dict[tuple[str, ...], int] = {}
        number = [
            numbers.setdefault(self.frames(stack, most), len(numbers)) for stack in used.tolist()
        ]
        return np.array(number, np.int64)[of_event], list(numbers)

    def _add(self, caller: int, frame: str) -> int:
        if any(file in frame and function in frame for file, function in _LEFT_OUT):
            return caller
        key = (caller, frame)
        stack = self._known.setdefault(key, len(self._parent))
        if stack == len(self._parent):
            self._parent.append(caller)
            self._frame.append(frame)
        return stack

    def _set_frame_stacks(self, events: FunctionEvents) -> None:
        """Give Python functions, which record no stack, the functions around them."""
        functions = np.flatnonzero(events.role == Role.PYTHON)
        if not len(functions):
            return
        spans, strings = events.trace["spans"], events.trace.strings
        row = np.flatnonzero((spans["role"] == Role.PYTHON) & (spans["name"] >= 0))
        start, name = spans["start"][row], spans["name"][row]
        parent = nest(spans["track"][row], start, start + spans["dur"][row]).parent
        depth = depths(parent)
        order = np.argsort(depth, kind="stable")
        bounds = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2))
        around = np.full(len(row), NO_STACK, np.int64)
        at_and_above = np.full(len(row) + 1, NO_STACK, np.int64)
        for begin, end in pairwise(bounds.tolist()):
            level = order[begin:end]
            around[level] = at_and_above[parent[level]]
            first, group = group_rows((around[level], name[level]))
            stacks = [
                self._add(c, strings[n])
                for c, n in zip(
                    around[level][first].tolist(), name[level][first].tolist(), strict=True
                )
            ]
            at_and_above[level] = np.array(stacks, np.int64)[group]
        self.of_event[functions] = around[np.searchsorted(row, events.row[functions])]

    def _set_backward_stacks(self, events: FunctionEvents) -> None:
        sequence, thread = events.arguments("sequence"), events.arguments("forward_thread")
        backward = backward_functions(events)
        above = nearest(events.parent, backward).astype(np.int64)
        inside = np.flatnonzero(above >= 0)
        if not len(inside):
            return
        forward = np.flatnonzero((above < 0) & (sequence >= 0))
        track = _tracks_of_threads(events, forward, np.flatnonzero(backward), sequence, thread)
        # The first event of a pair counts, and ``same_place`` gives the last.
        backwards = forward[::-1]
        function = above[inside]
        source = matching_points(
            (events.track[backwards], sequence[backwards]), (track[function], sequence[function])
        )
        known = (source >= 0) & (track[function] >= 0)
        self.of_event[inside] = NO_STACK
        self.of_event[inside[known]] = self.of_event[backwards[source[known]]]


def backward_functions(events: FunctionEvents) -> Mask:
    """Which events are backward functions."""
    thread, operator = events.arguments("forward_thread"), events.role == Role.OPERATOR
    return backward_calls(events.names, events.name, events.parent, thread, operator)


def backward_calls(
    strings: StringTable, name: Array, parent: Array, thread: Array, operator: Mask
) -> Mask:
    """Which operators are backward functions, by the engine's call around them, else by forward thread; all of one shape.

    name: numbers of ``strings``. parent: the call around each, −1 none. thread: forward thread, −1 unknown.
    """
    engine = name_mask(strings, name, is_engine_call)
    # The function that the engine evaluates bears the rest of its name.
    behind = np.full(len(strings) + 1, -2, np.int64)
    for number in np.flatnonzero(engine).tolist():
        behind[number] = strings.number(strings[number].removeprefix(EVALUATE))
    evaluated = behind[np.append(name, -1)[parent]] == name
    return np.asarray(operator & ~engine[name] & ((thread > 0) | evaluated))


def _tracks_of_threads(
    events: FunctionEvents, forward: Ints, backward: Ints, sequence: Array, thread: Array
) -> Array:
    """The row of tracks of each event's forward thread, −1 unknown; int64.

    ``Fwd thread id`` is PyTorch's own numbering, a track has the system's: a thread is the track on
    which most sequence numbers of its backward functions recur.
    """
    track = np.full(len(events), -1, np.int64)
    numbered = backward[(thread[backward] > 0) & (sequence[backward] >= 0)]
    if not len(numbered) or not len(forward):
        return track
    wanted = numbered[group_rows((thread[numbered], sequence[numbered]))[0]]
    offered = forward[group_rows((sequence[forward], events.track[forward]))[0]]
    begin, end = (
        np.searchsorted(sequence[offered], sequence[wanted], side) for side in ("left", "right")
    )
    pair_thread = np.repeat(thread[wanted], end - begin)
    pair_track = events.track[offered[expand_ranges(begin, end - begin)]]
    first, group = group_rows((pair_thread, pair_track))
    times = np.bincount(group, minlength=len(first))
    for number in unique_values(thread[numbered]).tolist():
        of_thread = np.flatnonzero(pair_thread[first] == number)
        if len(of_thread):
            track[numbered[thread[numbered] == number]] = pair_track[
                first[of_thread[np.argmax(times[of_thread])]]
            ]
    return track


def _are_frames(events: FunctionEvents, innermost: Ints) -> bool:
    """Whether stacks are Python functions around their event; TorchScript writes its own."""
    with_stack = np.flatnonzero((innermost >= 0) & (events.role != Role.PYTHON))
    function = nearest(events.parent, events.role == Role.PYTHON)[with_stack]
    return bool(((function >= 0) & (events.name[function] == innermost[with_stack])).any())


def _entries(text: str) -> list[str]:
    """A recorded ``Call stack`` as frames, innermost first."""
    return [entry for entry in str(json_value(text, text)).split(";") if entry]
