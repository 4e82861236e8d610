"""``pyprof [PATH]``: a line per kernel launch, with the twenty columns of NVIDIA's PyProf; without PATH, or with ``-``, of standard input"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

import msgspec

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import STANDARD_INPUT, path_or_input, positive
from torch_tb_profiler.cli.output import selected_steps, settings_of, single_trace, write
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.errors import BadRequest, ProfilerError, SourceError
from torch_tb_profiler.untrusted import printable
from torch_tb_profiler.views.words.escapes import csv_field
from torch_tb_profiler.views.work.pyprof_columns import BETWEEN_LINES, COLUMNS

if TYPE_CHECKING:
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.views.work.pyprof import Cell, KernelCells
    from torch_tb_profiler.views.work.pyprof_lines import ListedCells

HELP = "print PyProf's kernel table, one line per kernel launch"
ALL = "all"
ROWS_AT_ONCE = 10_000
"""Rows that are made and printed together, to bound memory."""
_WIDEST = 10_000
"""Characters of a line at most, whatever ``-w`` asks for."""
_INPUT = "standard input"
_SHARED = ("kernel", "params")
"""Columns that share the rest of the width."""
_COLUMNS = """comma-separated columns, or all (default: %(default)s): idx row number; seq autograd sequence number; altseq others around it;
tid thread; layer range layer:NAME or nn.Module; trace source lines; dir fprop or bprop; sub position in the kernels of its call; mod and op the call;
kernel; params its arguments; sil device time in ns; tc matrix cores 1, 0, or - where nothing is multiplied; device; stream; grid; block; flops; bytes"""


class _Form(msgspec.Struct, frozen=True):
    """How the text, integer and absent value of a column (by key) and a line are printed."""

    text: Callable[[str, str], str]
    number: Callable[[str, int], str]
    absent: Callable[[str], str]
    line: Callable[[Sequence[str]], str]


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "path",
        metavar="PATH",
        type=path_or_input,
        nargs="?",
        default=STANDARD_INPUT,
        help="trace file, folder with one trace, or a file that --dict or PyProf's parser wrote: a path or a URL;"
        " - or nothing is standard input",
    )
    arguments.workers(parser)
    arguments.cache(parser)
    arguments.steps(parser)
    default = "idx,dir,sub,mod,op,kernel,params,sil"
    parser.add_argument("-c", dest="columns", metavar="COLUMNS", default=default, help=_COLUMNS)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print CSV; unknown numbers are empty")
    form.add_argument(
        "-w",
        dest="width",
        metavar="WIDTH",
        type=positive,
        help="print aligned columns, at most WIDTH characters a line",
    )
    form.add_argument(
        "--json",
        action="store_true",
        help="print a JSON array with one object per kernel; unknown is null",
    )
    form.add_argument(
        "--dict",
        action="store_true",
        help="print every column as a dictionary per line, with the keys of PyProf's parser; each line is Python and JSON",
    )


def run(options: argparse.Namespace) -> int:
    """Print the table of the one trace, or list of kernels, at ``options.path``."""
    keys = list(COLUMNS) if options.dict else chosen_columns(options.columns)
    form = _CSV if options.csv else _columns(keys, options.width) if options.width else _SPACED
    settings = settings_of(options)
    if options.path != STANDARD_INPUT:
        return _print(options, options.path, settings, keys, form)
    with _standard_input() as path:
        try:
            # What has no name is not kept.
            return _print(options, path, replace(settings, use_cache=False), keys, form)
        except ProfilerError as error:
            error.message = error.message.replace(path, _INPUT)
            raise


def _print(
    options: argparse.Namespace, path: str, settings: Settings, keys: Sequence[str], form: _Form
) -> int:
    cells, wanted = _listed(options, path, settings) or _of_trace(options, path, settings)
    if not cells.rows:
        name = _INPUT if options.path == STANDARD_INPUT else path
        say(f"{name} holds no kernels.")
    parts = _parts(cells, keys, wanted)
    texts = (
        _dictionaries(parts, keys)
        if options.dict
        else _json(parts, keys)
        if options.json
        else _lines(parts, keys, form)
    )
    for text in texts:
        write(text, json=options.json)
    return 0


@contextmanager
def _standard_input() -> Iterator[str]:
    """A temporary file of what comes on standard input: formats are read back and forth.

    Raises:
        SourceError: it cannot be read or kept, or there is none.
    """
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="torch-tb-profiler-") as folder:
        path = os.path.join(folder, _INPUT)
        try:
            if sys.stdin is None or sys.stdin.isatty():
                raise SourceError("No PATH is given, and nothing comes on standard input.")
            with open(path, "wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        except (OSError, ValueError) as error:
            raise SourceError(f"Standard input cannot be read: {error}.") from error
        yield path


def _listed(
    options: argparse.Namespace, path: str, settings: Settings
) -> tuple[ListedCells, Sequence[bool]] | None:
    """The kernels of a file of dictionaries; None if it is another."""
    from torch_tb_profiler.runs.kernel_lines import kernel_lines

    found = kernel_lines(path, settings)
    if found is None:
        return None
    if options.steps or options.skip_cold:
        raise BadRequest("A list of kernels has no steps.", "Leave out --steps and --skip-cold.")
    from torch_tb_profiler.views.work.pyprof_lines import ListedCells

    lines, counts = found
    lost = sum(counts.as_dict().values())
    if lost:
        said = f"{lost} {'line is' if lost == 1 else 'lines are'} no dictionary of a kernel"
        say(f"{said}, and left out.")
    return ListedCells(lines), [True] * len(lines)


def _of_trace(
    options: argparse.Namespace, path: str, settings: Settings
) -> tuple[KernelCells, Sequence[bool]]:
    opened = single_trace(path, settings, options.worker)
    from torch_tb_profiler.analysis.figures.selection import mask
    from torch_tb_profiler.analysis.pyprof.table import kernel_table
    from torch_tb_profiler.runs.loading import insight_of
    from torch_tb_profiler.views.work.pyprof import KernelCells

    insight = insight_of(opened, settings)
    table = kernel_table(opened.trace, opened.facts, insight)
    wanted = mask(selected_steps(opened, options), opened.facts["span_links"]["step"][table.row])
    return KernelCells(opened.trace, insight, table), wanted.tolist()


def chosen_columns(text: str) -> list[str]:
    """The columns of ``-c``.

    Raises:
        BadRequest: one is not a column.
    """
    keys = list(COLUMNS) if text == ALL else [word.strip() for word in text.split(",")]
    for key in keys:
        if key not in COLUMNS:
            raise BadRequest(
                f"{key!r} is not a column of the kernel table.",
                f"Expected some of: {','.join(COLUMNS)}; or {ALL}.",
            )
    return keys


def _parts(
    cells: KernelCells | ListedCells, keys: Sequence[str], wanted: Sequence[bool]
) -> Iterator[list[list[Cell]]]:
    """The columns of the wanted rows, some rows at a time."""
    for begin in range(0, cells.rows, ROWS_AT_ONCE):
        some = wanted[begin : begin + ROWS_AT_ONCE]
        if any(some):
            yield [
                list(compress(cells.column(key, begin, begin + ROWS_AT_ONCE), some)) for key in keys
            ]


def _json(parts: Iterator[list[list[Cell]]], keys: Sequence[str]) -> Iterator[str]:
    """An array with an object per row, one on a line."""
    import msgspec

    before = "[\n"
    encode = msgspec.json.Encoder().encode
    for columns in parts:
        yield before + ",\n".join(
            encode(dict(zip(keys, row, strict=True))).decode() for row in zip(*columns, strict=True)
        )
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _dictionaries(parts: Iterator[list[list[Cell]]], keys: Sequence[str]) -> Iterator[str]:
    """A dictionary per row and line."""
    import msgspec

    from torch_tb_profiler.views.work.pyprof_lines import line_of

    encode = msgspec.json.Encoder().encode
    for columns in parts:
        for row in zip(*columns, strict=True):
            yield encode(line_of(dict(zip(keys, row, strict=True)))).decode() + "\n"


def _lines(parts: Iterator[list[list[Cell]]], keys: Sequence[str], form: _Form) -> Iterator[str]:
    yield form.line([form.text(key, COLUMNS[key].label) for key in keys])
    known: dict[tuple[str, str], str] = {}
    for columns in parts:
        printed = [
            _printed(key, column, form, known) for key, column in zip(keys, columns, strict=True)
        ]
        yield "".join(map(form.line, zip(*printed, strict=True)))


def _printed(
    key: str, column: list[Cell], form: _Form, known: dict[tuple[str, str], str]
) -> list[str]:
    """The texts of a column; ``known``: texts printed before."""
    absent = form.absent(key)
    for text in {cell for cell in column if isinstance(cell, str)}:
        if (key, text) not in known:
            known[key, text] = form.text(key, text)
    return [
        (
            absent
            if cell is None
            else known[key, cell]
            if isinstance(cell, str)
            else form.number(key, cell)
        )
        for cell in column
    ]


def _is_number(key: str) -> bool:
    return COLUMNS[key].kind != "text"


_SPACED = _Form(
    text=lambda key, text: printable(text),
    number=lambda key, number: str(number),
    absent=lambda key: COLUMNS[key].absent,
    line=lambda texts: " ".join(texts) + "\n",
)
_CSV = _Form(
    text=lambda key, text: text if text == "-" else csv_field(printable(text)),
    number=lambda key, number: str(number),
    absent=lambda key: "" if _is_number(key) else COLUMNS[key].absent,
    line=lambda texts: ",".join(texts) + "\r\n",
)


def _columns(keys: Sequence[str], width: int) -> _Form:
    """Columns of fixed widths, in lines of ``width`` characters at most.

    Raises:
        BadRequest: the columns need more.
    """
    width = min(width, _WIDEST)
    widths = {key: COLUMNS[key].width for key in keys}
    rest = width - sum(widths[key] + 1 for key in keys) + 1
    if rest < 0:
        raise BadRequest(
            f"-w {width} is too narrow: {','.join(keys)} need {width - rest}.",
            "Choose fewer columns or a larger width.",
        )
    shared = [key for key in dict.fromkeys(keys) if key in _SHARED]
    for key in shared:
        widths[key] += rest // len(shared) // keys.count(key)

    def text(key: str, value: str) -> str:
        return f"{_essence(key, printable(value))[: widths[key]]:{'>' if _is_number(key) else '<'}{widths[key]}}"

    def number(key: str, value: int) -> str:
        written = str(value)
        return f"{written if len(written) <= widths[key] else format(value, '.0e'):>{widths[key]}}"

    return _Form(
        text,
        number,
        lambda key: text(key, COLUMNS[key].absent),
        lambda texts: " ".join(texts).rstrip() + "\n",
    )


def _essence(key: str, text: str) -> str:
    """The part of a cell for a narrow column: a kernel's short name, of a call trace the innermost
    file and line.
    """
    if key == "kernel":
        from torch_tb_profiler.analysis.figures.kernels import short_name

        return short_name(text)
    return (
        text.rpartition(BETWEEN_LINES)[2].replace("\\", "/").rpartition("/")[2]
        if key == "trace"
        else text
    )
