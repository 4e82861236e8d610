"""``repr`` of a trace in a screenful, as text and HTML."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.figures.devices import DeviceUse, device_use
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.operators import operator_rows, operators_have_device_time
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.step_table import average
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.runs.loading import Unreadable
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.units import (
    and_more,
    fit_text,
    format_bytes,
    format_count,
    format_counted,
    format_ns,
    format_share,
)
from torch_tb_profiler.views.memory.headline import memory_headline
from torch_tb_profiler.views.wire import Vocabulary
from torch_tb_profiler.views.words.escapes import one_line
from torch_tb_profiler.views.words.texts import CATEGORY_LABELS, MISSING, missing
from torch_tb_profiler.views.words.vocabulary import device_title, vocabulary

if TYPE_CHECKING:
    from pandas import DataFrame

WIDTH = 100
SHOWN = 3
WORKERS = 24
LABEL = 11
LONGEST = 60
MOST_UNREADABLE = 8
_MARKS = ((StepFlag.COLD, "cold"), (StepFlag.ODD, "odd"), (StepFlag.CUT, "cut off"))
Line = tuple[str, str]
"""Label and text."""


def lines(context: TraceContext, unreadable: Sequence[Unreadable] = ()) -> list[Line]:
    """A trace in labelled lines, and the files beside it that could not be read."""
    opened, facts, selection = context.opened, context.facts, context.selection()
    counts = facts.summary.attribution
    kernels = f", {format_counted(counts.kernels, 'kernel')}" if counts.kernels else ""
    labelled = [
        ("trace", opened.title),
        ("file", f"{opened.span.path}, {format_bytes(opened.span.bytes)}"),
        (
            "events",
            (
                f"{format_counted(opened.trace.entries, 'entry', 'entries')}{kernels},"
                f" {format_ns(facts.summary.span_ns)} long"
            ),
        ),
        (
            "devices",
            "; ".join(_device(use, vocabulary(facts)) for use in device_use(facts, selection)),
        ),
        ("steps", _steps(context, selection)),
        ("memory", _memory(context)),
        ("step time", _breakdown(context, selection)),
        ("operators", _operators(context, selection)),
        ("kernels", _kernels(context, selection)),
        (
            "missing",
            ", ".join(
                f"{gap.what[:1].lower()}{gap.what[1:]}" for gap in missing(absent(facts), MISSING)
            ),
        ),
        (
            "defects",
            ", ".join(f"{format_count(count)} × {defect.name}" for defect, count in facts.defects),
        ),
        *not_read(unreadable),
        ("tables", _tables("trace")),
    ]
    return [(label, one_line(text)) for label, text in labelled if text]


def run_lines(
    traces: Sequence[Opened], workers: DataFrame, unreadable: Sequence[Unreadable]
) -> list[Line]:
    """Several traces in labelled lines. ``workers``: their table."""
    runs = list(dict.fromkeys(opened.run.name for opened in traces))
    labelled = [
        ("runs" if len(runs) > 1 else "run", ", ".join(runs)),
        ("traces", format_count(len(traces))),
    ]
    for row in workers.head(WORKERS).itertuples():
        mean = f" of {format_ns(row.mean_step_ns)}" if row.steps else ""
        traced = f"{row.run} · {row.worker}" if len(runs) > 1 else row.worker
        steps = f"{row.steps} step{'' if row.steps == 1 else 's'}{mean}"
        entries = format_count(row.events)
        labelled.append(("", f"{traced} · {row.span}: {entries} entries, {steps}"))
    labelled += [("", more)] if (more := and_more(len(traces) - WORKERS)) else []
    labelled += not_read(unreadable)
    hint = f'; a trace by [0] or ["{traces[0].worker.name}"]' if traces else ""
    labelled.append(("tables", f".workers  {_tables('run')}, each with the worker in front{hint}"))
    return [(label, one_line(text)) for label, text in labelled]


def _tables(of: Literal["trace", "run"]) -> str:
    """The tables of a trace or a run as they are written in Python, each with the arguments that group its rows."""
    words = [
        f".{table.name}{'' if table.attribute else '(by=)' if table.groups else '()'}"
        for table in TABLES.values()
        if table.needs != "run" or of == "run"
        if table.name != "key_averages" or of == "trace"
    ]
    return "  ".join((*words, ".diff(other)"))


def not_read(unreadable: Sequence[Unreadable]) -> list[Line]:
    """Unreadable files, and why."""
    more = and_more(len(unreadable) - MOST_UNREADABLE)
    return [
        *(("unreadable", item.text) for item in unreadable[:MOST_UNREADABLE]),
        *([("", more)] if more else []),
    ]


def text(title: str, listed: Sequence[Line]) -> str:
    """The lines for a terminal."""
    shown = [title]
    for label, words in listed:
        shown += textwrap.wrap(
            words,
            WIDTH,
            initial_indent=f"  {label:<{LABEL}}",
            subsequent_indent=" " * (LABEL + 2),
            break_on_hyphens=False,
        )
    return "\n".join(shown)


def markup(title: str, listed: Sequence[Line]) -> str:
    """The lines for a notebook; texts come from traces and are escaped."""
    cell = '<td style="text-align:left">'
    rows = "".join(
        "<tr><th"
        f' style="text-align:left">{html.escape(label)}</th>{cell}{html.escape(words)}</td></tr>'
        for label, words in listed
    )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{rows}</tbody></table>"


def _device(use: DeviceUse, words: Vocabulary) -> str:
    used = f", {format_share(use.utilization)} utilization" if use.utilization is not None else ""
    return f"{device_title(words, use.id)} {use.name or 'unknown'}{used}"


def _steps(context: TraceContext, selection: Selection) -> str:
    flags = context.facts["steps"]["flags"][selection.steps]
    if not len(flags):
        return "none"
    counted = [(int(((flags & flag) != 0).sum()), word) for flag, word in _MARKS]
    marks = [f"{n} {word}" for n, word in counted if n]
    return (
        f"{len(flags)} from"
        f" {context.facts.summary.step_source}{', ' if marks else ''}{', '.join(marks)}"
    )


def _memory(context: TraceContext) -> str:
    """What a recording of allocations alone says; empty for others."""
    if "events" not in absent(context.facts):
        return ""
    return " ".join(filter(None, memory_headline(context.trace, context.facts, context.insight)))


def _breakdown(context: TraceContext, selection: Selection) -> str:
    averages = average(context.facts, selection)
    if averages is None or not averages[0]:
        return ""
    wall, times = averages
    parts = sorted(((time / wall, key) for key, time in times.items() if time), reverse=True)
    return (
        f"{format_ns(wall)} on average:"
        f" {', '.join(f'{CATEGORY_LABELS[c]} {format_share(share)}' for share, c in parts)}"
    )


def _operators(context: TraceContext, selection: Selection) -> str:
    where = "device" if operators_have_device_time(context.facts) else "host"
    rows = operator_rows(context.facts, selection, "name")
    return _most(rows, rows.texts("name")[:SHOWN], f"{where}_self_ns", f"{where} self time")


def _kernels(context: TraceContext, selection: Selection) -> str:
    rows = kernel_rows(context.facts, selection, "name")
    return _most(rows, rows["short_name"][:SHOWN], "total_ns", "time")


def _most(rows: DisplayTable, names: Sequence[str | None], key: str, what: str) -> str:
    times = zip(names, rows[key].tolist(), strict=False)
    most = ", ".join(f"{fit_text(name or '', LONGEST)} {format_ns(ns)}" for name, ns in times)
    return f"{format_counted(rows.n, 'name')}, most {what}: {most}" if most else ""
