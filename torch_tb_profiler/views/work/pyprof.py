"""The cells of PyProf's kernel table: its twenty columns, and the value of each for a run of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked
from torch_tb_profiler.analysis.facts.host_names import EVALUATE
from torch_tb_profiler.analysis.figures.source_lines import is_user_code, line_of_frames
from torch_tb_profiler.analysis.module.table import instance_and_class
from torch_tb_profiler.analysis.pyprof.directions import Direction
from torch_tb_profiler.analysis.pyprof.parameters import parameters
from torch_tb_profiler.analysis.pyprof.sources import LAYER
from torch_tb_profiler.analysis.pyprof.table import KernelTable, MatrixCores
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.views.work.pyprof_columns import BETWEEN_LINES, COLUMNS

Cell = int | str | None
PYPROF = DisplaySpec(
    "pyprof",
    "PyProf's table: one row per kernel launch, in time order; defined in `docs/definitions.md`.",
    tuple(DisplayColumn(**column._asdict(), optional=True) for column in COLUMNS.values()),
)
MOST_LINES = 100
"""Lines of a call trace, the innermost ones; only a recursion has more."""
_DIRECTIONS: dict[int, str | None] = {
    Direction.FORWARD: "fprop",
    Direction.BACKWARD: "bprop",
    Direction.UNKNOWN: None,
}
_MATRIX_CORES: dict[int, str | None] = {
    MatrixCores.NOT_USED: "0",
    MatrixCores.USED: "1",
    MatrixCores.UNKNOWN: None,
    MatrixCores.NOT_APPLICABLE: "-",
}
_FRAME = regex(r"(?P<file>.+)\((?P<line>\d+)\)(?:: .*)?", re.DOTALL)
_BACKWARD = regex(r"(?<=\w)Backward\d*$")
_DOTTED = regex(r"[A-Za-z_]\w*(?:\.\w+)+")


class KernelCells:
    """The cells of a table, made on request; each distinct text once."""

    def __init__(self, trace: Trace, insight: Insight, table: KernelTable) -> None:
        self.rows = len(table.row)
        self._trace, self._insight, self._table = trace, insight, table
        self._known: dict[str, dict[int, str | None]] = {}
        spans = trace["spans"]
        self._numbers = len(trace.strings)
        # Numbers beyond the strings are names of ranges, which are not parsed as operators.
        names = np.where(
            (spans["role"] == Role.OPERATOR) | (spans["name"] < 0),
            spans["name"],
            spans["name"].astype(np.int64) + self._numbers,
        )
        thread = picked(trace["tracks"]["tid"], table.track)
        called, launched = np.append(names, -1)[table.call], spans["name"][table.row]
        self._makers: dict[str, Callable[[int, int], list[Cell]]] = {
            "idx": lambda begin, end: list(range(begin + 1, end + 1)),
            "altseq": self._other_sequences,
            "trace": self._call_traces,
            "layer": self._layers,
            "seq": self._integers(table.directions.sequence),
            "sub": self._integers(table.sub),
            "sil": self._integers(table.dur),
            "device": self._integers(table.device),
            "stream": self._integers(table.stream),
            "flops": self._integers(table.flops),
            "bytes": self._integers(table.bytes),
            "tid": self._texts("tid", thread, trace.strings.__getitem__),
            "dir": self._texts("dir", table.directions.direction, _DIRECTIONS.__getitem__),
            "tc": self._texts("tc", table.tensor_cores, _MATRIX_CORES.__getitem__),
            "mod": self._texts("mod", called, lambda number: self._call(number)[0]),
            "op": self._texts("op", called, lambda number: self._call(number)[1]),
            "kernel": self._texts("kernel", launched, trace.strings.__getitem__),
            "params": self._texts("params", table.workload, partial(parameters, table.work)),
            "grid": self._texts("grid", table.grid, self._triple),
            "block": self._texts("block", table.block, self._triple),
        }

    def column(self, key: str, begin: int, end: int) -> list[Cell]:
        """Cells of a column for rows ``begin`` to ``end``, exclusive; None where unknown."""
        return self._makers[key](begin, min(end, self.rows))

    def _integers(self, values: Array) -> Callable[[int, int], list[Cell]]:
        return lambda begin, end: [
            value if value >= 0 else None for value in values[begin:end].tolist()
        ]

    def _texts(
        self, key: str, numbers: Array, make: Callable[[int], str | None]
    ) -> Callable[[int, int], list[Cell]]:
        return lambda begin, end: self._made(key, numbers[begin:end], make)

    def _made(self, key: str, numbers: Array, make: Callable[[int], str | None]) -> list[Cell]:
        """Texts of numbers by ``make``, None for −1."""
        known = self._known.setdefault(key, {-1: None})
        listed = numbers.tolist()
        for number in set(listed).difference(known):
            known[number] = make(number)
        return [known[number] for number in listed]

    def _other_sequences(self, begin: int, end: int) -> list[Cell]:
        bounds = self._table.directions.other[begin : end + 1].tolist()
        numbers = self._table.directions.others
        return [
            ",".join(map(str, numbers[a:b].tolist())) if b > a else None
            for a, b in pairwise(bounds)
        ]

    def _call_traces(self, begin: int, end: int) -> list[Cell]:
        sources = self._table.sources
        lines = self._made("trace", sources.stack[begin:end], self._lines)
        written = self._made(
            "written",
            sources.written[begin:end],
            lambda number: written_call_trace(self._trace.strings[number]),
        )
        return [
            line if line is not None else text for line, text in zip(lines, written, strict=True)
        ]

    def _lines(self, stack: int) -> str | None:
        frames: list[str] = []
        while stack >= 0 and len(frames) < MOST_LINES:
            frames.append(self._trace.strings[int(self._table.sources.frame[stack])])
            stack = int(self._table.sources.caller[stack])
        return call_trace(frames)

    def _layers(self, begin: int, end: int) -> list[Cell]:
        sources = self._table.sources
        ranges = self._made(
            "layer",
            sources.layer[begin:end],
            lambda number: self._trace.strings[number].removeprefix(LAYER),
        )
        modules = self._made("module", sources.module[begin:end], self._module)
        return [
            own if own is not None else around for own, around in zip(ranges, modules, strict=True)
        ]

    def _module(self, module: int) -> str:
        names = []
        while module >= 0:
            names.append(
                instance_and_class(
                    self._insight.strings[int(self._table.sources.module_names[module])]
                )[0]
            )
            module = int(self._table.sources.modules[module])
        return ".".join(reversed(names))

    def _call(self, number: int) -> tuple[str | None, str]:
        if number >= self._numbers:
            return None, self._trace.strings[number - self._numbers]
        return module_and_operator(self._trace.strings[number])

    def _triple(self, number: int) -> str:
        return self._trace.strings[number].strip("[] ").replace(" ", "")


def call_trace(frames: Sequence[str]) -> str | None:
    """``file:line -> file:line``, outermost first, of frames ``file(line): function``, innermost
    first; None without frames.
    """
    return BETWEEN_LINES.join(map(file_and_line, reversed(frames))) or None


def written_call_trace(text: str) -> str | None:
    """The call trace of a ``Call stack`` argument: the lines in user code, else the most telling one."""
    frames = [frame for frame in text.strip('"').split(";") if frame]
    own = [
        frame
        for frame in frames
        if (match := _FRAME.fullmatch(frame)) and is_user_code(match["file"])
    ]
    return call_trace(own[:MOST_LINES]) or call_trace(
        [line for line in (line_of_frames("\n".join(frames)),) if line]
    )


def file_and_line(frame: str) -> str:
    """``file(line): function`` → ``file:line``; other texts stay."""
    match = _FRAME.fullmatch(frame)
    return f"{match['file']}:{match['line']}" if match else frame


def module_and_operator(name: str) -> tuple[str | None, str]:
    """``aten::mm`` → ``aten``, ``mm``; ``torch.nn.functional.linear`` → ``torch.nn.functional``,
    ``linear``; another name has no module.

    A function of the graph is named by what it undoes, as PyProf does: ``MulBackward0`` → ``Mul``.
    """
    plain = _BACKWARD.sub("", name.removeprefix(EVALUATE))
    mark = "::" if "::" in plain else "." if _DOTTED.fullmatch(plain) else ""
    module, _, operator = plain.rpartition(mark) if mark else ("", "", plain)
    return module or None, operator
