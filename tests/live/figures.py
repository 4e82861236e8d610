"""Operator figures of a trace file by the engine, and of a live recording by PyTorch, as comparable
tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from tests.loading import load
from torch_tb_profiler.settings import Settings

_HIDDEN_IN_PYTORCH = (
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
)


class Figures(NamedTuple):
    """Of all calls of one operator, times in ns."""

    calls: int
    self_time: int
    total_time: int


Table = dict[tuple[str, str], Figures]
"""By operator and input shapes; the shapes are empty where they are not told apart."""


def of_engine(trace: Path, by_shape: bool = False) -> Table:
    """The sums of every call of the whole recording, as PyTorch has them: a call within another one
    of its name counts twice in the total time.
    """
    facts = load(str(trace), Settings(use_cache=False)).facts
    table, sums = facts["operators"], facts["operator_steps"]
    found: Table = {}
    for row, operator in enumerate(sums["operator"].tolist()):
        dims = facts.strings[int(table["dims"][operator])] if by_shape else ""
        figures = Figures(*(int(sums[key][row]) for key in ("calls", "host_self", "host_total")))
        name = facts.strings[int(table["name"][operator])]
        _add(found, (name, _shapes(json.loads(dims)) if dims else ""), figures)
    return found


def of_expected(path: Path, by_shape: bool = False) -> Table:
    """What a capture program wrote down from ``key_averages()``."""
    rows = json.loads(path.read_text(encoding="utf-8"))[
        "operators_by_shape" if by_shape else "operators"
    ]
    found: Table = {}
    for row in rows:
        _add(
            found,
            (row["name"], _shapes(row["dims"]) if by_shape else ""),
            Figures(row["calls"], row["self_cpu_ns"], row["cpu_total_ns"]),
        )
    return found


def of_pytorch(averages: Any, names: set[str], by_shape: bool = False) -> Table:
    """The rows of ``key_averages()`` for the operators ``names``; microseconds as float become ns,
    exact below 2**40 ns.
    """
    found: Table = {}
    for row in averages:
        if row.key in names and not row.is_user_annotation:
            figures = Figures(
                row.count, round(row.self_cpu_time_total * 1000), round(row.cpu_time_total * 1000)
            )
            _add(found, (row.key, _shapes(row.input_shapes) if by_shape else ""), figures)
    return found


def operator_names(events: Any) -> set[str]:
    """Names that the recording holds as operators."""
    return {event.name for event in events if event.activity_type == "cpu_op"} - set(
        _HIDDEN_IN_PYTORCH
    )


def difference(
    ours: Table, theirs: Table
) -> dict[tuple[str, str], tuple[Figures | None, Figures | None]]:
    """What is not equal, ours and theirs."""
    return {
        key: (ours.get(key), theirs.get(key))
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key) != theirs.get(key)
    }


def _add(table: Table, key: tuple[str, str], more: Figures) -> None:
    known = table.get(key, Figures(0, 0, 0))
    table[key] = Figures(
        known.calls + more.calls,
        known.self_time + more.self_time,
        known.total_time + more.total_time,
    )


def _shapes(dims: Any) -> str:
    """Shapes as one text, as coarse as PyTorch's: shapes of the tensors in a list are left out, and
    no shape at all is an empty text.
    """
    told = [[] if dim and isinstance(dim[0], list) else dim for dim in dims or ()]
    return json.dumps(told) if any(told) else ""
