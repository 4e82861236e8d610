"""Folded stacks → ``Trace``: what ``prof.export_stacks(path, metric)`` writes, and other samplers.

::

    train.py(7):_step;model.py(3):_forward 120          frames, outermost first; 120 µs of operators called by the last one
    train.py(7):_step 30                                repeated lines add up

The file has sums but no times. We lay the frames of the tree end to end, each as long as everything
beneath it; an operator at its begin stands for its self time (for device time: an operator without
a duration, and its device work)::

    /train.py(7): step                                   /
     [operators (sum)     ]/model.py(3): forward        /
                            [operators (sum)           ]

Source: ``EventList.export_stacks`` in ``torch/autograd/profiler_util.py`` (2.13): integer
microseconds; ``" ;\\t\\n"`` in a frame became ``_``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.peeked_text import count_problem, pieces
from torch_tb_profiler.importers.window import Progress, Text
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Table, TableSpec
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE, StringBuilder

MOST_FRAMES = 1000
"""Deepest stack: Python's own recursion limit."""
HOST, DEVICE = "self_cpu_time_total", "self_device_time_total"
NO_TIMELINE = "sums of stacks, laid end to end"
"""Name of the thread on the timeline."""
_MOST_NS = 1 << 61
_NUMBER = regex(r"\d{1,18}", re.ASCII)
_LINE_NUMBER = regex(r"(\(\d+\)):_")
_MODULE = regex(r"^nn\.Module:_")
_OF_DEVICE = regex(r"cuda|gpu|device|xpu|hip|npu|mtia|privateuse", re.IGNORECASE)
_IN_NANOSECONDS = regex(r"\.ns\.", re.IGNORECASE)
"""Our own exports are in ns."""
_HINT = "Give the file that prof.export_stacks wrote."


class _Node(msgspec.Struct):
    """A frame of the tree: its self time, and the frames that it called, in file order."""

    own: int = 0
    called: dict[str, _Node] = msgspec.field(default_factory=dict)


def read_stacks(stream: Text, name: str = "", progress: Progress | None = None) -> Trace:
    """Read a file of folded stacks; see ``importers.read_trace``.

    Args:
        name: of the file. Only it tells the metric and the unit: device time if it mentions a
            device (``stacks_cuda.txt``).

    Raises:
        NotATrace: no line is a stack, or the sums are too large.
        SourceError: reading failed.
    """
    unit = 1 if _IN_NANOSECONDS.search(name) else 1000
    counts = DefectCounts()
    root, entries = _Node(), 0
    for line in _lines(stream, progress):
        if line.strip():
            entries += 1
            _add_line(root, line, unit, counts)
    count_problem(stream, counts)
    if not root.called:
        raise NotATrace(
            "No line of the text is a stack: frames separated by ; and an integer.", _HINT
        )
    return _trace(root, DEVICE if _OF_DEVICE.search(name) else HOST, counts, entries)


def _lines(stream: Text, progress: Progress | None) -> Iterator[str]:
    rest = b""
    for data in pieces(stream, "Folded stacks", progress):
        *lines, rest = (rest + data).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in lines)
    yield rest.decode("utf-8", "replace")


def _add_line(root: _Node, line: str, unit: int, counts: DefectCounts) -> None:
    stack, _, number = line.rstrip().rpartition(" ")
    frames = stack.split(";")
    if not stack or not _NUMBER.fullmatch(number) or len(frames) > MOST_FRAMES:
        counts.add(d.NOT_A_STACK)
        return
    node = root
    for frame in frames:
        node = node.called.setdefault(frame, _Node())
    node.own += int(number) * unit


def _frame_name(text: str) -> str:
    """The frame as the profiler knew it, as far as the file tells."""
    return _MODULE.sub("nn.Module: ", _LINE_NUMBER.sub(r"\1: ", text)) or "?"


