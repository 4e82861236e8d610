"""``export PATH``: tables as CSV, Parquet or Arrow; stacks as folded text or speedscope; a part of the trace as a trace"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from torch_tb_profiler.api import export
from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import whole
from torch_tb_profiler.cli.output import (
    all_traces,
    context_of,
    settings_of,
    steps_option,
)
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.tables.registry import REMOVED, TABLES
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.untrusted import printable

if TYPE_CHECKING:
    from torch_tb_profiler.api.frames import RunFrames, TraceFrames
    from torch_tb_profiler.views.work.module_wire import FlameTree

HELP = "write tables, flame graphs or part of a trace to a file"
TRACE = "trace"
TENSORBOARD = "tensorboard"
SCALARS = "scalars"
ENDINGS = {
    "csv": ".csv",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "folded": ".folded",
    "speedscope": ".speedscope.json",
    TRACE: ".pt.trace.json.gz",
    TENSORBOARD: "",
}
_ALSO = {".feather": "arrow", ".txt": "folded", ".json.gz": TRACE}
_TREES: dict[str, FlameTree] = {"modules": "module", "lines": "line"}
ONLY = {
    "by": export.TABLE_FORMS,
    "metric": export.FLAME_FORMS,
    "start": (TRACE,),
    "end": (TRACE,),
    "kinds": (TRACE,),
    "first_step": (TENSORBOARD,),
}
"""Options that only some forms take."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    arguments.steps(parser)
    parser.add_argument(
        "--what",
        metavar="WHAT",
        help=f"with csv, parquet and arrow a table: {', '.join(TABLES)} (default: operators); with folded and speedscope modules or"
        " lines (default: lines); with trace events; with tensorboard scalars",
    )
    parser.add_argument(
        "--to",
        metavar="FORM",
        help="csv, parquet, arrow, folded, speedscope, trace or tensorboard (default: by the ending of FILE, else csv; of scalars"
        " tensorboard: event files with a curve per figure, in the folder FILE or in scalars beside the traces)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="- is standard output (default: WHAT with the ending of FORM, in this folder)",
    )
    groups = [
        f"{name} by {', '.join(table.groups)}" for name, table in TABLES.items() if table.groups
    ]
    parser.add_argument("--by", metavar="GROUP", help=f"group rows: {'; '.join(groups)}")
    parser.add_argument(
        "--metric",
        choices=("device", "host"),
        help="time shown by folded and speedscope (default: device, else host)",
    )
    parser.add_argument(
        "--start",
        metavar="NS",
        type=whole,
        help="where the trace starts, ns after the first event (default: at the selected steps)",
    )
    parser.add_argument("--end", metavar="NS", type=whole, help="where it ends")
    parser.add_argument(
        "--kinds",
        metavar="KINDS",
        help="kinds of events in the trace, comma-separated: operator,runtime,kernel,memcpy,memory …",
    )
    parser.add_argument(
        "--first-step",
        metavar="N",
        type=whole,
        help="with tensorboard: number of the step that counts as 0",
    )
    arguments.force(parser)


def run(options: argparse.Namespace) -> int:
    """Write the file."""
    form, what = _form_and_content(options)
    if form == TENSORBOARD:
        return _event_files(options)
    output = options.output or what + ENDINGS[form]
    ours = options.output is None
    export.expect_free(output, force=options.force, ours=ours)
    frames = _frames(options)
    with export.saving(output, force=options.force, ours=ours) as file:
        if form in export.TABLE_FORMS:
            table = export.table(frames, what, options.by)
            empty = not len(table)
            export.write_table(table, file, form)
        else:
            empty = form == "folded"
            for piece in _pieces(options, frames, form, what):
                empty = file.write(piece) == 0 and empty
    if empty:
        say(f"there are no {what} to write.")
    if output != export.STDOUT:
        print(printable(f"{output}: {format_bytes(Path(output).stat().st_size)}"), file=sys.stderr)
    return 0


def _form_and_content(options: argparse.Namespace) -> tuple[str, str]:
    """Form and content, checked before anything is read."""
    form = options.to or _form_of(options.output or "", options.what)
    if form not in ENDINGS:
        raise BadRequest(f"--to {form} is unknown.", f"Use one of: {', '.join(ENDINGS)}.")
    for name, forms in ONLY.items():
        if getattr(options, name) is not None and form not in forms:
            raise BadRequest(
                f"--{name.replace('_', '-')} cannot be used with {form}.",
                f"It applies to: {', '.join(forms)}.",
            )
    allowed = (
        tuple(TABLES)
        if form in export.TABLE_FORMS
        else tuple(_TREES)
        if form in export.FLAME_FORMS
        else ("events",)
        if form == TRACE
        else (SCALARS,)
    )
    what = options.what or ("operators" if "operators" in allowed else allowed[-1])
    if what not in allowed:
        raise BadRequest(
            f"--what {what} cannot be written as {form}. {REMOVED.get(what, '')}".rstrip(),
            f"Use one of: {', '.join(allowed)}.",
        )
    if what in TABLES and TABLES[what].whole and (options.steps or options.skip_cold):
        raise BadRequest(
            f"--what {what} always covers the whole recording.",
            "Leave out --steps and --skip-cold.",
        )
    export.check_form(form)
    return form, what


def _form_of(output: str, what: str | None) -> str:
    known = {ending: form for form, ending in ENDINGS.items() if ending} | _ALSO
    otherwise = TENSORBOARD if what == SCALARS and output != export.STDOUT else "csv"
    return next((f for ending, f in known.items() if output.lower().endswith(ending)), otherwise)


def _event_files(options: argparse.Namespace) -> int:
    frames = _frames(options)
    from torch_tb_profiler.api.event_files import write_event_files

    paths = write_event_files(
        frames, options.output, first_step=options.first_step or 0, force=options.force
    )
    for path in paths:
        print(printable(f"{path}: {format_bytes(path.stat().st_size)}"), file=sys.stderr)
    return 0


def _frames(options: argparse.Namespace) -> TraceFrames | RunFrames:
    """The traces at the path with the chosen steps."""
    steps_option(options)  # its form is checked before anything is read
    settings, traces = settings_of(options), all_traces(options)
    from torch_tb_profiler.api.frames import RunFrames, TraceFrames

    found = [TraceFrames(context_of(opened, settings, options)) for opened in traces]
    return found[0] if len(found) == 1 else RunFrames(found)


def _pieces(
    options: argparse.Namespace, frames: TraceFrames | RunFrames, form: str, what: str
) -> Iterator[bytes]:
    if form == TRACE:
        kinds = (
            None if options.kinds is None else {kind.strip() for kind in options.kinds.split(",")}
        )
        return export.part(frames, options.start, options.end, kinds)
    return export.flame(frames, _TREES[what], cast(export.FlameForm, form), options.metric)
