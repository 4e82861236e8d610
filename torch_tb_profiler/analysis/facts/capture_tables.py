"""The tables ``graph_captures``, ``captured_launches`` and ``captured_calls``: what was captured.

Between the begin and the end of a capture, launches run nothing: they become nodes of a graph. What
the host did then names what every replay does, so the calls around each launch are kept, without
their times. Of the enclosing calls only those that began within the capture::

    capture_model                                   began before: replays have callers of their own
      [BeginCapture]
      nn.Module: MLP_0        ─▶ captured_calls 0   parent −1
        aten::linear          ─▶                1   parent 0
          aten::addmm         ─▶                2   parent 1
            <launch of gemm>  ─▶ captured_launches  call 2, kernel gemm
      [EndCapture]
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import mask_of, places_in, positions_of
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.facts.calltree import call_tree, is_call
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.analysis.facts.host_names import GRAPH_LAUNCH, distinct, named
from torch_tb_profiler.analysis.facts.launches import capture_marks
from torch_tb_profiler.analysis.facts.links import enclosing_spans
from torch_tb_profiler.analysis.facts.span_lookup import captured_at
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Table, unique_values
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE, StringBuilder

_COPY = regex(r"(?:cuda|cu|hip)Memcpy")
_SET = regex(r"(?:cuda|cu|hip)Memset")
_ANNOTATED = regex(r"capture_(\d{1,9})(?:_([A-Za-z]\w{0,30}))?$", re.ASCII)
"""What vLLM and SGLang write around a capture: its batch size and its mode."""
_TEXTS = ("dims", "types", "strides", "concrete")
_DOTTED = regex(r"\w+(?:\.\w+)+")
"""The name of a module in its model."""
_DEEPEST = 32
"""Scopes of an annotation."""


class CaptureSource(msgspec.Struct, frozen=True):
    """A recording of captures: its name (``""``: the trace itself), and what its list says of it.

    ``batch``: −1 unknown; ``mode``: ``""`` unknown.
    """

    name: str = ""
    batch: int = -1
    mode: str = ""


def replays_graphs(trace: Trace) -> bool:
    """Whether device work has the correlation of a graph launch."""
    spans = trace["spans"]
    calls = np.flatnonzero(spans["role"] == Role.RUNTIME)
    rows = calls[named(trace, calls, GRAPH_LAUNCH.match)]
    return bool(np.isin(spans["correlation"][device_rows(trace)], spans["correlation"][rows]).any())


class Collected:
    """The captures of a trace and of recordings beside it, with the texts of the trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._strings = StringBuilder(trace.strings)
        self._graphs: list[dict[str, int]] = []
        self._launches: list[dict[str, Array]] = []
        self._calls: list[dict[str, Array]] = []
        self._count = 0
        self.add(CaptureSource(), trace)
        self._add_annotated_nodes()

    def trace(self) -> Trace:
        """The trace with the three tables."""
        if not self._graphs:
            return self._trace
        return replace(
            self._trace, strings=self._strings.table(), tables=self._trace.tables | self._tables()
        )

    def add(self, source: CaptureSource, trace: Trace) -> None:
        """Take in the captures of one recording."""
        own = trace is self._trace
        found = _find_launches(trace, own)
        if found is None:
            return
        row, graph, begin = found
        links = enclosing_spans(trace)
        calls, columns, call_of = _calls_around(trace, links, row, graph, begin)
        texts = self._texts(trace, calls, row)
        count = len(self._graphs)
        for number in range(len(begin)):
            self._graphs.append(self._described(source, trace, links, row[graph == number]))
        self._launches.append(
            {
                "graph": graph + count,
                "call": np.where(call_of >= 0, call_of + self._count, NONE),
                "kernel": texts["kernel"],
                "role": _role_of_launch(trace, row),
                "event": row if own else np.full(len(row), NONE),
                "annotation": np.full(len(row), NONE),
            }
        )
        self._calls.append(
            columns
            | {key: texts[key] for key in ("name", *_TEXTS)}
            | {"parent": np.where(columns["parent"] >= 0, columns["parent"] + self._count, NONE)}
        )
        self._count += len(calls)

    def _add_annotated_nodes(self) -> None:
        """Take in what annotates the nodes of graphs, as one capture with a launch per annotation."""
        annotations = distinct(self._trace["node_args"]["annotation"], self._trace.strings)
        if not annotations:
            return
        scopes: dict[tuple[str, ...], int] = {}
        for number in annotations:
            within = scopes_of(self._trace.strings[number])
            for depth in range(1, len(within) + 1):
                scopes.setdefault(within[:depth], len(scopes) + self._count)
        innermost = [
            scopes.get(scopes_of(self._trace.strings[number]), NONE) for number in annotations
        ]
        size, count = len(scopes), len(annotations)
        unknown, unknown_text = np.full(count, NONE), np.full(size, NONE)
        self._launches.append(
            {
                "graph": np.full(count, len(self._graphs)),
                "call": np.array(innermost),
                "kernel": unknown,
                "role": np.full(count, Role.KERNEL, np.uint8),
                "event": unknown,
                "annotation": np.array(annotations),
            }
        )
        self._calls.append(
            {
                "parent": np.array([scopes.get(scope[:-1], NONE) for scope in scopes], np.int64),
                "role": np.full(size, Role.ANNOTATION, np.uint8),
                "name": np.array(self._strings.intern_all([s[-1] for s in scopes]), np.int32),
                **dict.fromkeys(_TEXTS, unknown_text),
            }
        )
        self._graphs.append({"file": NONE, "batch": -1, "mode": NONE})
        self._count += size

    def _tables(self) -> dict[str, Table]:
        """The three tables."""
        graphs = {key: [graph[key] for graph in self._graphs] for key in self._graphs[0]}
        return {
            "graph_captures": schema.GRAPH_CAPTURES.build(**graphs),
            "captured_launches": schema.CAPTURED_LAUNCHES.build(**_joined(self._launches)),
            "captured_calls": schema.CAPTURED_CALLS.build(**_joined(self._calls)),
        }

    def _described(
        self, source: CaptureSource, trace: Trace, links: Array, row: Ints
    ) -> dict[str, int]:
        """A row of ``graph_captures``: what the list says, else the annotation around it."""
        batch, mode = source.batch, source.mode
        around = int(row[0]) if len(row) else NONE
        while around >= 0 and (batch < 0 or not mode):
            if trace["spans"]["role"][around] == Role.ANNOTATION:
                told = _ANNOTATED.match(trace.strings[int(trace["spans"]["name"][around])])
                if told:
                    batch = int(told[1]) if batch < 0 else batch
                    mode = mode or told[2] or ""
            around = int(links[around])
        return {
            "file": self._strings.intern(source.name) if source.name else NONE,
            "batch": batch,
            "mode": self._strings.intern(mode) if mode else NONE,
        }

    def _texts(self, trace: Trace, calls: Ints, row: Ints) -> dict[str, Array]:
        """Texts of calls, and kernels of launches, as numbers of our own strings."""
        arguments, launches = trace["operator_args"], trace["launch_args"]
        at = positions_of(arguments["span"], calls)
        columns = {"name": trace["spans"]["name"][calls]} | {
            key: np.append(arguments[key], np.int32(NONE))[at] for key in _TEXTS
        }
        kernel = np.append(launches["kernel"], np.int32(NONE))
        columns["kernel"] = kernel[positions_of(launches["span"], row)]
        used = distinct(np.concatenate(list(columns.values())), trace.strings)
        own = np.full(len(trace.strings) + 1, NONE, np.int32)
        own[used] = self._strings.intern_all([trace.strings[number] for number in used])
        return {key: own[column] for key, column in columns.items()}