def _total(root: _Node) -> dict[int, int]:
    """Total time of every node, by ``id``."""
    order = [root]
    for node in order:
        order += node.called.values()
    total: dict[int, int] = {}
    for node in reversed(order):
        total[id(node)] = node.own + sum(total[id(below)] for below in node.called.values())
    return total


def _lay_out(root: _Node, metric: str, strings: StringBuilder) -> list[tuple[int, int, int, Role]]:
    """(start, dur, name, role) of each span, in table order."""
    total = _total(root)
    if total[id(root)] > _MOST_NS:
        raise NotATrace(
            "The times of the stacks add up to more than any recording lasts.",
            "Check the program that wrote the file.",
        )
    spans = []
    own, work = strings.intern("operators (sum)"), strings.intern("device work (sum)")
    stack = _begins(root, 0, total)
    while stack:
        name, node, begin = stack.pop()
        frame = strings.intern(_frame_name(name))
        spans.append((begin, total[id(node)], frame, Role.PYTHON))
        if node.own:
            # Self time comes first, which keeps the table ordered by begin, longest first.
            if metric == DEVICE:
                spans.append((begin, node.own, work, Role.KERNEL))
            spans.append((begin, 0 if metric == DEVICE else node.own, own, Role.OPERATOR))
        stack += _begins(node, begin + node.own, total)
    return spans


def _begins(node: _Node, start: int, total: dict[int, int]) -> list[tuple[str, _Node, int]]:
    """(name, node, begin) of the frames that a node called, the last one first."""
    begins = []
    for name, below in node.called.items():
        begins.append((name, below, start))
        start += total[id(below)]
    return begins[::-1]


def _trace(root: _Node, metric: str, counts: DefectCounts, entries: int) -> Trace:
    strings = StringBuilder()
    spans = np.array(_lay_out(root, metric, strings), np.int64)
    start, dur, name, role = spans.T
    n = len(spans)
    frames, work = np.flatnonzero(role == Role.PYTHON), np.flatnonzero(role == Role.KERNEL)
    external = np.full(n, -1, np.int64)
    # An operator follows its work.
    external[work] = external[work + 1] = np.arange(1, len(work) + 1)
    categories = {Role.PYTHON: "python_function", Role.OPERATOR: "cpu_op", Role.KERNEL: "kernel"}
    category = np.full(max(Role) + 1, NONE)
    for member, text in categories.items():
        category[member] = strings.intern(text)
    tables: dict[str, Table] = {spec.name: spec.empty() for spec in schema.TRACE_TABLES}
    tables["spans"] = schema.SPANS.build(
        start=start,
        dur=dur,
        name=name,
        category=category[role],
        track=role == Role.KERNEL,
        role=role,
        correlation=np.full(n, -1),
        external=external,
        ordinal=np.arange(n),
    )
    tables["python_args"] = _arguments(schema.PYTHON_ARGS, frames, id=np.arange(len(frames)))
    tables["device_args"] = _arguments(schema.DEVICE_ARGS, work)
    tables["tracks"] = _tracks(strings, with_device=bool(len(work)))
    return Trace(strings.table(), tables, {"sums": metric}, counts, entries)


def _arguments(spec: TableSpec, span: Array, **known: Array) -> Table:
    """A table of arguments of which all but some columns are unknown."""
    unknown = {c.name: np.full(len(span), np.nan if c.dtype == "f8" else -1) for c in spec.columns}
    return spec.build(**{**unknown, "span": span, **known})


def _tracks(strings: StringBuilder, *, with_device: bool) -> Table:
    names = [NO_TIMELINE, f"device work: {NO_TIMELINE}"] if with_device else [NO_TIMELINE]
    n = len(names)
    return schema.TRACKS.build(
        pid=strings.intern_all(names),
        tid=strings.intern_all(["0"] * n),
        process_name=strings.intern_all(names),
        process_label=np.full(n, NONE),
        thread_name=np.full(n, NONE),
        process_sort=np.arange(n),
        thread_sort=np.zeros(n),
    )
