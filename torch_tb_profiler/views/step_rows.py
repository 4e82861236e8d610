"""Very many steps as fewer rows, each the sum of as many consecutive steps: a chart cannot show more.

::

    step     0 1 2 3 4 5 6        row    0 (3 steps)   3 (3 steps)   6 (1 step)
    wall_ns  5 5 5 6 6 6 7                   15            18            7
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import block_begins
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import TEXTS, DisplayColumn, DisplayTable, listed

MOST_STEP_ROWS = 4096
_OF_THE_FIRST = ("step", "start_ns")


def first_steps(n: int) -> Ints:
    """Where each row begins among ``n`` steps; all rows but the last one hold equally many."""
    return block_begins(n, MOST_STEP_ROWS)


def step_rows(table: DisplayTable) -> DisplayTable:
    """A table of steps with a column ``steps``, how many each row holds. Times are summed, a flag is set
    where one step's is, a text is the first that is not empty; the name says the first and the last.
    """
    first = first_steps(table.n)
    count = np.diff(np.append(first, table.n))
    if len(first) == table.n:
        return table.with_columns(steps=count)
    columns = {c.name: _summed(table, c, first) for c in table.spec.columns if c.name in table}
    return DisplayTable(table.spec, table.strings, {**columns, "steps": count})


def row_names(names: list[str], first: Ints) -> list[str]:
    """``ProfilerStep#0 to ProfilerStep#24`` of each row."""
    last = np.append(first, len(names))[1:] - 1
    return [
        names[a] if a == b else f"{names[a]} to {names[b]}"
        for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]


def _summed(table: DisplayTable, column: DisplayColumn, first: Ints) -> Any:
    values = table[column.name]
    if column.name == "name":
        return row_names([text or "" for text in table.texts("name")], first)
    if column.kind in TEXTS:
        texts = listed(values)
        edges = [*first.tolist(), len(texts)]
        return [next(filter(None, texts[a:b]), "") for a, b in itertools.pairwise(edges)]
    values = np.asarray(values)
    if column.name in _OF_THE_FIRST:
        return values[first]
    if values.dtype == np.bool_:
        return np.logical_or.reduceat(values, first)
    return _known_sums(values, first)


def _known_sums(values: Array, first: Ints) -> Array:
    """Sums; −1 where one of the values is unknown."""
    sums = np.add.reduceat(values, first)
    return np.where(np.minimum.reduceat(values, first) < 0, -1, sums)
