"""Two runs of several workers compared: the mean of what their workers show, and each worker's own verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.noise import LEVEL, compare_workers, is_beyond
from torch_tb_profiler.units import format_names, format_ns
from torch_tb_profiler.views import diff_wire as wire
from torch_tb_profiler.views.diff import Recording, diff_payload
from torch_tb_profiler.views.diff_causes import because, signed_time
from torch_tb_profiler.views.diff_file import MOST_LINES, diff_markdown, markdown_name, markdown_text, noise_word
from torch_tb_profiler.views.diff_verdict import is_whole, judged, signed_share
from torch_tb_profiler.views.wire import Wire

MOST_NOTES = 8
ALL_ROWS = 1 << 24
Key = tuple[wire.ChangeTable, str, str | None]


@dataclass(frozen=True)
class Pair:
    """A worker of A, the one of B that it is compared with, what the two are called, and what was found; see ``views/diff.py``."""

    name: str
    found: Comparison
    a: Recording
    b: Recording


class DiffWorker(Wire, frozen=True, kw_only=True):
    """One pair of workers. ``sure``: slower or faster by more than noise, also when so many workers are looked at (null: cannot be told)."""

    name: str
    a: wire.DiffSide
    b: wire.DiffSide
    verdict: wire.Verdict
    sure: bool | None


class RunDiffPayload(wire.DiffPayload, frozen=True, kw_only=True):
    """As ``DiffPayload``, of means over pairs of workers; those whose steps changed by most first. ``only_*``: workers without a counterpart.

    ``selected`` of a side is the least of its workers, ``spread_ns`` their mean; ``steps``, ``tree`` and ``event_*`` belong to single workers and are empty.
    A row's ``beyond``: of more than half of the workers that tell.
    """

    workers: list[DiffWorker]
    only_a: list[str]
    only_b: list[str]


def run_payload(pairs: Sequence[Pair], labels: tuple[str, str], only: tuple[list[str], list[str]]) -> RunDiffPayload:
    """Everything about two runs; ``labels`` name them, ``only`` the workers of each without a counterpart."""
    payloads = [diff_payload(pair.found, pair.a, pair.b, ALL_ROWS) for pair in pairs]
    test = compare_workers([(pair.found.a.walls, pair.found.b.walls) for pair in pairs])
    sides = [_side([getattr(p, name) for p in payloads], label) for name, label in zip("ab", labels, strict=True)]
    mean = sides[0].mean_ns or 0
    whole = all(is_whole(one.facts) for pair in pairs for one in (pair.found.a, pair.found.b))
    means = float(mean), float(sides[1].mean_ns or 0)
    said = judged(test, is_beyond(test, mean), means, (sides[0].selected, sides[1].selected), whole, f" over {len(pairs)} workers" if len(pairs) > 1 else "")
    columns = _columns([p.changes for p in payloads], mean)
    tables = [table for table in get_args(wire.ChangeTable) if any(w.table == table for p in payloads for w in p.wholes)]
    workers = sorted((_worker(pair, p, len(pairs)) for pair, p in zip(pairs, payloads, strict=True)), key=lambda w: -abs(w.verdict.share or 0.0))
    return RunDiffPayload(
        a=sides[0], b=sides[1], verdict=msgspec.structs.replace(said, because=because(said, columns)), device_time=all(p.device_time for p in payloads),
        changes=columns, wholes=[_whole(table, columns) for table in tables], tree=_NO_TREE, tree_pooled=0,
        notes=_notes([(pair.name, p.notes) for pair, p in zip(pairs, payloads, strict=True)]),
        missing=list({m.what: m for p in payloads for m in p.missing}.values()), workers=workers, only_a=only[0], only_b=only[1],
    )


def run_markdown(payload: RunDiffPayload, most: int = MOST_LINES) -> str:
    """As ``diff_markdown``, with the workers before the tables."""
    head, mark, tables = diff_markdown(payload, most).partition("\n### ")
    return "\n".join([head.rstrip("\n"), *_lines(payload, max(most, 1)), ""]) + mark + tables


_NO_TREE = msgspec.convert({field: [] for field in wire.DiffTreeColumns.__struct_fields__}, wire.DiffTreeColumns)


def _worker(pair: Pair, payload: wire.DiffPayload, workers: int) -> DiffWorker:
    said = payload.verdict
    sure = None if said.beyond is None or said.p is None else said.beyond and said.p * workers < LEVEL
    return DiffWorker(name=pair.name, a=payload.a, b=payload.b, verdict=said, sure=sure)


def _side(sides: Sequence[wire.DiffSide], label: str) -> wire.DiffSide:
    means, spreads = [s.mean_ns for s in sides if s.mean_ns is not None], [s.spread_ns for s in sides if s.spread_ns is not None]
    return wire.DiffSide(
        run=sides[0].run, worker=f"{len(sides)} worker{'s' if len(sides) != 1 else ''}", span="", label=label,
        device=", ".join(dict.fromkeys(s.device for s in sides if s.device)) or None, step_source=", ".join(dict.fromkeys(s.step_source for s in sides)),
        steps=[], selected=min(s.selected for s in sides), mean_ns=round(sum(means) / len(means)) if means else None,
        spread_ns=round(sum(spreads) / len(spreads)) if len(spreads) == len(sides) else None,
    )


def _columns(parts: Sequence[wire.ChangeColumns], step: float) -> wire.ChangeColumns:
    """Rows of equal names together, as means over the workers; a worker that lacks one counts with 0."""
    found: dict[Key, list[tuple[wire.ChangeColumns, int]]] = {}
    for part in parts:
        for i, key in enumerate(zip(part.table, part.name, part.name_b, strict=True)):
            found.setdefault(key, []).append((part, i))
    rows = [_row(key, cells, len(parts), step) for key, cells in found.items()]
    order = {table: place for place, table in enumerate(get_args(wire.ChangeTable))}
    rows.sort(key=lambda row: (order[row["table"]], -abs(row["delta_ns"])))
    return msgspec.convert({name: [row[name] for row in rows] for name in wire.ChangeColumns.__struct_fields__}, wire.ChangeColumns)


def _row(key: Key, cells: Sequence[tuple[wire.ChangeColumns, int]], workers: int, step: float) -> dict[str, Any]:
    def mean(name: str) -> float | None:
        values = [value for part, i in cells if (value := getattr(part, name)[i]) is not None]
        return sum(values) / workers if values else None

    times = {name: None if (value := mean(name)) is None else round(value) for name in ("time_a_ns", "time_b_ns", "host_a_ns", "host_b_ns")}
    delta = (times["time_b_ns"] or 0) - (times["time_a_ns"] or 0)
    statuses = {part.status[i] for part, i in cells}
    told = [part.beyond[i] for part, i in cells if part.beyond[i] is not None]
    return {
        "table": key[0], "name": key[1], "name_b": key[2], "short": cells[0][0].short[cells[0][1]], "rest": False,
        "status": statuses.pop() if len(statuses) == 1 else "changed", "calls_a": mean("calls_a"), "calls_b": mean("calls_b"), **times,
        "delta_ns": delta, "share": delta / step if step else None, "beyond": sum(map(bool, told)) * 2 > len(told) if told else None,
        "event_a": None, "event_b": None,
    }


def _whole(table: wire.ChangeTable, columns: wire.ChangeColumns) -> wire.ChangeWhole:
    mine = [i for i, key in enumerate(columns.table) if key == table]
    times = [sum(column[i] or 0 for i in mine) for column in (columns.time_a_ns, columns.time_b_ns)]
    return wire.ChangeWhole(table=table, time_a_ns=times[0], time_b_ns=times[1], pooled=0)


def _notes(listed: Sequence[tuple[str, list[str]]]) -> list[str]:
    """Each note once, with the workers that it holds for where it does not hold for all."""
    holders: dict[str, list[str]] = {}
    for worker, texts in listed:
        for text in texts:
            holders.setdefault(text, []).append(worker)
    # What all workers have in common first.
    ordered = sorted(holders.items(), key=lambda item: -len(item[1]))
    shown = [text if len(workers) == len(listed) else f"{format_names(workers)}: {text}" for text, workers in ordered[:MOST_NOTES]]
    return [*shown, *([f"{len(ordered) - MOST_NOTES:,} more remarks on single workers."] if len(ordered) > MOST_NOTES else [])]


def _lines(payload: RunDiffPayload, most: int) -> Iterator[str]:
    for name, only in (("A", payload.only_a), ("B", payload.only_b)):
        if only:
            yield f"- Only in {name}, not compared: {markdown_text(format_names(only))}."
    yield from ("", "### Workers", "", "| name | A | B | change | of the step | noise | mostly |", "| --- | ---: | ---: | ---: | ---: | --- | --- |")
    for worker in payload.workers[:most]:
        said = worker.verdict
        times = [format_ns(side.mean_ns) if side.mean_ns is not None else "—" for side in (worker.a, worker.b)]
        change = "—" if said.delta_ns is None else signed_time(said.delta_ns)
        why = markdown_text(said.because.removeprefix("Mostly ").rstrip("."))
        yield f"| {' | '.join((markdown_name(worker.name), *times, change, signed_share(said.share), noise_word(worker.sure), why))} |"
    left = payload.workers[most:]
    if left:
        shares = [w.verdict.share or 0.0 for w in left]
        ends = " to ".join(dict.fromkeys((signed_share(min(shares)), signed_share(max(shares)))))
        yield from ("", f"and {len(left):,} more, whose steps changed by {ends}")
