"""The call path of an event, from a Python line to the device.

::

    train.py(7): step ▸ nn.Module: Linear_0 ▸ aten::linear ▸ aten::mm ▸ cudaLaunchKernel ▸ gemm
                                                └── up the parents       └── down to the longest work it launched

Parents come from ``span_links``, Python frames included. A path includes the launch if it is known,
else the operator.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import position_of
from torch_tb_profiler.analysis.arrays.nesting import ancestry
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.host_names import is_engine_call
from torch_tb_profiler.analysis.facts.replay_calls import captured_frames
from torch_tb_profiler.analysis.figures.event_kinds import MODULE
from torch_tb_profiler.analysis.figures.source_lines import is_user_code
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

LinkKind = Literal["python", "module", "annotation", "operator", "launch", "device"]

USER_FRAMES = 3
"""Frames of user code that are shown of a path, the nearest ones."""
MOST_OF_A_KIND = 32
"""Modules, annotations and operators shown of a path, the nearest of each."""

_KIND_OF_ROLE: dict[int, LinkKind] = {
    Role.PYTHON: "python",
    Role.ANNOTATION: "annotation",
    Role.OPERATOR: "operator",
    Role.RUNTIME: "launch",
    **dict.fromkeys(DEVICE_ROLES, "device"),
}


class DeviceWork(msgspec.Struct, frozen=True):
    """Rows of device work; ``anchor``: row of its launch, else operator; −1 unknown."""

    row: Ints
    anchor: Array


class Link(msgspec.Struct, frozen=True):
    """One event of a path."""

    kind: LinkKind
    row: int


class CallPath(msgspec.Struct, frozen=True):
    """``links``: outermost first. ``launch``, ``work``: rows of its last two links; −1 none."""

    links: tuple[Link, ...]
    launch: int
    work: int


def device_work(trace: Trace, facts: Facts) -> DeviceWork:
    """The position of each device event in the call tree; one pass over the spans, worth keeping."""
    links = facts["span_links"]
    row = device_rows(trace)
    launch = links["launch"][row]
    return DeviceWork(row, np.where(launch >= 0, launch, links["operator"][row]))


def launched_by(trace: Trace, work: DeviceWork, row: int) -> Ints:
    """Rows of the device work launched within a host span, ascending; else empty."""
    spans = trace["spans"]
    if _KIND_OF_ROLE.get(int(spans["role"][row])) in (None, "device"):
        return np.zeros(0, np.int64)
    start = spans["start"]
    end = int(start[row]) + int(spans["dur"][row])
    behind = max(int(np.searchsorted(start, end)), row + 1)
    candidates = np.flatnonzero((work.anchor >= row) & (work.anchor < behind))
    anchor = work.anchor[candidates]
    inside = (spans["track"][anchor] == spans["track"][row]) & (
        start[anchor] + spans["dur"][anchor] <= end
    )
    return np.asarray(work.row[candidates[inside]])


def longest_first(trace: Trace, rows: Ints, most: int) -> Ints:
    """The ``most`` longest of some spans, the longest first, equal ones in time order."""
    dur = trace["spans"]["dur"][rows]
    if len(rows) > 4 * most:
        least = np.partition(dur, len(dur) - most)[len(dur) - most]
        rows, dur = rows[dur >= least], dur[dur >= least]
    return np.asarray(rows[np.argsort(-dur, kind="stable")[:most]])


def call_path(trace: Trace, facts: Facts, row: int, longest: int) -> CallPath:
    """The path that a span lies on, itself included; empty for spans on none (synchronisation,
    overhead, …).

    ``longest``: row of the longest device work that it launched, or itself if it is device work; −1
        none.
    """
    links = facts["span_links"]
    if _KIND_OF_ROLE.get(int(trace["spans"]["role"][row])) is None:
        return CallPath((), -1, -1)
    launch = int(links["launch"][longest]) if longest >= 0 else -1
    inner = launch if launch >= 0 else int(links["operator"][longest]) if longest >= 0 else row
    path = ancestry(links["parent"], inner) if inner >= 0 else []
    if row not in path and row != longest:
        # A partially overlapping span is nobody's child, but its path must include it.
        path = ([launch] if launch >= 0 else []) + ancestry(links["parent"], row)
    chosen = _readable(trace, path, row)
    if longest >= 0:
        chosen.append(Link("device", longest))
    return CallPath(tuple(chosen), launch, longest)


def _readable(trace: Trace, path: list[int], wanted: int) -> list[Link]:
    """The readable links of a path (innermost first), outermost first."""
    role, name = trace["spans"]["role"], trace["spans"]["name"]
    seen: dict[str, int] = {}
    links = []
    lines = users = 0
    for row in path:
        kind = _KIND_OF_ROLE.get(int(role[row]))
        if kind is None:
            continue
        text = trace.strings[int(name[row])] if kind == "python" else ""
        if text.startswith(MODULE):
            kind = "module"
        seen[kind] = seen.get(kind, 0) + 1
        needed = seen[kind] <= MOST_OF_A_KIND
        if kind == "python":
            frame = PythonFrame.of(text)
            file = frame.file if frame else ""
            lines += file != ""
            user = file != "" and users < USER_FRAMES and is_user_code(file)
            users += user
            needed = user or (file != "" and lines == 1)
        if not needed and row != wanted:
            continue
        links.append(Link(kind, row))
    return links[::-1]


MOST_STACK_FRAMES = 500


def event_stack(trace: Trace, facts: Facts, row: int) -> list[str]:
    """Frames as text, innermost first, at most ``MOST_STACK_FRAMES``; empty if none were recorded; by the rules of
    ``facts/stacks.py``, without the table of stacks.

    For device work that of its launch, else of its operator. For each operator from the inside out:
    its ``Call stack``, else the Python frames around it, but not around the autograd engine, else the stack of its forward
    operator (``Sequence number`` and ``Fwd thread id``).
    """
    links, role = facts["span_links"], trace["spans"]["role"]
    if facts["replayed_work"].n and (captured := captured_frames(trace, facts, row)):
        launch = int(links["launch"][row])
        return [*captured, *_frames(trace, ancestry(links["parent"], launch))][:MOST_STACK_FRAMES]
    if Role.KERNEL <= role[row] <= Role.MEMSET:
        launch = int(links["launch"][row])
        row = launch if launch >= 0 else int(links["operator"][row])
    path = ancestry(links["parent"], row) if row >= 0 else []
    inner = list(takewhile(lambda span: role[span] != Role.PYTHON, path))
    runs = any(is_engine_call(trace.strings[int(trace["spans"]["name"][span])]) for span in inner)
    around = [] if runs else _frames(trace, path)
    for span in inner:
        if role[span] == Role.OPERATOR:
            stack = _written(trace, span) or around or _of_forward(trace, facts, span)
            if stack:
                return stack[:MOST_STACK_FRAMES]
    return _frames(trace, path)


def _frames(trace: Trace, path: list[int]) -> list[str]:
    spans = trace["spans"]
    rows = [span for span in path if spans["role"][span] == Role.PYTHON][:MOST_STACK_FRAMES]
    return [trace.strings[int(spans["name"][span])] for span in rows]


def _written(trace: Trace, span: int) -> list[str]:
    row = position_of(trace["operator_args"]["span"], span)
    number = int(trace["operator_args"]["stack"][row]) if row >= 0 else -1
    return [part for part in trace.strings[number].strip('"').split(";") if part]


def _of_forward(trace: Trace, facts: Facts, span: int) -> list[str]:
    """The stack of a backward operator's forward, if all candidate threads agree."""
    arguments = trace["operator_args"]
    row = position_of(trace["operator_args"]["span"], span)
    if row < 0 or arguments["forward_thread"][row] <= 0 or arguments["sequence"][row] < 0:
        return []
    same = np.flatnonzero(
        (arguments["sequence"] == arguments["sequence"][row]) & (arguments["forward_thread"] <= 0)
    )
    makers = arguments["span"][same]
    last = dict(zip(trace["spans"]["track"][makers].tolist(), makers.tolist(), strict=True))
    stacks = {
        tuple(
            _written(trace, maker) or _frames(trace, ancestry(facts["span_links"]["parent"], maker))
        )
        for maker in last.values()
    }
    stacks.discard(())
    return list(stacks.pop()) if len(stacks) == 1 else []
