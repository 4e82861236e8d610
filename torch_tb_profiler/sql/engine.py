"""Runs one statement on the tables of a trace with DuckDB, within limits, without files, network or extensions."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.errors import BadRequest, MissingPackage, install
from torch_tb_profiler.units import format_bytes, format_count

if TYPE_CHECKING:
    from pandas import DataFrame

    from torch_tb_profiler.sql.statement import Statement
    from torch_tb_profiler.sql.tables import SqlTable
    from torch_tb_profiler.tables.source import TableSource

_BATCH = 2048
_CLOSED = (
    "set enable_external_access=false",
    "set search_path='main,page,facts,insight,trace'",
    "set lock_configuration=true",
)
LESS = "Ask for less: name columns, limit rows, filter by step or time, aggregate earlier."
LATE = f"{LESS} `torch-tb-profiler sql --seconds S` allows more time."


@dataclass(frozen=True)
class Limits:
    """Of one statement: ``rows`` and ``bytes`` (of text, about) that are kept of its result, ``seconds`` that it
    runs, ``memory`` bytes that DuckDB may use.
    """

    rows: int = 1000
    bytes: int = 4 << 20
    seconds: float = 10.0
    memory: int = 1 << 30


@dataclass(frozen=True)
class Result:
    """The first rows. ``types``: of the columns: integer, number, text, flag or DuckDB's name of another one. ``units``: what
    the tables of the statement call by that name: ``event`` (an id), ``ns``, ``bytes``; empty not known. ``total``: rows of
    the whole result; −1 where counting them took too long.
    """

    columns: list[str]
    types: list[str]
    units: list[str]
    rows: list[list[Any]] = field(repr=False)
    total: int

    @property
    def note(self) -> str:
        """What is missing, in words; empty where nothing is."""
        shown = len(self.rows)
        if shown == self.total:
            return ""
        of = format_count(self.total) if self.total >= 0 else "more that were not counted"
        return f"The first {format_count(shown)} rows of {of}."


def run(data: TableSource, text: str, limits: Limits) -> Result:
    """The result of one SELECT.

    Raises:
        BadRequest: it is no SELECT, wrong, or exceeds a limit.
        MissingPackage: DuckDB or pyarrow is not installed.
    """
    with _answered(data, text, limits) as (reader, ended, statement):
        columns, types = reader.schema.names, [_type(f.type) for f in reader.schema]
        units = _units(statement.tables)
        of = [units.get(statement.summed.get(name, name), "") for name in columns]
        rows: list[list[Any]] = []
        total, size, full = 0, 0, False
        try:
            for batch in reader:
                total += batch.num_rows
                if full:
                    continue
                part = batch.slice(0, limits.rows - len(rows))
                for row in zip(*(column.to_pylist() for column in part.columns), strict=True):
                    plain = [_plain(value) for value in row]
                    size += sum(map(_size, plain))
                    if size > limits.bytes:
                        full = True
                        break
                    rows.append(plain)
                full = full or len(rows) >= limits.rows
        except Exception:
            # What is there is an answer, though nobody knows how much more would come.
            if not (full and ended.is_set()):
                raise
            total = -1
        if size > limits.bytes and not rows:
            raise first_row_too_long(limits)
        return Result(columns, types, of, rows, total)


def first_row_too_long(limits: Limits) -> BadRequest:
    """Why there is no answer where not even one row fits."""
    return BadRequest(
        f"The first row alone has more than the {format_bytes(limits.bytes)} of an answer.", LESS
    )


def _size(value: Any) -> int:
    """About how long a plain value is as text."""
    if isinstance(value, str):
        return len(value)
    return len(json.dumps(value, ensure_ascii=False)) if isinstance(value, (list, dict)) else 8


def frame(data: TableSource, text: str, limits: Limits) -> DataFrame:
    """The whole result as a DataFrame; integers with unknown ones are ``Int64``. Raises as ``run`` does."""
    with _answered(data, text, limits) as (reader, *_):
        import pandas
        import pyarrow as pa

        table = reader.read_all()
        for place, column in enumerate(table.columns):
            kind = column.type
            if pa.types.is_decimal(kind) and kind.scale == 0:  # what sums of integers are
                with contextlib.suppress(pa.ArrowInvalid):
                    table = table.set_column(
                        place, table.field(place).name, column.cast(pa.int64())
                    )
        missing = {column.type for column in table.columns if column.null_count}
        types = {
            getattr(pa, name)(): getattr(
                pandas, f"{'UI' if name[0] == 'u' else 'I'}nt{name[-2:].strip('t')}Dtype"
            )()
            for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
            if getattr(pa, name)() in missing
        } | ({pa.bool_(): pandas.BooleanDtype()} if pa.bool_() in missing else {})
        made: DataFrame = table.to_pandas(types_mapper=types.get)
        return made


@contextlib.contextmanager
def _answered(
    data: TableSource, text: str, limits: Limits
) -> Iterator[tuple[Any, threading.Event, Statement]]:
    """A reader of the result, what is set once the time is over, and what it is of."""
    check_installed()
    duckdb: Any = import_module("duckdb")
    connection = duckdb.connect(":memory:", config=_config(limits))
    ended = threading.Event()

    def end() -> None:
        ended.set()
        connection.interrupt()

    watchdog = threading.Timer(limits.seconds, end)
    watchdog.daemon = True
    try:
        from torch_tb_profiler.sql.statement import read

        statement = read(connection, text)
        _register(connection, data, statement.tables)
        for line in _CLOSED:
            connection.execute(line)
        watchdog.start()
        yield connection.sql(text).to_arrow_reader(_BATCH), ended, statement
    except (duckdb.Error, MemoryError, OverflowError, OSError) as error:
        raise _words(error, duckdb, limits, ended.is_set()) from error
    finally:
        watchdog.cancel()
        connection.close()


def check_installed() -> None:
    """Raises:
    MissingPackage: DuckDB or pyarrow is not installed.
    """
    if any(find_spec(name) is None for name in ("duckdb", "pyarrow")):
        raise MissingPackage(
            "SQL needs DuckDB and pyarrow, which are not installed.",
            install("duckdb", "pyarrow"),
        )


def _config(limits: Limits) -> dict[str, Any]:
    return {
        "python_enable_replacements": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "temp_directory": "",
        "memory_limit": f"{limits.memory // 1000}KB",
        "threads": 1,  # more would put rows of equal order, and what arg_max takes of equals, in another order each time
    }


def _register(connection: Any, data: TableSource, named: list[SqlTable]) -> None:
    """Make the named tables known, and no others; a damaged sidecar is found here."""
    from torch_tb_profiler.sql.arrow import arrow_table, arrow_texts, display_table
    from torch_tb_profiler.sql.kinds import INSIGHT_TEXT
    from torch_tb_profiler.store.columns import Table

    if any(table.insight for table in named):
        data.derive()  # what a server has yet to make is asked for before anything is built
    texts: dict[str, Any] = {}

    def strings(unit: str) -> Any:
        if unit not in texts:
            of_insight = unit == INSIGHT_TEXT
            table = data.insight.strings if of_insight else data.facts.strings
            texts[unit] = arrow_texts(table)
        return texts[unit]

    for place, table in enumerate(named):
        built = table.build(data)
        arrow = (
            arrow_table(built, strings, table.numbered)
            if isinstance(built, Table)
            else display_table(built)
        )
        connection.register(f"_{place}", arrow)
        connection.execute(f"create schema if not exists {table.schema}")
        connection.execute(
            f'create view {table.schema}."{table.spec.name}" as select * from _{place}'
        )
    for schema in ("page", "facts", "insight", "trace"):
        connection.execute(f"create schema if not exists {schema}")


def _words(error: Exception, duckdb: Any, limits: Limits, ended: bool) -> BadRequest:
    said = str(error)
    if ended or isinstance(error, duckdb.InterruptException):
        return BadRequest(f"The statement was ended after {limits.seconds:g} s.", LATE)
    if isinstance(error, (MemoryError, duckdb.OutOfMemoryException)) or "Out of Memory" in said:
        room = format_bytes(limits.memory)
        return BadRequest(f"The statement needs more than the {room} that it may use.", LESS)
    kind, mark, rest = said.partition(" Error: ")
    lines = (rest if mark else said).split("\n\nLINE ")[0].split("\n")
    return BadRequest(f"{kind}: {' '.join(filter(None, lines))}" if mark else " ".join(lines))


def _units(named: list[SqlTable]) -> dict[str, str]:
    """Column → its unit, where all of the tables that have it agree."""
    units: dict[str, set[str]] = {}
    for table in named:
        for column in table.spec.columns:
            shown = {"row of spans": "event", "row of events": "event"}.get(
                column.unit, column.unit
            )
            units.setdefault(column.name, set()).add(shown)
    known = {name: next(iter(found)) for name, found in units.items() if len(found) == 1}
    return {name: unit for name, unit in known.items() if unit in ("event", "ns", "bytes")}


def _type(kind: Any) -> str:
    """An Arrow type for people: integer, number, text, flag or its own name."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    return "flag" if pa.types.is_boolean(kind) else str(kind)


def _plain(value: Any) -> Any:
    """A value as JSON has it: unknown is None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, decimal.Decimal):
        whole = value == value.to_integral_value()
        return int(value) if whole else float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return str(value)
    return value.hex() if isinstance(value, bytes) else str(value)
