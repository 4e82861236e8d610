"""What a change is made of: causes that add up to it, and the largest in one sentence."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from torch_tb_profiler.analysis.diff.causes import Cause, Part, category_of, causes
from torch_tb_profiler.analysis.diff.modules import OUTSIDE
from torch_tb_profiler.units import format_delta, format_names
from torch_tb_profiler.views.diff import wire
from torch_tb_profiler.views.diff.wire import ChangeTable, Columns, Verdict

LEAST_PART = 0.2
"""Share of the change of the step from which on a row is worth a word."""
_KINDS: tuple[tuple[str, Sequence[ChangeTable]], ...] = (
    ("operator", ("operator", "host")),
    ("module", ("module",)),
)
_ON_DEVICE = ("kernel", "memcpy", "memset", "communication")
_NET = " net of "


def causes_of(verdict: Verdict, changes: Columns) -> list[wire.Cause]:
    """The causes of the change of the step, the largest first."""
    whole = verdict.delta_ns or 0
    deltas, labels, rows = _parts(changes, _factor(verdict))
    found = causes(deltas, rows)
    sizes = [round(cause.delta) for cause in found]
    if sizes:
        sizes[0] += whole - sum(sizes)
    return [
        wire.Cause(
            what=_what(cause, [labels[key] for key in cause.categories]),
            category=labels[cause.categories[0]],
            delta_ns=size,
            share=size / whole if whole else 0.0,
        )
        for cause, size in zip(found, sizes, strict=True)
        if size
    ]


def because(verdict: Verdict, changes: Columns) -> str:
    """The category, its row, the operator and the module that changed most in the direction of the step;
    empty where it is shown that the step did not change.
    """
    if not verdict.delta_ns or verdict.changed is False:
        return ""
    parts = [_most_of_step(verdict, changes)]
    for kind, tables in _KINDS:
        row, delta = _most(tables, verdict, changes)
        parts.append("" if row is None else _words(kind, changes, row, delta))
    parts = [part for part in parts if part]
    return f"Mostly {'; '.join(parts)}." if parts else ""


def shown_by(verdict: Verdict, changes: Columns) -> int | None:
    """The row whose events show best what ``because`` says, or would say if the step's change were
    more than noise.
    """
    rows = [_most(tables, verdict, changes)[0] for _, tables in _KINDS]
    return next(
        (
            row
            for row in rows
            if row is not None
            and (changes["event_a"][row], changes["event_b"][row]) != (None, None)
        ),
        None,
    )


def _factor(verdict: Verdict) -> float:
    return 1.0 if verdict.work is None else verdict.work.factor


def _parts(
    changes: Columns, factor: float
) -> tuple[dict[str, float], dict[str, str], dict[str, list[Part]]]:
    """The change of each category, their labels, and the rows by category."""
    deltas: dict[str, float] = {}
    labels: dict[str, str] = {}
    rows: dict[str, list[Part]] = defaultdict(list)
    tables = set(changes["table"])
    host = "host" if "host" in tables else "operator"
    for i, table in enumerate(changes["table"]):
        delta = _delta(changes, i, factor)
        name, short = changes["name"][i], changes["short"][i]
        if table == "category":
            deltas[name], labels[name] = delta, short
        elif not changes["rest"][i]:
            key = {"kernel": category_of(name), "runtime": "runtime", host: "cpu_exec"}.get(table)
            if key is not None:
                rows[key].append(Part(short, delta, not _appeared(changes, i)))
    return deltas, labels, rows


def _delta(changes: Columns, i: int, factor: float) -> float:
    return (changes["time_b_ns"][i] or 0) / factor - (changes["time_a_ns"][i] or 0)


def _noise(verdict: Verdict, changes: Columns, i: int) -> bool:
    """Whether a row varies as much from step to step; that was tested of whole steps, so nothing is
    known of it where these do other work.
    """
    return verdict.work is None and changes["beyond"][i] is False


def _appeared(changes: Columns, i: int) -> bool:
    """Whether one side has no time in the row: it took another's place, or another took its."""
    return not (changes["time_a_ns"][i] and changes["time_b_ns"][i])


