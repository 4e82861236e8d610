"""Everything that a recording names, once per choice of steps: rows of tables that are there already, in the order of an answer.

No event is read for a question: operators, kernels, calls, modules and ranges are sums of the facts, lines and functions those of
the critical path, and the events of a name are counted once per trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

import numpy as np

from torch_tb_profiler.analysis.api_calls.calls import call_table, calls_of
from torch_tb_profiler.analysis.api_calls.launches import launches_of
from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.critical_path.table import PathGroup, event_table
from torch_tb_profiler.analysis.figures.kernels import kernel_rows, short_name
from torch_tb_profiler.analysis.figures.operators import operator_rows, operators_have_device_time
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.source_lines import OWN, line_ranks, shown_frames
from torch_tb_profiler.analysis.memory.live_memory import live_memory_at
from torch_tb_profiler.analysis.module.modules import module_sums, module_tree
from torch_tb_profiler.analysis.module.table import module_table
from torch_tb_profiler.analysis.ranges.table import range_table
from torch_tb_profiler.analysis.what_if.table import preset_table
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import unique_values
from torch_tb_profiler.store.display import DisplayTable, listed
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.views.ask.table import KINDS, Row, address, exactly, kind_name
from torch_tb_profiler.views.definitions import definitions
from torch_tb_profiler.views.findings.wire import Finding

SECTIONS = {
    "overview": "Overview",
    "diff": "Diff",
    "trace": "Trace",
    "critical_path": "Critical Path",
    "steps": "Steps",
    "distributed": "Distributed",
    "iterations": "Iterations",
    "operator": "Operator",
    "module": "Module",
    "lines": "Lines",
    "api_calls": "API Calls",
    "efficiency": "Operator and shape",
    "kernel": "Kernel",
    "counters": "Counters",
    "memory": "Memory",
    "sql": "SQL",
    "diagnosis": "Files",
}
"""Id and label of each section of the page."""
_ALSO = {"diff": "compare comparison changed", "diagnosis": "diagnosis", "steps": "why slow odd"}
MOST_NAMES = 100_000
"""Rows of a table that are looked through, those that cost most."""
_FIRST = slice(0, MOST_NAMES)
MOST_COMPARED = 4000
"""Words that a misspelt one is compared with, those of what costs most."""
_MODULE = "nn.Module: "
_ASKING = regex("what|which|who|where|is|are|the|a|of|it|held|holds|most|costs|takes|time")
"""Words of questions that name nothing."""
_WORD = regex(r"[^\W_]{3,40}")
COSTS = ("line", "operator", "kernel", "call", "module", "range", "function", "memory")
"""Kinds of rows that are ordered by what they cost; others are in their order already."""
_GROUPS = (("finding",), COSTS, ("what_if",))
_ORDER = {kind: place for place, kinds in enumerate(_GROUPS) for kind in kinds}


class Names:
    """Rows that can be found, the most important first."""

    def __init__(self, rows: Sequence[Row]) -> None:
        def order(row: Row) -> tuple[int, int, int]:
            path, time = row.cost if row.kind in COSTS else (0, 0)
            return place_in(row), -path, -time

        self.rows = sorted(rows, key=order)
        self._keys = [folded(row) for row in self.rows]

    def found(self, text: str) -> list[Row]:
        """The rows that hold every word of a text, in their order."""
        words = words_of(text)
        found = zip(self.rows, self._keys, strict=True)
        return [row for row, key in found if all(word in key for word in words)]

    def nearest(self, text: str) -> tuple[str, list[Row]]:
        """The word of some name that is most like a text, and the rows that have it; nothing where none is alike."""
        words: dict[str, list[Row]] = {}
        for row in self.rows[:MOST_COMPARED]:
            for word in dict.fromkeys(_WORD.findall((row.label or row.name).casefold())):
                words.setdefault(word, []).append(row)
        near = get_close_matches(text.casefold(), list(words)[:MOST_COMPARED], 1)
        return (near[0], words[near[0]]) if near else ("", [])


def words_of(question: str) -> list[str]:
    """The words of a question, without those that only ask."""
    words = question.casefold().rstrip("?").split()
    return [word for word in words if not _ASKING.fullmatch(word)] or words


def kind_in(question: str) -> str:
    """The kind of rows that a question names and nothing else; empty where it names none."""
    word = " ".join(words_of(question))
    return next((kind for kind in KINDS if kind_name(kind).casefold() in (word, word[:-1])), "")


def in_order(rows: Iterable[Row], question: str) -> list[Row]:
    """Rows by their places in an answer. Where a kind is asked for, those of the kind, and what else has its name."""
    kind = kind_in(question)
    if kind:
        same = kind_name(kind).casefold()
        rows = [
            row
            for row in rows
            if row.kind == kind or (row.label or row.name).casefold().removesuffix("s") == same
        ]
    return sorted(rows, key=lambda row: (row.kind != kind, place_in(row)))


def place_in(row: Row) -> int:
    """The place of its kind in an answer."""
    return _ORDER.get(row.kind, len(_GROUPS) + KINDS.index(row.kind))


def folded(row: Row) -> str:
    """What a row is found by."""
    texts = (kind_name(row.kind), row.name, row.label, row.words)
    return "\n".join(texts).casefold()


def names_of(
    trace: Trace, facts: Facts, insight: Insight, findings: Sequence[Finding], selection: Selection
) -> Iterator[Row]:
    """Everything of a trace, with its time in the selected steps."""
    yield from _findings(findings)
    on_path = {by: _times(event_table(facts, insight, selection, by)) for by in _PATH_GROUPS}
    yield from _lines(trace, facts, on_path["line"])
    kernels, launches = kernel_rows(facts, selection, "name"), launches_of(trace, facts, selection)
    calls = call_table(trace, facts, selection, calls_of(trace, facts, selection), launches)
    told: set[str] = set()
    for row in (
        *_work("operator", "operator", *_operators(facts, selection), on_path["operator"]),
        *_work("kernel", "kernel", kernels, "total_ns", on_path["event"]),
        *_work("call", "api_calls", calls, "total_ns", on_path["event"]),
    ):
        told.add(row.name)
        yield row
    for name, time in on_path["event"].items():
        if name not in told:
            label, more = place_of(name)
            link = address("critical_path", by="event", **exactly(name))
            yield Row("function", name, label, more, time_ns=time, path_ns=time, to=link)
    yield from _modules(facts, insight, selection)
    yield from _ranges(facts, insight, selection)
    yield from _memory(insight)
    yield from _changes(facts, insight, selection)
    for key, label in SECTIONS.items():
        yield Row("section", label, words=f"{key} {_ALSO.get(key, '')}", to=address(key))
    for entry in definitions():
        yield Row("word", entry.label, more=entry.text, words=entry.key)


_PATH_GROUPS: tuple[PathGroup, ...] = ("line", "operator", "event")


def place_of(name: str) -> tuple[str, str]:
    """What people call a name, and what follows: ``train.py:12``, ``main`` of a frame; a kernel without its types."""
    frame = PythonFrame.of(name)
    if frame is None:
        return short_name(name.removeprefix(_MODULE)), ""
    if frame.line is None or not frame.is_source:
        return frame.short if frame.is_source else frame.function, ""
    return frame.place, frame.function


def _times(table: DisplayTable) -> dict[str, int]:
    """Time on the path by name."""
    times = zip(table.texts("name"), table["path_ns"].tolist(), strict=True)
    return {name: time for name, time in times if name}


def _findings(findings: Sequence[Finding]) -> Iterator[Row]:
    for one in findings:
        saved = one.recoverable_ns
        texts = (one.title, one.sentence, one.fact, one.line or "", one.rule)
        yield Row(
            "finding",
            one.action or one.title,
            more=one.often,
            change_ns=-saved if saved is not None else None,
            to=address(one.views[0] if one.views and saved is None else "overview"),
            words="\n".join((*texts, *(event.label for event in one.evidence))),
        )


def _lines(trace: Trace, facts: Facts, on_path: dict[str, int]) -> Iterator[Row]:
    """The lines of the path, and the others of the user's own program."""
    for name, time in on_path.items():
        yield _line(name, time)
    frames = unique_values(facts["stacks"]["frame"])
    shown = unique_values(shown_frames(facts, frames))
    own = shown[line_ranks(facts.strings, shown)[shown] == OWN]
    for name in facts.strings.many(own[:MOST_NAMES]):
        if name not in on_path:
            yield _line(name, 0)