def scopes_of(annotation: str) -> tuple[str, ...]:
    """The scopes that the annotation of a node names, outermost first.

    ::

        layers.0.attention               ─▶ layers ▸ layers.0 ▸ layers.0.attention
        ["forward", {"name": "linear"}]  ─▶ forward ▸ linear
    """
    listed = json_list(annotation)
    if listed is not None:
        named = [scope.get("name") if isinstance(scope, dict) else scope for scope in listed]
        return tuple(str(scope) for scope in named if scope is not None)[:_DEEPEST]
    if _DOTTED.fullmatch(annotation):
        return tuple(accumulate(annotation.split(".", _DEEPEST - 1), "{}.{}".format))
    return (annotation,) if annotation else ()


def _joined(parts: list[dict[str, Array]]) -> dict[str, Array]:
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _find_launches(trace: Trace, own: bool) -> tuple[Ints, Ints, Ints] | None:
    """``(row, graph, begin)``: launches that were captured, ascending, the number of their capture,
    and the begin of every capture, ns; None without any.
    """
    spans = trace["spans"]
    calls = np.flatnonzero(spans["role"] == Role.RUNTIME)
    begins, ends = capture_marks(trace, calls)
    begin, end, track = _ranges(trace, calls[begins], calls[ends])
    launches = mask_of(spans.n, trace["launch_args"]["span"])
    launches[calls[_role_of_launch(trace, calls) != Role.KERNEL]] = True
    row = calls[launches[calls]]
    # What ran was not captured, such as work of another stream.
    ran = spans["correlation"][device_rows(trace)]
    row = row[~np.isin(spans["correlation"][row], ran[ran > 0])]
    graph = _range_of(spans["start"][row], spans["track"][row], begin, end, track)
    row, graph = row[graph >= 0], graph[graph >= 0]
    flowing = unique_values(captured_at(trace)) if own else row[:0]
    flowing = np.setdiff1d(flowing[flowing >= 0], row)
    if len(flowing):
        at = _range_of(spans["start"][flowing], spans["track"][flowing], begin, end, track)
        # Captures of databases may have no begin: then they are one, and all callers are kept.
        begin = np.append(begin, np.iinfo(np.int64).min)
        row = np.concatenate((row, flowing))
        graph = np.concatenate((graph, np.where(at >= 0, at, len(begin) - 1)))
        order = np.argsort(row, kind="stable")
        row, graph = row[order], graph[order]
    if not len(row):
        return None
    used, graph = np.unique(graph, return_inverse=True)
    return row, graph.astype(np.int64), begin[used]


