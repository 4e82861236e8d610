"""What commands print of declared tables: the rows of the DataFrames of these names."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.cli.document import Column, Document, Item, Kind, Listing, Table, event_id
from torch_tb_profiler.cli.hints import event_hint
from torch_tb_profiler.cli.output import Report, identity
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.store.display import TEXTS, DisplayColumn, DisplaySpec, DisplayTable, listed
from torch_tb_profiler.store.display import UNKNOWN as UNKNOWN_FLAG
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.units import UNKNOWN, format_value
from torch_tb_profiler.views.steps import window_text

Cell = Callable[[Any], str]
_GAP = {"operators": "host", "kernels": "device", "ranges": "host", "calls": "device"}
"""What was not recorded where a table is empty."""
_NUMERIC = ("int64", "Int64", "float64")
_RENAMED = {"event": "longest_event"}


def table_report(
    context: TraceContext,
    options: argparse.Namespace,
    word: str,
    table: DisplayTable,
    order: str,
    names: str,
    longest: Callable[[Trace, Facts, Selection], Mapping[str, int]] | None = None,
) -> Report:
    """A report on a table. ``word``: what its rows are; ``order``: the column that they are sorted by unless ``--sort`` names another;
    ``names``: the columns of its text; ``longest``: finds the longest event of each name.

    Raises:
        BadRequest: ``--sort`` names no numeric column.
    """
    columns = _columns(table.spec, names)
    opened, selection = context.opened, context.selection()
    plain = plain_columns(table)
    numeric = [column.name for column in table.shown if column.dtype in _NUMERIC]
    if longest is None:
        plain = {_RENAMED.get(name, name): values for name, values in plain.items()}
        numeric = [_RENAMED.get(name, name) for name in numeric]
    else:
        events = longest(opened.trace, opened.facts, selection) if options.by == "name" else {}
        found = [events.get(name) for name in plain["name"]]
        # Readers of the JSON have had floats where one is unknown, as a DataFrame has them.
        is_float = None in found
        plain["longest_event"] = [float(n) if n is not None and is_float else n for n in found]
        numeric += ["longest_event"] if events else []
    by = options.sort or order
    if by not in numeric:
        raise BadRequest(
            f"--sort {by!r} is not a numeric column.", f"Expected one of: {', '.join(numeric)}."
        )
    rows = _largest_first(plain[by])[: options.limit]
    shown = {name: [values[row] for row in rows] for name, values in plain.items()}
    data = {**identity(opened), "rows": table.n, "sorted_by": by}
    return Report(
        lambda: _document(opened, selection, word, by, table.n, shown, columns),
        lambda: {**data, word: _rows(shown)},
    )


def _document(
    opened: Opened,
    selection: Selection,
    word: str,
    by: str,
    total: int,
    shown: Mapping[str, list[Any]],
    columns: dict[str, tuple[str, Kind, Cell]],
) -> Document:
    used = {
        name: how
        for name, how in columns.items()
        if name in shown and (name != "longest_event" or shown[name] != [None] * len(shown[name]))
    }
    if not total:
        from torch_tb_profiler.analysis.figures.missing_data import absent
        from torch_tb_profiler.views.words.texts import missing

        why = [
            Item(f"{gap.what}: {gap.why}", (), "")
            for gap in missing(absent(opened.facts), (_GAP[word],))
        ]
        return Document(
            opened.title,
            (opened.span.path,),
            (Listing(f"No {word}", why or [Item(f"The selected steps have no {word}.", (), "")]),),
        )
    cells = [[cell(value) for value in shown[name]] for name, (_, _, cell) in used.items()]
    head = tuple(Column(label, kind) for label, kind, _ in used.values())
    window = window_text(opened.facts, selection)
    heading = f"{word.capitalize()} of {window} by {by.removesuffix('_ns').replace('_', ' ')}"
    note = f"Longest: id of the longest event. {event_hint()}" if "longest_event" in used else ""
    return Document(
        opened.title,
        (opened.span.path,),
        (Table(heading, head, list(zip(*cells, strict=True)), total, note),),
    )


def _largest_first(values: Sequence[Any]) -> list[int]:
    """Places of values in their order, equal ones as they are, unknown ones last."""
    known = [i for i, value in enumerate(values) if value is not None]
    known.sort(key=values.__getitem__, reverse=True)
    return known + [i for i, value in enumerate(values) if value is None]


def any_known(table: DisplayTable, name: str) -> bool:
    """Whether a column has a value that is known."""
    column = next(column for column in table.spec.columns if column.name == name)
    return any(value is not None for value in _plain(table, column))


def records(table: DisplayTable) -> list[dict[str, Any]]:
    """The rows of a table as plain values; None is unknown."""
    return _rows(plain_columns(table))


def _rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain_columns(table: DisplayTable) -> dict[str, list[Any]]:
    """The columns that a DataFrame of the table has, as lists of plain values; None is unknown."""
    return {column.name: _plain(table, column) for column in table.shown}


def _plain(table: DisplayTable, column: DisplayColumn) -> list[Any]:
    values, dtype = table[column.name], column.dtype
    if column.kind in TEXTS:
        return table.texts(column.name)
    if dtype == "float64":
        floats = np.asarray(values, np.float64)
        return [None if value != value else value for value in floats.tolist()]
    if not isinstance(values, np.ndarray):
        return list(values)
    if dtype == "boolean" and values.dtype != np.bool_:
        return [None if value == UNKNOWN_FLAG else value == 1 for value in values.tolist()]
    if dtype == "Int64" and not column.kind.startswith("delta"):
        return [None if value < 0 else int(value) for value in values.tolist()]
    return listed(values.astype(dtype.lower()))


_BELOW = ("input_shapes", "stack", "operator", "grid", "block")
"""Columns that plain text shows below the row."""


def _columns(spec: DisplaySpec, names: str) -> dict[str, tuple[str, Kind, Cell]]:
    """Heading, kind and printer of some declared columns, and of the longest event."""
    declared = {column.name: column for column in spec.columns}
    columns = {name: _column(declared[name]) for name in names.split()}
    return {**columns, "longest_event": ("Longest", "number", _event)}


def _column(column: DisplayColumn) -> tuple[str, Kind, Cell]:
    label = column.label.format(Device="Device") or "Name"
    if column.name in ("grid", "block"):
        return label, "below", _labelled(column.name)
    if column.kind == "texts":
        return label, "below", _stack
    if column.kind in TEXTS:
        return label, *(("below", _below) if column.name in _BELOW else ("name", _text))
    return label, "number", lambda value: format_value(value, column.unit)


def table_block(
    title: str,
    spec: DisplaySpec,
    names: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    total: int,
    kinds: Mapping[str, Kind],
    note: str = "",
    labels: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Some declared columns of ``records``, of ``total`` in all; ``kinds``: of those that are no numbers; ``labels``: that
    differ from the declared ones.
    """
    declared = {column.name: column for column in spec.columns}

    def cell(row: Mapping[str, Any], name: str) -> str:
        value = row[name]
        if value is None:
            return "" if kinds.get(name) == "below" else UNKNOWN
        return value if isinstance(value, str) else format_value(value, declared[name].unit)

    head = tuple(
        Column(labels.get(name, declared[name].label), kinds.get(name, "number")) for name in names
    )
    cells = [tuple(cell(row, name) for name in names) for row in rows]
    return Table(title, head, cells, total, note)


def _text(value: str | None) -> str:
    return UNKNOWN if value is None else value


def _below(value: str | None) -> str:
    return value or ""


def _labelled(word: str) -> Cell:
    return lambda value: "" if value is None else f"{word} {value}"


def _stack(value: tuple[str, ...] | None) -> str:
    """The one line that says most."""
    return line_of_frames("\n".join(value)) if value else ""


def _event(value: float | None) -> str:
    return event_id(None if value is None else int(value))