def _line(name: str, time: int) -> Row:
    label, more = place_of(name)
    link = address("lines", **exactly(name))
    return Row("line", name, label, more, time_ns=time, path_ns=time, to=link)


def _operators(facts: Facts, selection: Selection) -> tuple[DisplayTable, str]:
    """The operators, and which column holds the time that an answer gives for each."""
    time = "device_self_ns" if operators_have_device_time(facts) else "host_self_ns"
    return operator_rows(facts, selection, "name"), time


def _work(
    kind: str, view: str, table: DisplayTable, time: str, on_path: dict[str, int]
) -> Iterator[Row]:
    """The rows of a table that have a name."""
    first = table.take(_FIRST)
    calls, times = (first[key].tolist() for key in ("calls", time))
    for name, many, ns in zip(first.texts("name"), calls, times, strict=True):
        if name:
            label, path = short_name(name) if kind == "kernel" else "", on_path.get(name, 0)
            link = address(view, **exactly(name))
            yield Row(kind, name, label, "", many, ns, path, to=link)


def _modules(facts: Facts, insight: Insight, selection: Selection) -> Iterator[Row]:
    tree = module_tree(insight)
    if not len(tree.parent):
        return
    table = module_table(facts, insight, tree, module_sums(insight, tree, selection))
    side = "device" if facts.summary.has_device else "host"
    time = table[f"forward_{side}_total_ns"] + table[f"backward_{side}_total_ns"]
    rows = np.argsort(-time, kind="stable")[:MOST_NAMES].tolist()
    paths, names, kinds = (table.texts(key) for key in ("path", "name", "kind"))
    for row in rows:
        name, path = names[row] or "", paths[row] or ""
        link = address("module", **exactly(name))
        many = int(table["calls"][row])
        calls = many if many >= 0 else None
        yield Row("module", path, name, kinds[row] or "", calls, int(time[row]), to=link)


