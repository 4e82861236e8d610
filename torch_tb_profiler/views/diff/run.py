"""Two runs of several workers compared: the mean of what their workers show, and each worker's own
verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, get_args

import msgspec

from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.rank_test import compare_samples
from torch_tb_profiler.analysis.diff.significance import LEVEL
from torch_tb_profiler.analysis.diff.table import RUN_DIFF
from torch_tb_profiler.analysis.figures.step_table import STEPS
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.units import and_more, format_count, format_delta, format_names, format_ns
from torch_tb_profiler.views.diff import wire
from torch_tb_profiler.views.diff.causes import because, causes_of, shown_by
from torch_tb_profiler.views.diff.file import MOST_LINES, NAMES, diff_markdown, event_names
from torch_tb_profiler.views.diff.memory import joined_memory, with_memory
from torch_tb_profiler.views.diff.payload import NO_TREE, Recording, diff_payload
from torch_tb_profiler.views.diff.verdict import is_whole, judged, signed_share
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.wire import Subject, Wire
from torch_tb_profiler.views.words.escapes import markdown_name, markdown_table, markdown_text

MOST_NOTES = 8
_CHANGED = {True: "yes", False: "no", None: "cannot tell"}
ALL_ROWS = 1 << 24
Key = tuple[wire.ChangeTable, str, str | None]
Names = tuple[str, str]
"""Of the worker of A and that of B, see ``DiffWorker``."""
_RowOf = tuple[wire.Columns, int, Names]
"""A row of the table of a pair."""


class Pair(msgspec.Struct, frozen=True):
    """A worker of A, the one of B that it is compared with, what the two are called, and what was
    found; see ``views/diff/payload.py``.
    """

    name: str
    found: Comparison
    a: Recording
    b: Recording


class DiffWorker(Wire, frozen=True, kw_only=True):
    """One pair of workers. ``sure``: its verdict's ``changed``, where true only if p is small enough for
    so many workers (else null).

    ``worker_*``: what ``torch-tb-profiler event`` finds them by; ``event_*``: the longest call of
        what made most of the change (null: nothing did).
    """

    name: str
    a: wire.DiffSide
    b: wire.DiffSide
    verdict: wire.Verdict
    sure: bool | None
    worker_a: str
    worker_b: str
    event_a: int | None
    event_b: int | None


class RunDiffPayload(wire.DiffPayload, frozen=True, kw_only=True):
    """As ``DiffPayload``, of means over pairs of workers; those whose steps changed by most first.
    ``only_*``: workers without a counterpart.

    ``selected`` of a side is the least of its workers, ``spread_ns`` their mean; ``headline``, ``steps``
    and ``tree`` belong to single workers and are empty. A row's ``beyond``: of more than half of the
    workers that tell.
    """

    changes: Annotated[dict[str, Any], table_of(RUN_DIFF)]
    workers: list[DiffWorker]
    only_a: list[str]
    only_b: list[str]


def run_payload(
    pairs: Sequence[Pair], labels: tuple[str, str], only: tuple[list[str], list[str]]
) -> RunDiffPayload:
    """Everything about two runs; ``labels`` name them, ``only`` the workers of each without a
    counterpart.
    """
    payloads = [diff_payload(pair.found, pair.a, pair.b, ALL_ROWS, tree=False) for pair in pairs]
    test = compare_samples([(pair.found.a.sample, pair.found.b.sample) for pair in pairs])
    sides = [
        _side([getattr(p, name) for p in payloads], label)
        for name, label in zip("ab", labels, strict=True)
    ]
    names = list(
        zip(
            *(
                [_name(one, ones) for one in ones]
                for ones in ([p.a for p in pairs], [p.b for p in pairs])
            ),
            strict=True,
        )
    )
    mean = sides[0].mean_ns or 0
    whole = all(is_whole(one.facts) for pair in pairs for one in (pair.found.a, pair.found.b))
    said = judged(test, whole, f" over {len(pairs)} workers" if len(pairs) > 1 else "")
    columns = _columns([p.changes for p in payloads], names, mean)
    tables = [
        table
        for table in get_args(wire.ChangeTable)
        if any(w.table == table for p in payloads for w in p.wholes)
    ]
    workers = sorted(
        (_worker(*one, len(pairs)) for one in zip(pairs, payloads, names, strict=True)),
        key=lambda w: -abs(w.verdict.share or 0.0),
    )
    memory = joined_memory([(one.name, p.memory) for one, p in zip(pairs, payloads, strict=True)])
    together = RunDiffPayload(
        a=sides[0],
        b=sides[1],
        headline=payloads[0].headline if len(payloads) == 1 else [],
        verdict=msgspec.structs.replace(said, because=because(said, columns)),
        causes=causes_of(said, columns),
        device_time=all(p.device_time for p in payloads),
        changes=columns,
        wholes=[_whole(table, columns) for table in tables],
        tree=NO_TREE,
        tree_pooled=0,
        notes=_notes([(pair.name, p.notes) for pair, p in zip(pairs, payloads, strict=True)]),
        missing=list({m.key: m for p in payloads for m in p.missing}.values()),
        workers=workers,
        only_a=only[0],
        only_b=only[1],
    )
    return with_memory(together, memory)


def run_markdown(payload: RunDiffPayload, most: int = MOST_LINES) -> str:
    """The comparison of two runs for a Markdown file: sentences, the workers, then the tables."""
    if payload.memory:
        return "\n".join([diff_markdown(payload, most), *_only(payload), ""])
    head, mark, tables = diff_markdown(payload, most).partition("\n### ")
    return "\n".join([head.rstrip("\n"), *_lines(payload, max(most, 1)), ""]) + mark + tables


def _name(one: Recording, all_of_side: Sequence[Recording]) -> str:
    """What ``torch-tb-profiler event`` finds a trace by: its worker, or its file where the worker
    has several.
    """
    return (
        one.worker if [other.worker for other in all_of_side].count(one.worker) == 1 else one.label
    )


def _worker(pair: Pair, payload: wire.DiffPayload, names: Names, workers: int) -> DiffWorker:
    said = payload.verdict
    # The only pair is the run itself.
    unsure = workers > 1 and said.changed and (said.p is None or said.p * workers > LEVEL)
    sure = None if unsure else said.changed
    row = shown_by(said, payload.changes)
    events = (
        (None, None)
        if row is None
        else (payload.changes["event_a"][row], payload.changes["event_b"][row])
    )
    return DiffWorker(
        name=pair.name,
        a=payload.a,
        b=payload.b,
        verdict=said,
        sure=sure,
        worker_a=names[0],
        worker_b=names[1],
        event_a=events[0],
        event_b=events[1],
    )


def _side(sides: Sequence[wire.DiffSide], label: str) -> wire.DiffSide:
    means = [s.mean_ns for s in sides if s.mean_ns is not None]
    spreads = [s.spread_ns for s in sides if s.spread_ns is not None]
    return wire.DiffSide(
        subject=Subject(job=sides[0].run, ranks=format_names([side.worker for side in sides])),
        run=sides[0].run,
        worker=f"{len(sides)} worker{'s' if len(sides) != 1 else ''}",
        span="",
        label=label,
        device=", ".join(dict.fromkeys(s.device for s in sides if s.device)) or None,
        step_source=", ".join(dict.fromkeys(s.step_source for s in sides)),
        steps=wire_columns(STEPS.build(NO_STRINGS)),
        selected=min(s.selected for s in sides),
        mean_ns=round(sum(means) / len(means)) if means else None,
        spread_ns=round(sum(spreads) / len(spreads)) if len(spreads) == len(sides) else None,
    )


def _columns(parts: Sequence[wire.Columns], names: Sequence[Names], step: float) -> dict[str, Any]:
    """Rows of equal names together, as means over the workers; a worker that lacks one counts with
    0.
    """
    found: dict[Key, list[_RowOf]] = {}
    for part, workers in zip(parts, names, strict=True):
        for i, key in enumerate(zip(part["table"], part["name"], part["name_b"], strict=True)):
            found.setdefault(key, []).append((part, i, workers))
    rows = [_row(key, cells, len(parts), step) for key, cells in found.items()]
    order = {table: place for place, table in enumerate(get_args(wire.ChangeTable))}
    rows.sort(key=lambda row: (order[row["table"]], -abs(row["delta_ns"])))
    return {column.name: [row[column.name] for row in rows] for column in RUN_DIFF.columns}


def _row(key: Key, cells: Sequence[_RowOf], workers: int, step: float) -> dict[str, Any]:
    def mean(name: str) -> float | None:
        values = [value for part, i, _ in cells if (value := part[name][i]) is not None]
        return sum(values) / workers if values else None

    times = {
        name: None if (value := mean(name)) is None else round(value)
        for name in ("time_a_ns", "time_b_ns", "host_a_ns", "host_b_ns")
    }
    delta = (times["time_b_ns"] or 0) - (times["time_a_ns"] or 0)
    statuses = {part["status"][i] for part, i, _ in cells}
    told = [part["beyond"][i] for part, i, _ in cells if part["beyond"][i] is not None]
    most, at, named = max(
        cells, key=lambda cell: cell[0]["delta_ns"][cell[1]] * (-1 if delta < 0 else 1)
    )
    events = (most["event_a"][at], most["event_b"][at])
    return {
        "table": key[0],
        "name": key[1],
        "name_b": key[2],
        "short": cells[0][0]["short"][cells[0][1]],
        "rest": False,
        "status": statuses.pop() if len(statuses) == 1 else "changed",
        "calls_a": mean("calls_a"),
        "calls_b": mean("calls_b"),
        **times,
        "delta_ns": delta,
        "share": delta / step if step else None,
        "beyond": sum(map(bool, told)) * 2 > len(told) if told else None,
        "event_a": events[0],
        "event_b": events[1],
        **{
            f"worker_{side}": None if event is None else name
            for side, event, name in zip("ab", events, named, strict=True)
        },
    }


def _whole(table: wire.ChangeTable, columns: wire.Columns) -> wire.ChangeWhole:
    mine = [i for i, key in enumerate(columns["table"]) if key == table]
    times = [
        sum(column[i] or 0 for i in mine) for column in (columns["time_a_ns"], columns["time_b_ns"])
    ]
    return wire.ChangeWhole(table=table, time_a_ns=times[0], time_b_ns=times[1], pooled=0)


def _notes(listed: Sequence[tuple[str, list[str]]]) -> list[str]:
    """Each note once, with the workers that it holds for where it does not hold for all."""
    holders: dict[str, list[str]] = {}
    for worker, texts in listed:
        for text in texts:
            holders.setdefault(text, []).append(worker)
    # What all workers have in common first.
    ordered = sorted(holders.items(), key=lambda item: -len(item[1]))
    shown = [
        text if len(workers) == len(listed) else f"{format_names(workers)}: {text}"
        for text, workers in ordered[:MOST_NOTES]
    ]
    return [
        *shown,
        *(
            [f"{format_count(len(ordered) - MOST_NOTES)} more remarks on single workers."]
            if len(ordered) > MOST_NOTES
            else []
        ),
    ]


def _only(payload: RunDiffPayload) -> Iterator[str]:
    for name, only in zip(NAMES, (payload.only_a, payload.only_b), strict=True):
        if only:
            yield f"- Only {name}, not compared: {markdown_text(format_names(only))}."


def _lines(payload: RunDiffPayload, most: int) -> Iterator[str]:
    yield from _only(payload)
    rows = []
    for worker in payload.workers[:most]:
        said = worker.verdict
        times = [format_ns(side.mean_ns) for side in (worker.a, worker.b)]
        change = format_delta(said.delta_ns)
        why = markdown_text(said.because.removeprefix("Mostly ").rstrip("."))
        events = event_names((worker.event_a, worker.event_b), (worker.worker_a, worker.worker_b))
        share, changed = signed_share(said.share), _CHANGED[worker.sure]
        rows.append((markdown_name(worker.name), *times, change, share, changed, events, why))
    labels = ("name", "before", "after", "change", "of the step", "changed", "longest", "mostly")
    yield from ("", "### Workers", "", *markdown_table(labels, rows, range(1, 5)))
    left = payload.workers[most:]
    if left:
        shares = [w.verdict.share or 0.0 for w in left]
        ends = " to ".join(dict.fromkeys((signed_share(min(shares)), signed_share(max(shares)))))
        yield from ("", f"{and_more(len(left))}, whose steps changed by {ends}")