def _what(cause: Cause, categories: Sequence[str]) -> str:
    first, *others = cause.names or categories
    return f"{first}{_NET}{format_names(others)}" if others else first


def _most_of_step(verdict: Verdict, changes: Columns) -> str:
    """The category that makes most of a change, and the row that makes most of that."""
    whole = verdict.delta_ns or 0
    listed = causes_of(verdict, changes)
    sums: dict[str, int] = defaultdict(int)
    for cause in listed:
        sums[cause.category] += cause.delta_ns
    noise = {
        changes["short"][i] for i in range(len(changes["short"])) if _noise(verdict, changes, i)
    }
    likely = {key: total for key, total in sums.items() if key not in noise}
    category, total = max(likely.items(), key=lambda item: item[1] / whole, default=("", 0))
    if total / whole < LEAST_PART:
        return ""
    first = next(cause for cause in listed if cause.category == category)
    size = "" if first.delta_ns == total else f" {format_delta(first.delta_ns)}"
    if first.what.startswith(f"{category}{_NET}") and not size:
        return f"{first.what} {format_delta(total)}"
    enough = first.delta_ns / whole >= LEAST_PART
    told = (
        enough
        and not first.what.startswith(f"{category}{_NET}")
        and first.what not in {category, *noise}
    )
    return f"{category} {format_delta(total)}" + (f" ({first.what}{size})" if told else "")


def _most(
    tables: Sequence[ChangeTable], verdict: Verdict, changes: Columns
) -> tuple[int | None, float]:
    """The row of some tables that makes most of a change, None where none makes enough, and how much:
    of rows that took the place of others no more than these left, of no row more than the step changed
    where such rows count, on the device or on the host.
    """
    whole, factor = verdict.delta_ns or 0, _factor(verdict)
    sign = -1 if whole < 0 else 1
    places = [i for i, table in enumerate(changes["table"]) if table in tables]
    moved: dict[str, float] = defaultdict(float)
    for i in places:
        if _appeared(changes, i) or changes["name"][i] == OUTSIDE:
            moved[changes["table"][i]] += sign * _delta(changes, i, factor)
    most = _bounds(changes, sign, factor)
    best: tuple[int | None, float] = None, 0.0
    for i in places:
        table, size = changes["table"][i], sign * _delta(changes, i, factor)
        if _appeared(changes, i):
            size = min(size, moved[table])
        limit = min(abs(whole), most[table == "host"])
        enough = LEAST_PART * abs(whole) <= size <= (1 + LEAST_PART) * limit
        size = min(size, limit)
        told = not _noise(verdict, changes, i) and not changes["rest"][i]
        if enough and whole and told and changes["name"][i] != OUTSIDE and size > abs(best[1]):
            best = i, sign * size
    return best


def _bounds(changes: Columns, sign: int, factor: float) -> tuple[float, float]:
    """By how much the step changed in its direction on the device, and in operators on the host; without
    a device nothing bounds what is compared by host time.
    """
    device = host = 0.0
    for i, table in enumerate(changes["table"]):
        if table == "category" and changes["name"][i] in _ON_DEVICE:
            device += sign * _delta(changes, i, factor)
        elif table == "category" and changes["name"][i] == "cpu_exec":
            host = sign * _delta(changes, i, factor)
    return device if "host" in set(changes["table"]) else math.inf, host


def _words(kind: str, changes: Columns, row: int, delta: float) -> str:
    status = f"({changes['status'][row]})" if changes["status"][row] in ("new", "gone") else ""
    where = "on the host" if changes["table"][row] == "host" else ""
    words = (kind, changes["short"][row], status, format_delta(delta), where)
    return " ".join(filter(None, words))