def _ranges(facts: Facts, insight: Insight, selection: Selection) -> Iterator[Row]:
    table = range_table(facts, insight, selection).take(_FIRST)
    columns = (listed(table[key]) for key in ("calls", "host_ns", "device_ns", "path_ns"))
    for name, calls, host, device, path in zip(table.texts("name"), *columns, strict=True):
        if name:
            time = device if device is not None and device > 0 else host
            known = None if time is None or time < 0 else int(time)
            link = address("critical_path", **exactly(name))
            on_path = int(path) if path is not None and path > 0 else 0
            yield Row("range", name, calls=int(calls), time_ns=known, path_ns=on_path, to=link)


def _memory(insight: Insight) -> Iterator[Row]:
    """What holds the memory at the peak of the device that allocated most: lines, of blocks without one operators."""
    devices = insight["memory_devices"]
    if not devices.n:
        return
    held = live_memory_at(insight, int(devices["peak"].argmax()), None)
    where = np.where(
        held.line >= 0, held.line, np.where(held.operator >= 0, held.operator, held.module)
    )
    each, group = np.unique(where, return_inverse=True)
    size, count = sum_by(group, len(each), held.bytes), sum_by(group, len(each), held.count)
    for number, own, many in zip(each.tolist(), size.tolist(), count.tolist(), strict=True):
        if number >= 0 and own > 0:
            name = insight.strings[number]
            label, more = place_of(name)
            blocks = many if many > 0 else None
            yield Row("memory", name, label, more, blocks, bytes=own, to=address("memory"))


def _changes(facts: Facts, insight: Insight, selection: Selection) -> Iterator[Row]:
    """The usual changes, with what they would save; those that save nothing without."""
    from torch_tb_profiler.analysis.what_if.changes import PRESETS, read_change

    saves = preset_table(facts, insight, selection) if facts["steps"].n else None
    saved = (
        dict(zip(saves.texts("change"), listed(saves["saved_ns"]), strict=True)) if saves else {}
    )
    for text in PRESETS:
        change, ns = str(read_change(text)), saved.get(text)
        link = address("critical_path", what_if=change)
        words = read_change(text).words
        told = None if ns is None or ns != ns else -round(ns)
        yield Row("what_if", change, words, change_ns=told, to=link)
