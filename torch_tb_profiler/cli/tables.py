"""``torch-tb-profiler operators`` and ``kernels``: the rows of the DataFrames of the same name, for
a terminal, a review or a script.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.longest import longest_calls, longest_kernels
from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.api import tables
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.cli.cells import NONE, event_id, time
from torch_tb_profiler.cli.document import Column, Document, Item, Kind, Listing, Table
from torch_tb_profiler.cli.output import Report, asked_steps, chosen, place, title
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_bytes, format_count, format_share
from torch_tb_profiler.views.texts import missing

if TYPE_CHECKING:
    from pandas import DataFrame

Cell = Callable[[Any], str]
_GAP = {"operators": "host", "kernels": "device"}
"""What was not recorded where there are none."""

NOTE = "Longest: the id of the longest event. Show it: torch-tb-profiler event PATH ID"


def operators(opened: Opened, settings: Settings, options: argparse.Namespace) -> Report:
    """The operators of a trace.

    Raises:
        BadRequest: there are no such steps, or ``--sort`` names no numeric column.
    """
    found = tables.operators(_one(opened, settings, options), options.by, None)
    found["longest_event"] = (
        _events(found, "name", longest_calls(opened.trace))
        if options.by == "name" and not options.steps
        else None
    )
    device = bool(found["device_self_ns"].notna().any())
    return _told(
        opened,
        options,
        "operators",
        found,
        ("device_self_ns" if device else "host_self_ns"),
        _operator_columns(options.by, device),
    )


def kernels(opened: Opened, settings: Settings, options: argparse.Namespace) -> Report:
    """The kernels of a trace. Raises as ``operators`` does."""
    found = tables.kernels(_one(opened, settings, options), options.by, None)
    found["longest_event"] = (
        _events(found, "name", longest_kernels(opened.trace))
        if options.by == "name" and not options.steps
        else None
    )
    return _told(opened, options, "kernels", found, "total_ns", _kernel_columns(options.by))


def _one(opened: Opened, settings: Settings, options: argparse.Namespace) -> TraceContext:
    chosen(opened, options)
    asked = asked_steps(options)
    bounds = None if asked.first is None or asked.last is None else (asked.first, asked.last)
    return TraceContext(opened, settings, bounds, options.skip_cold)


def _events(frame: DataFrame, key: str, events: Mapping[str, int]) -> list[int | None]:
    return [events.get(name) for name in frame[key].tolist()]


def _told(
    opened: Opened,
    options: argparse.Namespace,
    word: str,
    frame: DataFrame,
    order: str,
    columns: dict[str, tuple[str, Kind, Cell]],
) -> Report:
    by = options.sort or order
    if by not in frame.columns or frame[by].dtype.kind not in "iufIUF":
        numeric = ", ".join(name for name in frame.columns if frame[name].dtype.kind in "iufIUF")
        raise BadRequest(f"--sort {by!r} is no numeric column.", f"Expected one of: {numeric}.")
    shown = frame.sort_values(by, ascending=False, kind="stable", na_position="last").head(
        options.limit
    )
    data = {**place(opened), "rows": len(frame), "sorted_by": by}
    return Report(
        lambda: _document(opened, word, by, frame, shown, columns),
        lambda: {**data, word: _records(shown)},
    )


def _document(
    opened: Opened,
    word: str,
    by: str,
    frame: DataFrame,
    shown: DataFrame,
    columns: dict[str, tuple[str, Kind, Cell]],
) -> Document:
    used = {
        name: how
        for name, how in columns.items()
        if name in shown.columns and (name != "longest_event" or shown[name].notna().any())
    }
    if not len(frame):
        why = [
            Item(f"{gap.what}: {gap.why}", (), "")
            for gap in missing(absent(opened.facts), (_GAP[word],))
        ]
        return Document(
            title(opened),
            (opened.span.path,),
            (Listing(f"No {word}", why or [Item(f"There are no {word} in these steps.", (), "")]),),
        )
    cells = [
        [cell(value) for value in _plain(shown[name].tolist())]
        for name, (_, _, cell) in used.items()
    ]
    head = tuple(Column(label, kind) for label, kind, _ in used.values())
    heading = f"{word.capitalize()} by {by.removesuffix('_ns').replace('_', ' ')}"
    note = NOTE if "longest_event" in used else ""
    return Document(
        title(opened),
        (opened.span.path,),
        (Table(heading, head, list(zip(*cells, strict=True)), len(frame), note),),
    )


def _records(frame: DataFrame) -> list[dict[str, Any]]:
    columns = {str(name): _plain(frame[name].tolist()) for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(values: list[Any]) -> list[Any]:
    """None for what is missing in any of pandas' ways."""
    import pandas

    return [
        None if not isinstance(value, (tuple, list)) and pandas.isna(value) else value
        for value in values
    ]


def _operator_columns(by: str, device: bool) -> dict[str, tuple[str, Kind, Cell]]:
    times = ("device_self_ns", "device_total_ns") if device else ()
    return {
        "name": ("Name", "name", _text),
        **({"input_shapes": ("Input shapes", "below", _below)} if by != "name" else {}),
        "stack": ("Called from", "below", _stack),
        "calls": ("Calls", "number", _count),
        **{
            name: (name.removesuffix("_ns").replace("_", " ").capitalize(), "number", time)
            for name in (*times, "host_self_ns", "host_total_ns")
        },
        "flops": ("FLOPs/call", "number", _flops),
        "bytes": ("Bytes/call", "number", _bytes),
        "longest_event": ("Longest", "number", _event),
    }


def _kernel_columns(by: str) -> dict[str, tuple[str, Kind, Cell]]:
    return {
        "short_name": ("Name", "name", _text),
        "operator": ("Operator", "below", _below),
        "grid": ("Grid", "below", _labelled("grid")),
        "block": ("Block", "below", _labelled("block")),
        "calls": ("Calls", "number", _count),
        **{
            f"{name}_ns": (name.capitalize(), "number", _whole)
            for name in ("total", "mean", "min", "max")
        },
        **({"occupancy": ("Occupancy", "number", _share)} if by == "name" else {}),
        "longest_event": ("Longest", "number", _event),
    }


def _text(value: str | None) -> str:
    return NONE if value is None else value


def _below(value: str | None) -> str:
    return value or ""


def _labelled(word: str) -> Cell:
    return lambda value: "" if value is None else f"{word} {value}"


def _stack(value: tuple[str, ...] | None) -> str:
    """The line that tells most; a terminal has no room for a stack."""
    return line_of_frames("\n".join(value)) if value else ""


def _count(value: int) -> str:
    return f"{value:,}"


def _whole(value: float | None) -> str:
    return time(None if value is None else round(value))


def _share(value: float | None) -> str:
    return NONE if value is None else format_share(value)


def _bytes(value: int | None) -> str:
    return NONE if value is None else format_bytes(value)


def _event(value: float | None) -> str:
    return event_id(None if value is None else int(value))


def _flops(value: int | None) -> str:
    return NONE if value is None else format_count(value)
