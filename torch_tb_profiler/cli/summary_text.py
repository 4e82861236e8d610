"""A trace's facts as plain text for a terminal, at most 100 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from torch_tb_profiler.analysis.kernels import short_name
from torch_tb_profiler.units import format_bytes, format_ns
from torch_tb_profiler.views.findings_wire import FindingsPayload
from torch_tb_profiler.views.texts import CATEGORY_LABELS
from torch_tb_profiler.views.wire import DeviceSummary, OverviewPayload, StepItem

WIDTH = 100
TOP = 10
STEPS_SHOWN = 12
BAR = 30
UNKNOWN = "unknown"


def report(summary: dict[str, Any], overview: OverviewPayload, findings: FindingsPayload) -> str:
    """The text for one trace: its ``summary`` object, its overview and its findings."""
    blocks = [
        _head(summary, overview),
        _findings(findings),
        _breakdown(overview),
        _steps(overview),
        _devices(overview),
        _operators(summary),
        _kernels(summary),
        _defects(summary),
        _missing(overview),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _head(summary: dict[str, Any], overview: OverviewPayload) -> str:
    title = " · ".join(part for part in (summary["run"], summary["worker"], summary["span"]) if part)
    events = summary["events"]
    lines = [_cut(printable(title), WIDTH), "=" * min(WIDTH, max(20, len(title))), _cut(printable(summary["path"]), WIDTH)]
    lines += textwrap.wrap(" · ".join(f"{printable(f.label)} {printable(f.value)}" for f in overview.configuration), WIDTH)
    lost = f", {events['lost']:,} of them lost" if events["lost"] else ""
    lines.append(f"{events['total']:,} events{lost}, {format_ns(summary['span_ns'])} long, steps from: {printable(overview.step_source)}")
    lines += [line for note in overview.notes for line in textwrap.wrap(printable(note), WIDTH)]
    return "\n".join(lines)


def _breakdown(overview: OverviewPayload) -> str:
    average = overview.average
    if average is None:
        return ""
    wall = average.wall_ns
    lines = [_section(f"Step time: {format_ns(wall)}, average of {average.steps} step{'s' if average.steps != 1 else ''}")]
    for key, label in CATEGORY_LABELS.items():
        value = getattr(average.categories_ns, key)
        share = value / wall if wall else 0.0
        lines.append(f"  {label:<14}{format_ns(value):>10}{share:>9.1%}  {'#' * round(share * BAR)}".rstrip())
    return "\n".join(lines)


def _steps(overview: OverviewPayload) -> str:
    if len(overview.steps) < 2:
        return ""
    shown = overview.steps[:STEPS_SHOWN]
    lines = [_section("Steps"), *(f"  {_cut(printable(s.name), 40):<40}{format_ns(s.wall_ns):>10}  {_remarks(s)}".rstrip() for s in shown)]
    if len(overview.steps) > len(shown):
        lines.append(f"  and {len(overview.steps) - len(shown)} more")
    return "\n".join(_cut(line, WIDTH) for line in lines)


def _remarks(step: StepItem) -> str:
    words = [word for word, is_so in (("cold", step.cold), ("cut off by the end of the recording", step.cut)) if is_so]
    if step.odd:
        words.append(f"odd: {step.odd_reason}" if step.odd_reason else "odd")
    return ", ".join(words)


def _devices(overview: OverviewPayload) -> str:
    if not overview.devices:
        return ""
    words = overview.vocabulary
    lines = [_section("Devices")]
    for device in overview.devices:
        lines.append(_cut(f"  {words.device} {device.id}: {_device_name(device)}", WIDTH))
        figures = (
            ("utilization", device.utilization),
            (f"est. {words.multiprocessor} efficiency", device.sm_efficiency),
            ("occupancy", device.occupancy),
            (f"{words.matrix_cores} time", device.matrix_core_share),
        )
        text = ", ".join(f"{label} {share(value)}" for label, value in figures)
        lines += textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _device_name(device: DeviceSummary) -> str:
    parts = [printable(device.name) if device.name else UNKNOWN]
    if device.memory_bytes is not None:
        parts.append(format_bytes(device.memory_bytes))
    if device.capability is not None:
        parts.append(f"capability {printable(device.capability)}")
    return ", ".join(parts)


def _operators(summary: dict[str, Any]) -> str:
    rows = summary["operators"]
    if not rows:
        return ""
    device = rows[0]["device_self_ns"] is not None
    columns = {"device_self_ns": "Device self", "device_total_ns": "Device total"} if device else {}
    columns |= {"host_self_ns": "Host self", "host_total_ns": "Host total"}
    body = [(printable(r["name"]), f"{r['calls']:,}", *(_time(r[key]) for key in columns)) for r in rows[:TOP]]
    title = f"Operators: {_names(len(rows))}, top {len(body)} by {'device' if device else 'host'} self time"
    return f"{_section(title)}\n{_table(('Name', 'Calls', *columns.values()), body)}"


def _kernels(summary: dict[str, Any]) -> str:
    rows = summary["kernels"]
    if not rows:
        return ""
    counts = summary["attribution"]
    keys = ("total_ns", "mean_ns", "min_ns", "max_ns")
    body = [(printable(short_name(r["name"])), f"{r['calls']:,}", *(_time(r[key]) for key in keys)) for r in rows[:TOP]]
    followed = f"{counts['kernels']:,} kernels: {counts['with_launch']:,} with launch, {counts['with_operator']:,} with operator"
    table = _table(("Name", "Calls", "Total", "Mean", "Min", "Max"), body)
    return f"{_section(f'Kernels: {_names(len(rows))}, top {len(body)} by total time')}\n{table}\n  {followed}"


def _findings(found: FindingsPayload) -> str:
    lines = [_section("Findings"), *textwrap.wrap(printable(found.headline), WIDTH, initial_indent="  ", subsequent_indent="  ")]
    for item in found.findings:
        lines += textwrap.wrap(printable(f"{item.title}. {item.sentence}"), WIDTH, initial_indent="  * ", subsequent_indent="    ")
        if item.line:
            lines.append(_cut(f"    at {printable(item.line)}", WIDTH))
        lines += textwrap.wrap(printable(f"Try: {item.attempt} But: {item.caveat}"), WIDTH, initial_indent="    ", subsequent_indent="    ")
    for text in found.unsure:
        lines += textwrap.wrap(printable(text), WIDTH, initial_indent="  ? ", subsequent_indent="    ")
    return "\n".join(lines)


def _defects(summary: dict[str, Any]) -> str:
    if not summary["defects"]:
        return ""
    lines = [f"  {d['severity']:<10}{d['count']:>10,}  {d['name'].replace('_', ' ')}" for d in summary["defects"]]
    return "\n".join([_section("Trace health"), *lines])


def _missing(overview: OverviewPayload) -> str:
    if not overview.missing:
        return ""
    lines = [line for m in overview.missing for line in textwrap.wrap(f"{m.what}: {m.why}", WIDTH, initial_indent="  ", subsequent_indent="    ")]
    return "\n".join([_section("Not recorded"), *lines])


def _names(count: int) -> str:
    return f"{count:,} name{'s' if count != 1 else ''}"


def _section(title: str) -> str:
    return f"{title}\n{'-' * len(title)}"


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table whose first column takes what the others leave."""
    widths = [max(len(row[i]) for row in (head, *body)) for i in range(len(head))]
    widths[0] = min(widths[0], WIDTH - 2 - sum(w + 2 for w in widths[1:]))
    lines = []
    for row in (head, *body):
        rest = "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append(f"  {_cut(row[0], widths[0]):<{widths[0]}}{rest}".rstrip())
    return "\n".join(lines)


def _time(value: int | None) -> str:
    return "-" if value is None else format_ns(value)


def share(value: float | None) -> str:
    """A fraction in percent, or that it is not known."""
    return UNKNOWN if value is None else f"{value:.1%}"


def printable(text: str) -> str:
    """Text from a trace without what could steer a terminal: control characters become ``?``."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
