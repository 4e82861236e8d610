"""PyProf's dictionaries of kernels ⇄ cells of the kernel table.

A line is a Python literal and JSON alike: texts, integers and lists alone. It has PyProf's keys, and
behind them the columns that PyProf computes from its markers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.pyprof.net_dict import listed_work
from torch_tb_profiler.store.kernel_line import KernelLine
from torch_tb_profiler.views.work.pyprof import Cell
from torch_tb_profiler.views.work.pyprof_columns import BETWEEN_LINES

UNKNOWN = "na"
"""What stands for an unknown value in a line; ``None`` is no JSON and ``null`` no Python."""


def line_of(row: Mapping[str, Cell]) -> dict[str, object]:
    """The dictionary of a row of the kernel table, by the words of its columns."""

    def or_unknown(key: str) -> int | str:
        cell = row[key]
        return UNKNOWN if cell is None else cell

    def listed(key: str, between: str) -> list[int | str]:
        cell = row[key]
        if cell is None:
            return []
        return [_number(part) for part in str(cell).split(between)]

    operator, sequence = listed("op", "\0"), listed("seq", ",")
    marker = f"{operator[0] if operator else ''}{'Backward' if row['dir'] == 'bprop' else ''}"
    return {
        "kShortName": short_name(str(row["kernel"])),
        "kDuration": or_unknown("sil"),
        "layer": listed("layer", "\0"),
        "trace": listed("trace", BETWEEN_LINES),
        "reprMarkers": [],
        "marker": [],
        "seqMarker": [f"{marker}, seq = {number}" for number in sequence],
        "seqId": sequence,
        "subSeqId": or_unknown("sub"),
        "altSeqId": listed("altseq", ","),
        "dir": row["dir"] or "",
        "mod": listed("mod", "\0"),
        "op": operator,
        "tid": _number(str(or_unknown("tid"))),
        "device": or_unknown("device"),
        "stream": or_unknown("stream"),
        "grid": listed("grid", ","),
        "block": listed("block", ","),
        "kLongName": or_unknown("kernel"),
        "idx": or_unknown("idx"),
        "params": or_unknown("params"),
        "tc": or_unknown("tc"),
        "flops": or_unknown("flops"),
        "bytes": or_unknown("bytes"),
    }


def _number(text: str) -> int | str:
    short = text.isascii() and text.isdecimal() and len(text) <= 18
    return int(text) if short and text == str(int(text)) else text


class ListedCells:
    """The cells of the kernels that a file of dictionaries lists; like ``KernelCells``."""

    def __init__(self, lines: Sequence[KernelLine]) -> None:
        self.rows = len(lines)
        works = listed_work(lines)
        shown = [work.source for work in works]
        self._columns: dict[str, list[Cell]] = {
            "idx": [line.index if line.index > 0 else i + 1 for i, line in enumerate(lines)],
            "seq": [_one(line.sequence) for line in lines],
            "altseq": [",".join(map(str, line.others)) or None for line in lines],
            "tid": [line.thread or None for line in lines],
            "layer": [source.layer or None for source in shown],
            "trace": [BETWEEN_LINES.join(source.trace) or None for source in shown],
            "dir": [line.direction or None for line in lines],
            "sub": [_known(line.sub) for line in lines],
            "mod": [source.module or None for source in shown],
            "op": [source.operator or None for source in shown],
            "kernel": [line.name for line in lines],
            "params": [work.params or None for work in works],
            "sil": [line.dur for line in lines],
            "tc": [work.cores or None for work in works],
            "device": [_known(line.device) for line in lines],
            "stream": [_known(line.stream) for line in lines],
            "grid": [line.grid or None for line in lines],
            "block": [line.block or None for line in lines],
            "flops": [_known(work.flops) for work in works],
            "bytes": [_known(work.bytes) for work in works],
        }

    def column(self, key: str, begin: int, end: int) -> list[Cell]:
        """Cells of a column for rows ``begin`` to ``end``, exclusive; None where unknown."""
        return self._columns[key][begin:end]


def _known(number: int) -> int | None:
    return number if number >= 0 else None


def _one(numbers: tuple[int, ...]) -> Cell:
    return numbers[0] if len(numbers) == 1 else ",".join(map(str, numbers)) or None
