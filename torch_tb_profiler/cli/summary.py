"""``summary PATH``: configuration, findings, step-time breakdown, top operators and kernels, steps, devices, health; for a run, first its
workers and their findings
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.document import Block, Column, Document, Item, Listing, Table, event_id
from torch_tb_profiler.cli.findings import RunFindings, run_reports
from torch_tb_profiler.cli.hints import hint
from torch_tb_profiler.cli.output import Report, identity, print_runs, print_traces
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.units import (
    format_bytes,
    format_count,
    format_counted,
    format_ns,
    format_share,
)

if TYPE_CHECKING:
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.runs.loading import Unreadable
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.views.findings.wire import FindingsPayload
    from torch_tb_profiler.views.wire import OverviewPayload

HELP = "summarize each trace: findings, step time, operators, kernels, devices"
TOP = 10
STEPS_SHOWN = 12
BAR = 30
PRESETS_SHOWN = 5
_ALLOCATED_BY = ("line", "operator", "category", "module")


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    arguments.form(parser)


def run(options: argparse.Namespace) -> int:
    """Print the facts of the traces at ``options.path``. JSON has no findings, and needs no other trace of the run."""
    if options.json:
        return print_traces(options, _facts)
    return print_runs(options, _reports, last=_not_read)


def _not_read(unreadable: Sequence[Unreadable]) -> Document | None:
    """What is at the path and in no trace above."""
    items = [Item(item.text) for item in unreadable if not item.rejected]
    return Document("Not read", (), (Listing("Files and folders", items),)) if items else None


def _facts(context: TraceContext, options: argparse.Namespace) -> Report:
    return Report(lambda: Document(context.opened.title), lambda: facts_object(context.opened))


def facts_object(opened: Opened) -> dict[str, Any]:
    """The object of ``--json`` for one trace."""
    from torch_tb_profiler.views.overview.summary import summary

    return summary(opened.facts, identity(opened), opened.trace.entries, opened.span.lost or 0)


def _reports(
    traces: Iterable[Opened], settings: Settings, options: argparse.Namespace
) -> Iterator[Report]:
    from torch_tb_profiler.api.trace_context import TraceContext

    def report(opened: Opened, findings: FindingsPayload) -> Report:
        return Report(lambda: trace_document(TraceContext(opened, settings), findings), None)

    return run_reports(options, RunFindings(traces, settings), report)


def trace_document(context: TraceContext, findings: FindingsPayload) -> Document:
    """The facts of one trace."""
    from torch_tb_profiler.views.overview.payload import RankInJob, overview_payload
    from torch_tb_profiler.views.steps import choose

    opened, worker = context.opened, context.opened.worker
    place = RankInJob(len(opened.beside), worker.rank, worker.rank_source, worker.world_size)
    overview = overview_payload(opened.facts, choose(opened.facts), place)
    return _document(context, facts_object(opened), overview, findings)


def _document(
    context: TraceContext,
    summary: dict[str, Any],
    overview: OverviewPayload,
    findings: FindingsPayload,
) -> Document:
    """One trace: its ``summary`` object, its overview and its findings."""
    from torch_tb_profiler.cli.finding_texts import findings_block
    from torch_tb_profiler.views.steps import step_noun

    noun = step_noun(context.facts, context.selection().steps)
    events, opened = summary["events"], context.opened
    lost = f", {format_count(events['lost'])} of them lost" if events["lost"] else ""
    extent = (
        f"{format_count(events['total'])} events{lost}, {format_ns(summary['span_ns'])} long, steps from:"
        f" {overview.step_source}"
    )
    if _allocations_alone(context):
        extent = f"{format_count(events['total'])} records of allocators{lost}"
    lines = (
        summary["path"],
        " · ".join(f"{fact.label} {fact.value}" for fact in overview.configuration),
        extent,
        *(sentence.text for sentence in overview.headline),
        *overview.notes,
    )
    blocks = (
        findings_block(findings, opened),
        _breakdown(overview, noun),
        _what_if(context, noun),
        _operators(opened, summary),
        _kernels(opened, summary),
        _memory(context),
        _steps(overview),
        _devices(overview),
        _defects(overview),
        _missing(overview),
    )
    return Document(
        opened.title,
        tuple(line for line in lines if line),
        tuple(block for block in blocks if block),
    )


def _breakdown(overview: OverviewPayload, noun: str) -> Block | None:
    average = overview.average
    if average is None:
        return None
    import msgspec

    from torch_tb_profiler.analysis.facts.steps import WHOLE_SPAN
    from torch_tb_profiler.views.words.texts import CATEGORY_LABELS

    wall = average.wall_ns
    times = msgspec.structs.asdict(average.categories_ns)
    rows = []
    # The largest first: of a short text the first rows are left.
    for key, label in sorted(CATEGORY_LABELS.items(), key=lambda item: -(times[item[0]] or 0)):
        share = times[key] / wall if wall and times[key] is not None else None
        rows.append(
            (label, format_ns(times[key]), format_share(share), "#" * round((share or 0) * BAR))
        )
    columns = (Column("Category", "text"), Column("Time"), Column("Share"), Column("", "bar"))
    title = (
        f"Time of the whole recording: {format_ns(wall)}"
        if overview.step_source == WHOLE_SPAN
        else f"Step time: {format_ns(wall)}, average of {format_counted(average.steps, noun)}"
    )
    return Table(title, columns, rows, len(rows))


def _what_if(context: TraceContext, noun: str) -> Block | None:
    """What the usual changes would save."""
    from torch_tb_profiler.analysis.figures.selection import judged
    from torch_tb_profiler.analysis.what_if.table import preset_table
    from torch_tb_profiler.cli.what_if import predictions

    selection = judged(context.facts, context.selection())
    rows = preset_table(context.facts, context.insight, selection)
    if not rows.n:
        return None
    error = format_share(abs(float(rows["replay_error"][0])))
    measured = format_ns(float(rows["measured_ns"][0]))
    note = "Each alone: these savings do not add up. Several at once: " + hint(
        "torch-tb-profiler whatif PATH --change CHANGE …", "what_if with several changes"
    )
    title = f"What if, of a {noun} of {measured}; replay error {error}"
    return predictions(title, rows, note, PRESETS_SHOWN)


def _steps(overview: OverviewPayload) -> Block | None:
    steps = overview.steps
    count = len(steps["step"])
    if count < 2:
        return None
    rows = [
        (str(row), steps["name"][row], format_ns(steps["wall_ns"][row]), _remarks(steps, row))
        for row in range(min(count, STEPS_SHOWN))
    ]
    return Table(
        "Steps",
        (Column("Index"), Column("Name", "name"), Column("Time"), Column("Remark", "text")),
        rows,
        count,
    )


def _remarks(steps: Mapping[str, Any], row: int) -> str:
    reason = steps["odd_reason"][row]
    unrecorded = steps["earlier_ns"][row] + steps["silent_ns"][row]
    words = {
        "cold": "cold",
        "cut": "recorded in part" if unrecorded else "cut off by the end of the recording",
        "odd": f"odd: {reason}" if reason else "odd",
    }
    kind = steps["kind"][row]
    said = [kind] if kind not in ("", "usual", "cold") else []
    return ", ".join([*said, *(text for flag, text in words.items() if steps[flag][row])])


def _devices(overview: OverviewPayload) -> Block | None:
    if not overview.devices:
        return None
    words = overview.vocabulary
    items = []
    for device in overview.devices:
        figures = (
            ("utilization", device.utilization),
            (f"est. {words.multiprocessor} efficiency", device.sm_efficiency),
            ("est. occupancy", device.occupancy),
            (f"{words.matrix_cores} time", device.matrix_core_share),
        )
        text = ", ".join(f"{label} {format_share(value)}" for label, value in figures)
        items.append(Item(f"{device.title} · {device.details}", (text, *device.unknown), ""))
    return Listing("Devices", items)


def _operators(opened: Opened, summary: dict[str, Any]) -> Block | None:
    rows = summary["operators"]
    if not rows:
        return None
    from torch_tb_profiler.analysis.figures.longest_events import longest_calls
    from torch_tb_profiler.analysis.figures.selection import select

    device = rows[0]["device_self_ns"] is not None
    columns = {"device_self_ns": "Device self", "device_total_ns": "Device total"} if device else {}
    columns |= {"host_self_ns": "Host self", "host_total_ns": "Host total"}
    by = f"{'device' if device else 'host'} self time"
    return _ranking(
        f"Operators of {_window(opened)}: {format_counted(len(rows), 'name')}",
        by,
        rows,
        columns,
        longest_calls(opened.trace, opened.facts, select(opened.facts)),
    )


def _kernels(opened: Opened, summary: dict[str, Any]) -> Block | None:
    rows = summary["kernels"]
    if not rows:
        return None
    from torch_tb_profiler.analysis.figures.kernels import short_name
    from torch_tb_profiler.analysis.figures.longest_events import longest_kernels
    from torch_tb_profiler.analysis.figures.selection import select

    counts = summary["attribution"]
    columns = {"total_ns": "Total", "mean_ns": "Mean", "min_ns": "Min", "max_ns": "Max"}
    event = longest_kernels(opened.trace, opened.facts, select(opened.facts))
    followed = (
        f"{format_count(counts['kernels'])} kernels in the recording: {format_count(counts['with_launch'])} with launch,"
        f" {format_count(counts['with_operator'])} with operator"
    )
    title = f"Kernels of {_window(opened)}: {format_counted(len(rows), 'name')}"
    return _ranking(title, "total time", rows, columns, event, short_name, followed)


def _window(opened: Opened) -> str:
    from torch_tb_profiler.analysis.figures.selection import select
    from torch_tb_profiler.views.steps import window_text

    return window_text(opened.facts, select(opened.facts))


def _ranking(
    title: str,
    by: str,
    rows: list[dict[str, Any]],
    columns: dict[str, str],
    longest: Mapping[str, int],
    shown: Callable[[str], str] = str,
    note: str = "",
) -> Table:
    """The first rows: name, calls, times (key → heading) and the id of the longest event."""
    body = [
        (
            shown(r["name"]),
            format_count(r["calls"]),
            *(format_ns(r[key]) for key in columns),
            event_id(longest.get(r["name"])),
        )
        for r in rows[:TOP]
    ]
    headings = map(Column, ("Calls", *columns.values(), "Longest"))
    head = (Column("Name", "name"), *headings)
    return Table(f"{title}, top {len(body)} by {by}", head, body, len(rows), note)


def _allocations_alone(context: TraceContext) -> bool:
    return bool(context.trace["memory"].n) and not context.trace["spans"].n


def _memory(context: TraceContext) -> Block | None:
    """Of a file of allocations alone, which has nothing else to tell."""
    if not _allocations_alone(context):
        return None
    from torch_tb_profiler.cli.tables import records

    alive = records(TABLES["memory_alive"].computed(context.source()))
    if not alive:
        return None
    has_history = context.insight["memory_devices"]["records"].any()
    before = ", from before the history" if has_history else ""
    body = [
        (
            row["device"],
            format_bytes(row["bytes"]),
            format_count(row["blocks"]),
            next(filter(None, map(row.get, _ALLOCATED_BY)), "unknown")
            + (before if row["oldest_ns"] is None else ""),
        )
        for row in alive[:TOP]
    ]
    totals: Counter[str] = Counter()
    for row in alive:
        totals[row["device"]] += row["bytes"]
    whole = ", ".join(f"{format_bytes(total)} on {device}" for device, total in totals.items())
    head = (
        Column("Device", "text"),
        Column("Bytes"),
        Column("Blocks"),
        Column("Allocated by", "name"),
    )
    return Table(f"Alive at the peak: {whole}", head, body, len(alive))


def _defects(overview: OverviewPayload) -> Block | None:
    rows = [
        (
            item.name.replace("_", " "),
            item.severity,
            format_count(item.count),
            format_share(item.touched_share),
        )
        for item in overview.health
    ]
    return (
        Table(
            "Trace health",
            (
                Column("Defect", "text"),
                Column("Severity", "text"),
                Column("Count"),
                Column("Of steps"),
            ),
            rows,
            len(rows),
        )
        if rows
        else None
    )


def _missing(overview: OverviewPayload) -> Block | None:
    items = [Item(f"{missing.what}: {missing.why}", (), "") for missing in overview.missing]
    return Listing("Not recorded", items) if items else None
