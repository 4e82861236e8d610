"""A comparison as a file: CSV by RFC 4180 for spreadsheets, Markdown for a review."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from torch_tb_profiler.analysis.diff.table import RUN_DIFF
from torch_tb_profiler.units import UNKNOWN, format_delta, format_ns, format_number, format_share
from torch_tb_profiler.views.diff.memory import memory_markdown
from torch_tb_profiler.views.diff.verdict import signed_share
from torch_tb_profiler.views.diff.wire import ChangeTable, Columns, DiffPayload, DiffSide, Verdict
from torch_tb_profiler.views.words.escapes import (
    csv_field,
    markdown_name,
    markdown_table,
    markdown_text,
)

DiffFormat = Literal["csv", "markdown"]
MOST_LINES = 15
"""Rows of each table of the Markdown text."""
NAMES = ("before", "after")
"""What the sides, A and B of the arguments, are called in texts."""
LEAST_SHARE = 0.0005
"""Rows that change the step by less stand together there."""
LEAST_CAUSE = 0.02
"""Share of the change below which causes stand together."""
_TITLES: dict[ChangeTable, str] = {
    "category": "Step-time breakdown",
    "operator": "Operators",
    "host": "Operators on the host",
    "kernel": "Device work",
    "runtime": "Runtime calls",
    "module": "Modules",
}


def diff_csv(payload: DiffPayload) -> str:
    """Every row of every table; the last row of a table pools what is beyond its limit. Times in ns
    per step; of two recordings of allocations sizes in bytes.
    """
    named = [column.name for column in RUN_DIFF.columns if column.doc]
    columns = {name: payload.changes[name] for name in named if name in payload.changes}
    if payload.memory:
        columns = payload.memory.rows
    lines = [
        ",".join(columns),
        *(",".join(map(csv_field, row)) for row in zip(*columns.values(), strict=True)),
    ]
    return "".join(f"{line}\r\n" for line in lines)


def diff_markdown(payload: DiffPayload, most: int = MOST_LINES) -> str:
    """The answer, how sure it is, the two sides, notes, and what changed most in each table: at most ``most``
    rows of each, 0: no tables.
    """
    if payload.memory:
        return memory_markdown(payload, payload.memory, most)
    verdict = payload.verdict
    answer, *more = dict.fromkeys((*payload.headline, verdict.sentence, verdict.because))
    first = [f"**{markdown_text(answer)}**", ""]
    for sentence in filter(None, more):
        first += [markdown_text(sentence), ""]
    noun = "items" if verdict.unit else "steps"
    lines = [*first, *_sides(payload.a, payload.b, noun), *_test(verdict)]
    lines += [f"- {markdown_text(note)}" for note in payload.notes]
    lines += _causes(payload, most)
    for table in get_args(ChangeTable) if most else ():
        lines += _table(payload, table, most)
    return "\n".join([*lines, ""])


def _sides(a: DiffSide, b: DiffSide, noun: str) -> list[str]:
    rows = [
        (
            name,
            markdown_name(side.label),
            markdown_name(side.device or "") or UNKNOWN,
            str(side.selected),
            format_ns(side.mean_ns),
            format_ns(side.spread_ns),
        )
        for name, side in zip(NAMES, (a, b), strict=True)
    ]
    labels = ("", "recording", "device", noun, "mean", "deviation")
    return [*markdown_table(labels, rows, (3, 4, 5)), ""]


def _test(verdict: Verdict) -> Iterator[str]:
    if verdict.test:
        yield f"- {verdict.test}{'' if verdict.p is None else f'; p = {verdict.p:.2g}'}."


def _causes(payload: DiffPayload, most: int) -> list[str]:
    """The causes, and what they add up to."""
    whole = payload.verdict.delta_ns or 0
    shown = [one for one in payload.causes if abs(one.share) >= LEAST_CAUSE][:most]
    if not shown or payload.verdict.changed is False:
        return []
    work = payload.verdict.work
    of = f", of 1/{format_number(work.factor)} of the work after" if work else ""
    rows = [
        (markdown_name(c.what), c.category, format_delta(c.delta_ns), format_share(c.share))
        for c in shown
    ]
    left = whole - sum(one.delta_ns for one in shown)
    if left:
        rows.append(("others", "", format_delta(left), format_share(left / whole)))
    rows.append(("all", "", format_delta(whole), ""))
    labels = ("what", "category", "change", "of the change")
    return ["", f"### Causes{of}", "", *markdown_table(labels, rows, (2, 3))]


def _table(payload: DiffPayload, table: ChangeTable, most: int) -> list[str]:
    changes = payload.changes
    rows = [i for i, key in enumerate(changes["table"]) if key == table]
    shown = [
        i for i in rows if abs(changes["share"][i] or 0.0) >= LEAST_SHARE and not changes["rest"][i]
    ][:most]
    if not shown:
        return []
    events = any(
        changes["event_a"][i] is not None or changes["event_b"][i] is not None for i in shown
    )
    labels = ("name", "before", "after", "change", "of the step", "beyond noise", "longest")
    cells = [(*_cells(changes, i), _events(changes, i)) for i in shown]
    others = set(rows) - set(shown)
    if others:
        times = [sum(changes[f"time_{side}_ns"][i] or 0 for i in others) for side in "ab"]
        cells.append(_sum_cells("others", *times))
    whole = next(w for w in payload.wholes if w.table == table)
    cells.append(_sum_cells("all", whole.time_a_ns, whole.time_b_ns))
    told = slice(None if events else -1)
    lines = markdown_table(labels[told], [row[told] for row in cells], range(1, 5))
    return ["", f"### {_TITLES[table]}", "", *lines]


def _sum_cells(name: str, before: int, after: int) -> tuple[str, ...]:
    return name, format_ns(before), format_ns(after), format_delta(after - before), "", "", ""


def _cells(changes: Columns, i: int) -> tuple[str, ...]:
    other = changes["name_b"][i]
    name = markdown_name(changes["short"][i]) + (
        f" → {markdown_name(other)}"
        if other is not None and changes["table"][i] != "kernel"
        else ""
    )
    status = changes["status"][i] if changes["status"][i] in ("new", "gone") else ""
    return (
        f"{name} ({status})" if status else name,
        format_ns(changes["time_a_ns"][i]),
        format_ns(changes["time_b_ns"][i]),
        format_delta(changes["delta_ns"][i]),
        signed_share(changes["share"][i]),
        noise_word(changes["beyond"][i]),
    )


def _events(changes: Columns, i: int) -> str:
    """The longest call on either side, as texts name events."""
    workers = (
        (changes["worker_a"][i], changes["worker_b"][i]) if "worker_a" in changes else (None, None)
    )
    return event_names((changes["event_a"][i], changes["event_b"][i]), workers)


def event_names(
    events: tuple[int | None, int | None], workers: tuple[str | None, str | None] = (None, None)
) -> str:
    """``#12 → #34 of rank3``: an event of A and one of B, and of which workers they are where that
    must be said; empty where there is neither.
    """
    named = [UNKNOWN if event is None else f"#{event}" for event in events]
    if named == [UNKNOWN, UNKNOWN]:
        return ""
    suffixes = [
        "" if event is None or worker is None else f" of {worker}"
        for event, worker in zip(events, workers, strict=True)
    ]
    # What both have in common is said once.
    shown = (
        f"{' → '.join(named)}{suffixes[0]}"
        if suffixes[0] == suffixes[1]
        else " → ".join(map("".join, zip(named, suffixes, strict=True)))
    )
    return markdown_text(shown)


def noise_word(beyond: bool | None) -> str:
    """Whether the change of a row is more than noise, in a word."""
    return "unknown" if beyond is None else "yes" if beyond else "not shown"
