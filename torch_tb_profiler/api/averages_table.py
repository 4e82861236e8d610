"""The table of averages as PyTorch 2.13 prints it (``torch/autograd/profiler_util.py``,
``_build_table``), character for character; also its swapped headings of FLOPs and stacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
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
    cell: Callable[[Average], str | int]
    width: int = _WIDTH
    to: str = ">"


def averages_table(rows: Sequence[Average], memory: bool, flops: bool, options: Options) -> str:
    """The table of ordered rows; ``memory`` and ``flops``: whether these were recorded."""
    if not rows:
        return ""
    unit = options.time_unit
    device = next((row.use_device.upper() for row in rows if row.use_device), "")
    timed = device if any(row.self_device_time_total > 0 for row in rows) else ""
    cpu_total = _added(row.self_cpu_time_total for row in rows)
    device_total = _added(
        row.self_device_time_total for row in rows if row.on_device and not row.is_user_annotation
    )
    columns = [*_names(rows, options), *_times(cpu_total, unit)]
    if timed:
        columns += _device_times(timed, device_total, unit)
    if memory:
        columns += _sizes("CPU", "cpu")
    if memory and device and any(row.self_device_memory_usage > 0 for row in rows):
        columns += _sizes(device, "device")
    frames = [frame for row in rows for frame in row.stack]
    frame_width = _width(frames, options.max_src_column_width) if frames else 0
    columns += _details(rows, flops, frames, frame_width, options.max_shapes_column_width)
    line = "".join(f"{{: {column.to}{column.width}}}" + " " * _GAP for column in columns)
    rule = "".join("-" * column.width + " " * _GAP for column in columns)
    double = "=" * (len(rule) - _GAP)
    text = [] if options.header is None else [double, options.header]
    if options.top_level_events_only:
        text += [double, "This report only display top-level ops statistics"]
    text += [rule, line.format(*(column.heading for column in columns)), rule]
    shown = (row for row in rows if not options.top_level_events_only or row.cpu_parent is None)
    for row in islice(shown, options.row_limit if options.row_limit >= 0 else None):
        text.append(line.format(*(column.cell(row) for column in columns)))
        # Its other frames, and an empty line.
        below = [*(_end_of(frame, frame_width) for frame in row.stack[1:]), ""] if frames else []
        text += [line.format(*[""] * (len(columns) - 1), frame) for frame in below]
    text += [rule, f"Self CPU time total: {time_text(cpu_total, unit)}"]
    if timed:
        text.append(f"Self {timed} time total: {time_text(device_total, unit)}")
    return "".join(f"{part}\n" for part in text)


def _names(rows: Sequence[Average], options: Options) -> Iterator[_Column]:
    most = options.max_name_column_width
    width = _width((row.key for row in rows), most)
    yield _Column("Name", lambda row: _named(row.key, most), width)
    if any(row.overload_name for row in rows):
        yield _Column("Overload Name", lambda row: _named(row.overload_name, most), width)


def _times(total: float, unit: TimeUnit | None) -> tuple[_Column, ...]:
    return (
        _share("Self CPU %", "self_cpu_time_total", total),
        _time("Self CPU", "self_cpu_time_total", unit),
        _Column(
            "CPU total %", lambda row: 0 if row.is_async else _percent(row.cpu_time_total, total)
        ),
        _time("CPU total", "cpu_time_total", unit),
        _time("CPU time avg", "cpu_time", unit),
    )


def _device_times(device: str, total: float, unit: TimeUnit | None) -> tuple[_Column, ...]:
    return (
        _time(f"Self {device}", "self_device_time_total", unit),
        _share(f"Self {device} %", "self_device_time_total", total),
        _time(f"{device} total", "device_time_total", unit),
        _time(f"{device} time avg", "device_time", unit),
    )


def _sizes(where: str, kind: str) -> tuple[_Column, ...]:
    return (
        _Column(f"{where} Mem", lambda row: _bytes(getattr(row, f"{kind}_memory_usage"))),
        _Column(f"Self {where} Mem", lambda row: _bytes(getattr(row, f"self_{kind}_memory_usage"))),
    )


def _details(
    rows: Sequence[Average],
    flops: bool,
    frames: Sequence[str],
    frame_width: int,
    most_shapes: int | None,
) -> Iterator[_Column]:
    """The columns behind times and sizes. With both, stacks and FLOPs have each other's heading."""
    yield _Column("# of Calls", lambda row: row.count)
    if any(row.input_shapes for row in rows):
        width = _width((str(row.input_shapes) for row in rows), most_shapes)
        yield _Column("Input Shapes", lambda row: str(row.input_shapes)[:width], width)
    counted = [row.flops for row in rows if row.flops > 0] if flops else []
    scale, unit = _flops_scale(min(counted)) if counted else (0.0, "")
    stacks = _Column(
        "Source Location",
        lambda row: _end_of(row.stack[0], frame_width) if row.stack else "",
        frame_width,
        "<",
    )
    totals = _Column(
        f"Total {unit}", lambda row: f"{row.flops * scale:8.3f}" if row.flops > 0 else "--"
    )
    if frames and counted:
        yield stacks._replace(cell=totals.cell)
        yield totals._replace(cell=stacks.cell)
    elif frames or counted:
        yield stacks if frames else totals


def _time(heading: str, name: str, unit: TimeUnit | None) -> _Column:
    return _Column(heading, lambda row: time_text(getattr(row, name), unit))


def _share(heading: str, name: str, total: float) -> _Column:
    return _Column(heading, lambda row: _percent(getattr(row, name), total))


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


def _percent(us: float, total: float) -> str:
    return f"{us * 100.0 / total:.2f}%" if total else "NaN"


def _bytes(size: int) -> str:
    for unit, name in _UNITS:
        if abs(size) >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} B"
