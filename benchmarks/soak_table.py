"""What ``soak.py`` saw, as a table, and the verdict."""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from soak_clients import Ledger
from soak_server import Disk

from torch_tb_profiler.web.route_table import ROUTES

WARM_SECONDS = 600.0
MOST_GROWTH = 0.1
"""Of the median, from the end of the first ten minutes to the end of the run."""
FEW_DESCRIPTORS = 8
MOST_SHOWN = 20


@dataclass(frozen=True)
class Row:
    """One period. Sizes in bytes; ``at``: seconds since the begin, ``seconds``: of each reply, ascending."""

    at: float
    statuses: Counter[int]
    seconds: list[float]
    resident: int
    anonymous: int
    descriptors: int
    workers: int
    workers_resident: int
    workers_descriptors: int
    sidecars: int
    parts: int

    def __str__(self) -> str:
        return " ".join(
            [
                f"{self.at / 60:5.1f} min",
                f"{dict(sorted(self.statuses.items()))}",
                f"p50 {1e3 * quantile(self.seconds, 0.5):.0f} ms",
                f"p95 {1e3 * quantile(self.seconds, 0.95):.0f} ms",
                f"RSS {self.resident >> 20} MB (anonymous {self.anonymous >> 20})",
                f"descriptors {self.descriptors}",
                f"workers {self.workers}: {self.workers_resident >> 20} MB, {self.workers_descriptors}",
                f"sidecars {self.sidecars} parts {self.parts}",
            ]
        )


def quantile(values: list[float], share: float) -> float:
    """Of ascending values; NaN of none."""
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def growth(rows: list[Row], value: Callable[[Row], float]) -> tuple[float, float]:
    """(median, growth over the time after the warm-up) by the median of the slopes between all pairs
    of rows (Theil–Sen), which single peaks do not move.
    """
    warm = min(WARM_SECONDS, rows[-1].at / 3) if rows else 0.0
    kept = [row for row in rows if row.at >= warm]
    if len(kept) < 3:
        return float("nan"), float("nan")
    slopes = [
        (value(b) - value(a)) / (b.at - a.at) for n, a in enumerate(kept) for b in kept[n + 1 :]
    ]
    span = kept[-1].at - kept[0].at
    return statistics.median(map(value, kept)), statistics.median(slopes) * span


def verdict(rows: list[Row], found: Mapping[str, list[Any]]) -> tuple[bool, list[str]]:
    """Whether all holds, and a line for each thing that must."""
    held: list[tuple[bool, str]] = []
    for name, value, unit, least in (
        ("Resident memory of the server", lambda row: row.resident / 1e6, "MB", 8.0),
        ("Anonymous memory of the server", lambda row: row.anonymous / 1e6, "MB", 8.0),
        ("Descriptors of the server", lambda row: row.descriptors, "", FEW_DESCRIPTORS),
        ("Memory of all workers", lambda row: row.workers_resident / 1e6, "MB", 200.0),
    ):
        median, more = growth(rows, value)
        flat = more <= max(MOST_GROWTH * median, least)
        words = "flat" if flat else "NOT FLAT"
        # What grows shows only after some minutes.
        short = not rows or rows[-1].at < 0.95 * WARM_SECONDS
        held.append(
            (flat or short, f"{name}: median {median:.0f} {unit}, {more:+.1f} after: {words}")
        )
    for key, words in (
        ("wrong", "wrong replies"),
        ("orphans", "processes outlived the server, ended (SIGTERM) or killed"),
        ("late end", "ends of the server that took too long"),
        ("leftovers", "half-written files or temporary folders left"),
    ):
        held.append((not found[key], f"{len(found[key])} {words}"))
    return all(good for good, _ in held), [text for _, text in held]


def report(
    options: argparse.Namespace,
    rows: list[Row],
    ledger: Ledger,
    counts: Counter[str],
    found: Mapping[str, list[Any]],
    disks: list[Disk],
) -> str:
    """The text of ``soak.md``."""
    good, lines = verdict(rows, found)
    every = max(1, len(rows) // 12)
    table = [
        "| min | replies | 200 | 202 | 304 | 4xx | 5xx | none | p50 / p95 ms | server MB (anonymous)"
        " | descriptors | workers: n, MB | sidecars, parts |",
        "| ---: |" + " ---: |" * 12,
    ]
    for at in range(0, len(rows), every):
        table.append(_line(rows[at : at + every]))
    silent = "" if all(d.mounted for d in disks) else " Disks could not be mounted: none was full."
    checked = ", ".join(f"{n:,} {name}" for name, n in sorted(ledger.checked.items()))
    never = sorted(path for path in ROUTES if not ledger.routes[path])
    asked = f"{len(ROUTES) - len(never)} of {len(ROUTES)} routes" + (
        f" (all but {', '.join(never)})" if never else ""
    )
    return "\n".join(
        [
            "# Soak",
            "",
            f"`python benchmarks/soak.py{' --serve' * options.serve} --minutes {options.minutes:g} --clients {options.clients}"
            f" --rate {options.rate:g} --seed {options.seed}`: {sum(ledger.statuses.values()):,} replies"
            f" in {rows[-1].at / 60 if rows else 0:.1f} minutes, with status 200 of {asked}."
            f" Replies compared: {checked}.{silent}",
            "",
            "Disturbances: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())) + ".",
            "",
            f"**{'All held' if good else 'NOT ALL HELD'}.** Flat means: the median slope after ten minutes"
            f" (a third of a shorter run) adds at most {MOST_GROWTH:.0%} until the end.",
            "",
            *(f"- {line}" for line in lines),
            "",
            *table,
            *(["", "Wrong:", ""] if any(found.values()) else []),
            *(f"- {item}" for items in found.values() for item in items[:MOST_SHOWN]),
        ]
    )


def _line(rows: list[Row]) -> str:
    statuses: Counter[int] = sum((row.statuses for row in rows), Counter())
    seconds = sorted(second for row in rows for second in row.seconds)
    of = {n: sum(c for status, c in statuses.items() if status // 100 == n) for n in (4, 5)}
    last = rows[-1]
    return (
        f"| {last.at / 60:.0f} | {sum(statuses.values())} | {statuses[200]} | {statuses[202]} |"
        f" {statuses[304]} | {of[4]} | {of[5]} | {statuses[0]} |"
        f" {1e3 * quantile(seconds, 0.5):.0f} / {1e3 * quantile(seconds, 0.95):.0f} |"
        f" {last.resident / 1e6:.0f} ({last.anonymous / 1e6:.0f}) | {last.descriptors} |"
        f" {last.workers}, {last.workers_resident / 1e6:.0f} | {last.sidecars}, {last.parts} |"
    )
