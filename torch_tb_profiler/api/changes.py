"""Two traces compared as a DataFrame, and how the traces of two runs are paired."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

import msgspec

from torch_tb_profiler.analysis.diff.memory import DIFF_MEMORY
from torch_tb_profiler.analysis.diff.table import DIFF
from torch_tb_profiler.api.table_frame import table_frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.units import format_names
from torch_tb_profiler.views.diff.payload import Recording, compared, diff_payload
from torch_tb_profiler.views.diff.run import ALL_ROWS

if TYPE_CHECKING:
    from pandas import DataFrame

Key = Callable[[Opened], Hashable]


def changes(a: TraceContext, b: TraceContext) -> DataFrame:
    """What changed from A to B, a row per operator, kernel and module; of recordings of allocations what their peaks
    held, a row per line and operator, and ``share`` of the peak.

    ``attrs``: ``verdict`` (the answer in one sentence), ``because`` (its main causes), ``causes``
    (what, category and ns of each part of the change; they add up to ``delta_ns``), ``changed``
    (None: cannot be told), ``share`` of the step with its interval ``low`` to ``high``, ``p`` of the
    test, ``delta_ns`` of the mean step, ``notes`` on what weakens the comparison.
    """
    found = compared(
        (a.facts, a.insight, a.selection()),
        (b.facts, b.insight, b.selection()),
        (a.opened.trace, b.opened.trace),
    )
    payload = diff_payload(found, recording(a.opened), recording(b.opened), ALL_ROWS)
    spec, rows = (DIFF_MEMORY, payload.memory.rows) if payload.memory else (DIFF, payload.changes)
    made = table_frame(spec.build(NO_STRINGS, **rows))
    said = payload.verdict
    made.attrs |= {
        "verdict": said.sentence,
        "because": said.because,
        "causes": [(cause.what, cause.category, cause.delta_ns) for cause in payload.causes],
        "changed": said.changed,
        "share": said.share,
        "low": said.low,
        "high": said.high,
        "p": said.p,
        "delta_ns": said.delta_ns,
        "notes": payload.notes,
    }
    return made


def recording(opened: Opened, label: str = "") -> Recording:
    """Where a side comes from; ``label`` names it, its path by default."""
    return Recording(
        opened.run.name,
        opened.worker.name,
        opened.span.name,
        label or opened.span.path,
        opened.trace.header,
    )


class Matched(msgspec.Struct, frozen=True):
    """Indices into two lists of traces: ``pairs`` in the order of A, and those without a
    counterpart.
    """

    pairs: list[tuple[int, int]]
    only_a: list[int]
    only_b: list[int]


def match_traces(a: Sequence[Opened], b: Sequence[Opened]) -> Matched:
    """Pair the traces of two runs by worker name, or by rank where that pairs more; several
    recordings of a worker in order. One trace on each side are a pair whatever their names.
    Snapshots and stacks are left out beside traces.

    Raises:
        BadRequest: no worker is in both, or only one side has several runs.
    """
    sides = [_traced(side) for side in (a, b)]
    if len(sides[0]) == len(sides[1]) == 1:
        return Matched([(sides[0][0], sides[1][0])], [], [])
    runs = [
        list(dict.fromkeys(side[i].run.name for i in numbers))
        for side, numbers in zip((a, b), sides, strict=True)
    ]
    several = all(len(names) > 1 for names in runs)
    for name, own, other in (("A", *runs), ("B", *runs[::-1])):
        if len(own) > 1 and len(other) == 1:
            raise BadRequest(
                f"{name} holds {len(own)} runs: {format_names(own)}.", "Give one of them."
            )
    keys: list[Key] = [
        lambda o: o.worker.name,
        lambda o: o.worker.rank if o.worker.rank_source != "order" else None,
    ]
    tries = [
        [_places(side, numbers, key, several) for side, numbers in zip((a, b), sides, strict=True)]
        for key in keys
    ]
    by_key = max(tries, key=lambda tried: len(tried[0].keys() & tried[1].keys()))
    common = [key for key in by_key[0] if key in by_key[1]]
    if not common:
        names = [
            format_names(list(dict.fromkeys(side[i].worker.name for i in numbers)))
            for side, numbers in zip((a, b), sides, strict=True)
        ]
        raise BadRequest(
            f"The two have no worker in common: {names[0]} in A, {names[1]} in B.",
            "Compare two of their traces.",
        )
    pairs = [(by_key[0][key], by_key[1][key]) for key in common]
    only = [
        [i for i in numbers if i not in {pair[side] for pair in pairs}]
        for side, numbers in enumerate(sides)
    ]
    return Matched(pairs, *only)


def _traced(side: Sequence[Opened]) -> list[int]:
    traces = [i for i, opened in enumerate(side) if not opened.worker.extra]
    return traces or list(range(len(side)))


def _places(
    side: Sequence[Opened], numbers: Sequence[int], key: Key, several: bool
) -> dict[Hashable, int]:
    """Indices by run (where both sides have several), worker and number of its recording."""
    places: dict[Hashable, int] = {}
    counts: dict[Hashable, int] = {}
    for i in numbers:
        identity = key(side[i])
        if identity is not None:
            worker = side[i].run.name if several else "", identity
            places[worker, counts.setdefault(worker, 0)] = i
            counts[worker] += 1
    return places
