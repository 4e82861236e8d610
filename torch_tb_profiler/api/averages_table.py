"""The table of averages as PyTorch 2.13 prints it (``torch/autograd/profiler_util.py``,
``_build_table``), character for character; also its swapped headings of FLOPs and stacks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch_tb_profiler.api.average import Average, TimeUnit, time_text

_WIDTH, _GAP = 12, 2
_MARGIN = 4
"""Characters that a text column is wider than its longest text."""
_CUT = 3
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
_UNITS = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"))


@dataclass(frozen=True)
class Options:
    """Arguments of ``table`` except the sort key; None and a negative row limit mean unlimited."""

    row_limit: int = 100
    max_src_column_width: int | None = 75
    max_name_column_width: int | None = 55
    max_shapes_column_width: int | None = 80
    header: str | None = None
    top_level_events_only: bool = False
    time_unit: TimeUnit | None = None


class _Column(NamedTuple):
    heading: str
    width: int
    to: str = ">"


@dataclass(frozen=True)
class _Shown:
    """Optional columns, their widths (None: no such column), and what shares are of."""

    device: str
    """Heading of device times; empty without any."""
    device_memory: str
    memory: bool
    overloads: bool
    name_width: int
    shapes_width: int | None
    stack_width: int | None
    flops_scale: float
    """0: no such column."""
    flops_unit: str
    cpu_total: float
    device_total: float


def averages_table(rows: Sequence[Average], memory: bool, flops: bool, options: Options) -> str:
    """The table of ordered rows; ``memory`` and ``flops``: whether these were recorded."""
    if not rows:
        return ""
    shown = _shown(rows, memory, flops, options)
    columns = _columns(shown)
    line = "".join("{: " + column.to + str(column.width) + "}" + " " * _GAP for column in columns)
    rule = "".join("-" * column.width + " " * _GAP for column in columns)
    double = "=" * (len(rule) - _GAP)
    text = [] if options.header is None else [double, options.header]
    if options.top_level_events_only:
        text += [double, "This report only display top-level ops statistics"]
    text += [rule, line.format(*(column.heading for column in columns)), rule]
    left = options.row_limit
    for row in rows:
        if left == 0:
            break
        if options.top_level_events_only and row.cpu_parent is not None:
            continue
        left -= 1
        text.append(line.format(*_cells(row, shown, options)))
        text += [
            line.format(*[""] * (len(columns) - 1), entry) for entry in _more_frames(row, shown)
        ]
    text += [rule, f"Self CPU time total: {time_text(shown.cpu_total, options.time_unit)}"]
    if shown.device:
        text.append(
            f"Self {shown.device} time total: {time_text(shown.device_total, options.time_unit)}"
        )
    return "".join(f"{part}\n" for part in text)


def _shown(rows: Sequence[Average], memory: bool, flops: bool, options: Options) -> _Shown:
    device = next((row.use_device.upper() for row in rows if row.use_device), "")
    timed = any(row.self_device_time_total > 0 for row in rows)
    sized = memory and any(row.self_device_memory_usage > 0 for row in rows)
    entries = [entry for row in rows for entry in row.stack]
    counted = [row.flops for row in rows if row.flops > 0] if flops else []
    scale, unit = _flops_scale(min(counted)) if counted else (0.0, "")
    return _Shown(
        device=device if timed else "",
        device_memory=device if sized else "",
        memory=memory,
        overloads=any(row.overload_name for row in rows),
        name_width=_width((row.key for row in rows), options.max_name_column_width),
        shapes_width=_width(
            (str(row.input_shapes) for row in rows), options.max_shapes_column_width
        )
        if any(row.input_shapes for row in rows)
        else None,
        stack_width=_width(entries, options.max_src_column_width) if entries else None,
        flops_scale=scale,
        flops_unit=unit,
        cpu_total=_added(row.self_cpu_time_total for row in rows),
        device_total=_added(
            row.self_device_time_total
            for row in rows
            if row.on_device and not row.is_user_annotation
        ),
    )


def _columns(shown: _Shown) -> list[_Column]:
    columns = [_Column("Name", shown.name_width)]
    if shown.overloads:
        columns.append(_Column("Overload Name", shown.name_width))
    headings = ["Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    if shown.device:
        headings += [
            f"Self {shown.device}",
            f"Self {shown.device} %",
            f"{shown.device} total",
            f"{shown.device} time avg",
        ]
    if shown.memory:
        headings += ["CPU Mem", "Self CPU Mem"]
    if shown.device_memory:
        headings += [f"{shown.device_memory} Mem", f"Self {shown.device_memory} Mem"]
    columns += [_Column(heading, _WIDTH) for heading in (*headings, "# of Calls")]
    if shown.shapes_width is not None:
        columns.append(_Column("Input Shapes", shown.shapes_width))
    if shown.stack_width is not None:
        columns.append(_Column("Source Location", shown.stack_width, "<"))
    if shown.flops_scale:
        columns.append(_Column(f"Total {shown.flops_unit}", _WIDTH))
    return columns


def _cells(row: Average, shown: _Shown, options: Options) -> list[str | int]:
    unit = options.time_unit
    cells: list[str | int] = [_named(row.key, options.max_name_column_width)]
    if shown.overloads:
        cells.append(_named(row.overload_name, options.max_name_column_width))
    cells += [
        _share(row.self_cpu_time_total, shown.cpu_total),
        time_text(row.self_cpu_time_total, unit),
        0 if row.is_async else _share(row.cpu_time_total, shown.cpu_total),
        time_text(row.cpu_time_total, unit),
        time_text(row.cpu_time, unit),
    ]
    if shown.device:
        cells += [
            time_text(row.self_device_time_total, unit),
            _share(row.self_device_time_total, shown.device_total),
            time_text(row.device_time_total, unit),
            time_text(row.device_time, unit),
        ]
    if shown.memory:
        cells += [_bytes(row.cpu_memory_usage), _bytes(row.self_cpu_memory_usage)]
    if shown.device_memory:
        cells += [_bytes(row.device_memory_usage), _bytes(row.self_device_memory_usage)]
    cells.append(row.count)
    if shown.shapes_width is not None:
        cells.append(str(row.input_shapes)[: shown.shapes_width])
    if shown.flops_scale:
        cells.append(f"{row.flops * shown.flops_scale:8.3f}" if row.flops > 0 else "--")
    if shown.stack_width is not None:
        cells.append(_end_of(row.stack[0], shown.stack_width) if row.stack else "")
    return cells


def _more_frames(row: Average, shown: _Shown) -> list[str]:
    """The last column of the lines below a row: its other frames, and an empty line."""
    return (
        []
        if shown.stack_width is None
        else [*(_end_of(frame, shown.stack_width) for frame in row.stack[1:]), ""]
    )


def _width(texts: Iterable[str], most: int | None) -> int:
    width = max(map(len, texts)) + _MARGIN
    return width if most is None else min(width, most)


def _added(values: Iterable[float]) -> float:
    """Left to right: what ``sum`` does depends on the version of Python."""
    total = 0.0
    for value in values:
        total += value
    return total


def _flops_scale(least: int) -> tuple[float, str]:
    """The unit in which the smallest figure is at least 1."""
    step = int(max(0.0, min(math.log10(least) / 3, len(_FLOPS) - 1.0)))
    return pow(10, step * -3.0), _FLOPS[step]


def _named(name: str, most: int | None) -> str:
    return name if most is None or len(name) < most - _CUT else name[: most - _CUT] + "..."


def _end_of(frame: str, width: int) -> str:
    if len(frame) <= width:
        return frame
    end = frame[len(frame) - width :]
    return "..." + end[_CUT:] if len(end) > _CUT else end


def _share(us: float, total: float) -> str:
    return f"{us * 100.0 / total:.2f}%" if total else "NaN"


def _bytes(size: int) -> str:
    for unit, name in _UNITS:
        if abs(size) >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} B"
