"""``torch-tb-profiler pyprof``: the kernel table of PyProf, one line per launch of a kernel, printed as it is made."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from torch_tb_profiler.analysis.pyprof.table import kernel_table
from torch_tb_profiler.cli.compare import one_trace
from torch_tb_profiler.cli.output import settings_of, write
from torch_tb_profiler.cli.plain import printable
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.hardware.kernel_names import short_name
from torch_tb_profiler.runs.single import insight_of
from torch_tb_profiler.views.diff_file import csv_field
from torch_tb_profiler.views.pyprof import BETWEEN_LINES, COLUMNS, DEFAULT, Cell, KernelCells

ALL = "all"
ROWS_AT_ONCE = 10_000
"""Rows that are made and printed together: memory does not grow with the table."""
_NUMERIC = (int,)

Line = Callable[[Sequence[Cell]], str]


def run(options: argparse.Namespace) -> int:
    """Print the table of the one trace at ``options.path``; the exit code.

    Raises:
        BadRequest: there is no such column, the columns do not fit the width, or the path holds no or several traces.
        SourceError, NotATrace: the trace cannot be read.
    """
    keys = chosen_columns(options.columns)
    make = _line(keys, options)
    settings = settings_of(options)
    opened = one_trace(options.path, settings)
    insight = insight_of(opened, settings)
    table = kernel_table(opened.trace, opened.facts, insight)
    if not len(table.row):
        print(printable(f"torch-tb-profiler: {options.path} holds no kernels."), file=sys.stderr)
    cells = KernelCells(opened.trace, insight, table)
    if options.json:
        _write_json(cells, keys)
        return 0
    write(make([COLUMNS[key].heading for key in keys]))
    for rows in _rows(cells, keys):
        write("".join(map(make, rows)))
    return 0
