"""Every table of the API, of each group: its columns with their sums, and its first rows."""

from __future__ import annotations

import hashlib
import json
import traceback
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from torch_tb_profiler.api.frames import RunFrames
from torch_tb_profiler.api.opening import open_path
from torch_tb_profiler.errors import BadRequest, ProfilerError
from torch_tb_profiler.tables.registry import TABLES

from .forks import RAISED
from .kept import Reply

ROWS = 30


def replies(name: str, few: bool) -> Iterator[Reply]:
    """Those of a folder of the working folder."""
    try:
        opened: Any = open_path(name)
    except ProfilerError as error:
        yield Reply("open", 2, f"{type(error).__name__}: {error}", False)
        return
    yield _reply("repr", lambda: repr(opened))
    for table in TABLES.values():
        for group in (None, *table.groups[1:]):
            ask = table.name if group is None else f"{table.name}(by={group!r})"
            yield _reply(ask, partial(_table, opened, table, group))


def _table(opened: Any, table: Any, group: str | None) -> Any:
    try:
        found = getattr(opened, table.name)
    except AttributeError as error:
        # Of several traces some tables are the first one's; of one trace others are none.
        if not isinstance(opened, RunFrames):
            raise BadRequest(str(error)) from error
        found = getattr(opened[0], table.name)
    if callable(found) and not isinstance(found, pd.DataFrame):
        return found() if group is None else found(by=group)
    return found


def _reply(ask: str, make: Any) -> Reply:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = make()
            frame = found if isinstance(found, pd.DataFrame) else getattr(found, "df", None)
            if isinstance(frame, pd.DataFrame):
                return Reply(ask, 0, json.dumps(described(frame)), True)
            table = getattr(found, "table", None)
            return Reply(ask, 0, str(table() if callable(table) else found), False)
    except ProfilerError as error:
        return Reply(ask, 2, f"{type(error).__name__}: {error}", False)
    except Exception:
        return Reply(ask, RAISED, traceback.format_exc(), False)


def described(frame: pd.DataFrame) -> dict[str, Any]:
    """A table as it is kept. Of a column: its type, how many values are unknown, the sum of numbers, and a digest of all
    values in their order.
    """
    columns = {}
    for at, name in enumerate(frame.columns):
        column = frame.iloc[:, at]
        texts = [str(value) for value in column]
        about: dict[str, Any] = {"dtype": str(column.dtype), "unknown": int(column.isna().sum())}
        if pd.api.types.is_numeric_dtype(column.dtype):
            about["sum"] = float(column.dropna().astype(float).sum())
        about["digest"] = hashlib.sha256("\n".join(texts).encode(errors="replace")).hexdigest()[:12]
        columns[str(name)] = about
    first = frame.head(ROWS)
    return {
        "rows": len(frame),
        "columns": columns,
        "first": [
            dict(zip(map(str, first.columns), map(str, row), strict=True))
            for row in first.itertuples(index=False, name=None)
        ],
    }