def _role_of_launch(trace: Trace, row: Ints) -> Array:
    """What each of some runtime calls would launch: a copy, a memset, else a kernel."""
    copies, sets = named(trace, row, _COPY.match), named(trace, row, _SET.match)
    return np.where(copies, Role.MEMCPY, np.where(sets, Role.MEMSET, Role.KERNEL)).astype(np.uint8)


def _ranges(trace: Trace, begins: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Begin, end (ns) and track of every capture that ends on its thread, by begin."""
    start, track = trace["spans"]["start"], trace["spans"]["track"]
    marks = sorted(
        [(int(track[row]), int(start[row]), 0) for row in begins]
        + [(int(track[row]), int(start[row]), 1) for row in ends]
    )
    found = sorted(
        (a[1], b[1], a[0]) for a, b in pairwise(marks) if a[0] == b[0] and a[2] == 0 and b[2] == 1
    )
    columns = np.array(found, np.int64).reshape(-1, 3)
    return columns[:, 0], columns[:, 1], columns[:, 2]


def _range_of(start: Ints, track: Array, begin: Ints, end: Ints, on: Ints) -> Ints:
    """The capture during which each call began, of its own thread where that captures; −1 none."""
    found = window_at(begin, end, start).astype(np.int64)
    for thread in unique_values(on) if len(unique_values(on)) > 1 else ():
        own, here = np.flatnonzero(on == thread), np.flatnonzero(track == thread)
        last = window_at(begin[own], end[own], start[here])
        found[here[last >= 0]] = own[last[last >= 0]]
    return found


def _calls_around(
    trace: Trace, links: Array, row: Ints, graph: Ints, begin: Ints
) -> tuple[Ints, dict[str, Array], Ints]:
    """The calls within captures around launches, rows of spans, ascending, with their columns but texts; and for each launch the
    innermost one, −1 none.
    """
    spans, tree = trace["spans"], call_tree(trace)
    start = spans["start"]
    role = spans["role"].copy()
    node = tree.row[tree.kept & (role[tree.row] != Role.RUNTIME)]
    calls = np.zeros(spans.n + 1, np.bool_)
    calls[:-1] = role == Role.PYTHON
    calls[node] = True
    operator = mask_of(spans.n, tree.row[tree.is_operator])
    role[is_call(role) & ~operator] = Role.ANNOTATION
    above = np.full(spans.n + 1, NONE, np.int64)
    above[:-1] = links
    innermost = np.full(len(row), NONE, np.int64)
    outer = np.full(spans.n + 1, NONE, np.int64)
    lower, inner, since = np.arange(len(row)), np.full(len(row), NONE), begin[graph]
    at = above[row]
    used = [at[:0]]
    while len(at):
        inside = (at >= 0) & (start[at] >= since)
        at, inner, lower, since = at[inside], inner[inside], lower[inside], since[inside]
        kept = calls[at]
        first = kept & (inner < 0)
        innermost[lower[first]] = at[first]
        outer[inner[kept & (inner >= 0)]] = at[kept & (inner >= 0)]
        used.append(unique_values(at[kept]))
        inner = np.where(kept, at, inner)
        # Those that have met go on as one.
        alike = np.where(inner >= 0, inner * spans.n + at, -1 - lower)
        going = np.unique(alike, return_index=True)[1]
        at, inner, lower, since = above[at[going]], inner[going], lower[going], since[going]
    rows = unique_values(np.concatenate(used))
    position = places_in(spans.n + 1, rows)
    parent = position[outer[rows]]
    return rows, {"parent": parent, "role": role[rows]}, position[innermost]
