"""``torch-tb-profiler diff``: what changed between two traces, for a terminal, a review and CI."""

from __future__ import annotations

import argparse
import sys
from typing import Literal

import msgspec

from torch_tb_profiler.cli.markdown import estimate
from torch_tb_profiler.cli.output import chosen, settings_of, write
from torch_tb_profiler.cli.plain import printable
from torch_tb_profiler.cli.progress import Progress
from torch_tb_profiler.errors import BadRequest, NotATrace
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import Unreadable, insight_of, load, load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.diff import Recording, compared, diff_payload
from torch_tb_profiler.views.diff_file import MOST_LINES, diff_csv, diff_markdown
from torch_tb_profiler.views.diff_wire import DiffPayload, Verdict

SLOWER = 1

Form = Literal["markdown", "csv", "json"]


def run(options: argparse.Namespace) -> int:
    """Print the comparison of B with A; the exit code.

    Raises:
        BadRequest: a path holds no or several traces, or there are no such steps.
        SourceError, NotATrace: a trace cannot be read.
    """
    settings = settings_of(options)
    opened = one_trace(options.a, settings), one_trace(options.b, settings)
    same = opened[0].span.location == opened[1].span.location
    first = insight_of(opened[0], settings)
    insights = first, first if same else insight_of(opened[1], settings)
    steps = [chosen(one, options, name) for one, name in zip(opened, ("steps_a", "steps_b"), strict=True)]
    found = compared((opened[0].facts, insights[0], steps[0]), (opened[1].facts, insights[1], steps[1]))
    payload = diff_payload(found, _recording(opened[0], options.a), _recording(opened[1], options.b))
    write(_text(payload, options.format, options.tokens))
    return _judged(payload.verdict, options.fail_on)


def _text(payload: DiffPayload, form: Form, tokens: int | None) -> str:
    if form == "json":
        return msgspec.json.encode(payload).decode() + "\n"
    if form == "csv":
        return diff_csv(payload)
    text = diff_markdown(payload)
    for most in range(MOST_LINES - 1, -1, -1) if tokens else ():
        if estimate(text) <= (tokens or 0):
            break
        text = diff_markdown(payload, most)
    return text


def _judged(verdict: Verdict, fail_on: float | None) -> int:
    if fail_on is None:
        return 0
    slower = verdict.share is not None and verdict.share * 100 > fail_on
    if slower and verdict.beyond is None:
        print("torch-tb-profiler: slower than allowed, but with one step it cannot be told from noise; record more steps.", file=sys.stderr)
    return SLOWER if slower and verdict.beyond else 0


def one_trace(path: str, settings: Settings) -> Opened:
    """The one trace at a path."""
    with Progress("reading") as progress:
        try:
            return load(path, settings, progress.update)
        except NotATrace as error:
            raise NotATrace(printable(f"{path}: {error.message}"), error.hint) from error
        except BadRequest:
            found = [item for item in load_all(path, settings, progress.update) if not (isinstance(item, Unreadable) and item.rejected)]
    traces = [item for item in found if isinstance(item, Opened)]
    if len(traces) != 1:
        raise BadRequest(f"{path} holds {len(traces)} readable traces, expected one.", "Give the trace file itself.")
    return traces[0]


def _recording(opened: Opened, path: str) -> Recording:
    return Recording(opened.run.name, opened.worker.name, opened.span.name, path, opened.trace.header)
