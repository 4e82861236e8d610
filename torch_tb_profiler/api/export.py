"""Frames, flame graphs and parts of traces as files: what ``torch-tb-profiler export`` writes.

Imports inside functions: the command checks its options here before it opens a trace, and what
makes tables and flame graphs takes long to import.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Set
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from torch_tb_profiler.atomic_files import STDOUT, expect_free, save, saving
from torch_tb_profiler.errors import BadRequest, MissingPackage, install
from torch_tb_profiler.tables.registry import REMOVED, TABLES
from torch_tb_profiler.untrusted import printable
from torch_tb_profiler.views.words.escapes import no_formula

if TYPE_CHECKING:
    from pandas import DataFrame

    from torch_tb_profiler.api.frames import Frames, TraceFrames
    from torch_tb_profiler.views.work.flame import Metric
    from torch_tb_profiler.views.work.module_wire import FlameTree

__all__ = [
    "FLAME_FORMS",
    "STDOUT",
    "TABLE_FORMS",
    "FlameForm",
    "TableForm",
    "check_form",
    "expect_free",
    "flame",
    "part",
    "save",
    "saving",
    "table",
    "write_table",
]

TableForm = Literal["csv", "parquet", "arrow"]
FlameForm = Literal["folded", "speedscope"]
TABLE_FORMS: tuple[TableForm, ...] = ("csv", "parquet", "arrow")
FLAME_FORMS: tuple[FlameForm, ...] = ("folded", "speedscope")
_ROWS_AT_A_TIME = 1 << 16


def table(frames: Frames, name: str, by: str | None = None) -> DataFrame:
    """The table of a name in ``tables/registry.py``.

    Raises:
        BadRequest: there is no such table, it has no such groups, or these traces have none of it.
    """
    if name not in TABLES:
        was = REMOVED.get(name, "")
        raise BadRequest(f"There is no table {name!r}. {was}", f"Take one of: {', '.join(TABLES)}.")
    listed = TABLES[name]
    if by is not None and not listed.groups:
        raise BadRequest(f"by={by!r}: this table has no groups.", "Leave it out.")
    if name == "key_averages":
        return _single(frames).key_averages().frame
    # Of the class: asked of the traces, an attribute would be computed twice.
    if not hasattr(type(frames), name):
        raise BadRequest(f"The table {name} is one of a run.", "Use a folder with several traces.")
    made = getattr(frames, name)
    # What grew since the beginning says more than what differs between a peak and itself.
    since = {"before_ns": 0} if name == "memory_changes" else {}
    groups = {} if by is None else {"by": by}
    found: DataFrame = made if listed.attribute else made(**since, **groups)
    return found


def check_form(form: str) -> None:
    """Check that a form can be written, before anything is read.

    Raises:
        MissingPackage: Parquet and Arrow need pyarrow.
    """
    if form in ("parquet", "arrow"):
        _arrow("pyarrow")


def write_table(frame: DataFrame, file: BinaryIO, form: TableForm) -> None:
    """A frame as CSV by RFC 4180 (unknown is empty), or as Parquet or Arrow IPC file with unit and
    doc in the metadata of each field.

    Raises:
        MissingPackage: Parquet and Arrow need pyarrow.
    """
    if form == "csv":
        _write_csv(frame, file)
        return
    arrow = _arrow("pyarrow")
    writer = _arrow("pyarrow.parquet" if form == "parquet" else "pyarrow.ipc")
    # Attributes other than plain texts and numbers cannot be written.
    units, docs = frame.attrs.get("units", {}), frame.attrs.get("docs", {})
    bare = frame.copy(deep=False)
    bare.attrs = {}
    table = arrow.Table.from_pandas(bare, preserve_index=False)
    fields = [
        field.with_metadata({"unit": units.get(field.name, ""), "doc": docs.get(field.name, "")})
        for field in table.schema
    ]
    table = table.cast(arrow.schema(fields, metadata=table.schema.metadata))
    if form == "parquet":
        writer.write_table(table, file)
        return
    with writer.new_file(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=_ROWS_AT_A_TIME)


def flame(
    frames: Frames, tree: FlameTree, form: FlameForm, metric: Metric | None = None
) -> Iterator[bytes]:
    """The flame graph of modules or source lines. Without a metric: device time, else host time.

    Raises:
        BadRequest: there are several traces.
    """
    from torch_tb_profiler.views.work.flame import flame_file

    context = _single(frames).context
    metric = metric or ("device" if context.facts.summary.has_device else "host")
    return flame_file(context.facts, context.insight, context.selection(), tree, metric, form)


def part(
    frames: Frames,
    start_ns: int | None = None,
    end_ns: int | None = None,
    kinds: Set[str] | None = None,
) -> Iterator[bytes]:
    """A gzipped trace of the events that touch a window, ns after the first event; by default of
    the selected steps, without the marks of others. ``kinds``: some of ``KINDS``.

    Raises:
        BadRequest: there are several traces, a kind is unknown, the window is empty, or the file has
            no events.
        SourceError: the file can no longer be opened.
    """
    from torch_tb_profiler.api.trace_part import part_of

    return part_of(_single(frames).context, start_ns, end_ns, kinds)


def _single(frames: Frames) -> TraceFrames:
    from torch_tb_profiler.api.frames import RunFrames

    if isinstance(frames, RunFrames):
        raise BadRequest(
            f"There are {len(frames)} traces, expected one.",
            "Use the trace file itself, or --worker NAME on the command line.",
        )
    return cast("TraceFrames", frames)


def _arrow(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackage(
            "Parquet and Arrow files need pyarrow, which is not installed.",
            install("pyarrow"),
        ) from error


class PrintedText(io.TextIOWrapper):
    """What goes to standard output may end at a terminal."""

    def write(self, text: str) -> int:
        return super().write(printable(text, lines=True))


def _write_csv(frame: DataFrame, file: BinaryIO) -> None:
    import pandas

    shown = frame.copy(deep=False)
    for name in shown.columns:
        kind = shown[name].dtype
        if isinstance(kind, pandas.CategoricalDtype):
            # Two names may become equal; categories must not.
            shown[name] = (
                shown[name].astype(object).map(csv_cell, na_action="ignore")
                if _runs(shown[name].cat.categories)
                else shown[name]
            )
        elif pandas.api.types.is_bool_dtype(kind):
            shown[name] = shown[name].map({True: "true", False: "false"})
        elif not pandas.api.types.is_numeric_dtype(kind):
            shown[name] = shown[name].map(csv_cell, na_action="ignore")
    shown = shown.rename(columns=no_formula)
    kind = PrintedText if file is sys.stdout.buffer else io.TextIOWrapper
    text = kind(file, encoding="utf-8", errors="replace", newline="", write_through=True)
    shown.to_csv(text, index=False, lineterminator="\r\n", chunksize=_ROWS_AT_A_TIME)
    text.detach()


def _runs(texts: Any) -> bool:
    return any(no_formula(text) != text for text in texts)


def csv_cell(value: Any) -> str:
    """A text that no spreadsheet runs; several values joined by ``;``. A lone sign is no formula, and no number is."""
    values = value if isinstance(value, (tuple, list)) else (value,)
    text = ";".join(map(str, values))
    plain = len(text) <= 1 or all(isinstance(each, (int, float)) for each in values)
    return text if plain else no_formula(text)
