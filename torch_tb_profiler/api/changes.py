"""Two traces compared, as a DataFrame, and which traces of two runs belong to each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch_tb_profiler.analysis.diff.table import DIFF, NO_STRINGS
from torch_tb_profiler.api.frame import table_frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.units import format_names
from torch_tb_profiler.views.diff import Recording, compared, diff_payload
from torch_tb_profiler.views.diff_run import ALL_ROWS

if TYPE_CHECKING:
    from pandas import DataFrame

Key = Callable[[Opened], Hashable]


def changes(a: TraceContext, b: TraceContext) -> DataFrame:
    """See ``analysis.diff.table.DIFF``.

    ``attrs["verdict"]`` is the answer in one sentence, ``because`` what made most of it, ``beyond``
    whether it is more than noise (None: cannot be told), ``p`` of the test, ``delta_ns`` per step,
    and ``notes`` what makes the comparison weak.
    """
    found = compared((a.facts, a.insight, a.selection()), (b.facts, b.insight, b.selection()))
    payload = diff_payload(found, recording(a.opened), recording(b.opened), ALL_ROWS)
    made = table_frame(DIFF.build(NO_STRINGS, **payload.changes))
    said = payload.verdict
    made.attrs |= {
        "verdict": said.sentence,
        "because": said.because,
        "beyond": said.beyond,
        "p": said.p,
        "delta_ns": said.delta_ns,
        "share": said.share,
        "notes": payload.notes,
    }
    return made


def recording(opened: Opened, label: str = "") -> Recording:
    """Where a side comes from; ``label`` names it, else its path does."""
    return Recording(
        opened.run.name,
        opened.worker.name,
        opened.span.name,
        label or opened.span.path,
        opened.trace.header,
    )


@dataclass(frozen=True)
class Matched:
    """Places in two lists of traces. ``pairs``: who is compared with whom, in the order of A;
    ``only_a``, ``only_b``: who has no counterpart.
    """

    pairs: list[tuple[int, int]]
    only_a: list[int]
    only_b: list[int]


def matched(a: Sequence[Opened], b: Sequence[Opened]) -> Matched:
    """The traces of two runs that belong to each other: of the same worker, by name or, where more
    have one in common, by rank; of several recordings of
    a worker the first with the first. A rank that is a place in an order is none. One trace on each
    side belong together whatever they are called. Snapshots and stacks stand aside beside traces.

    Raises:
        BadRequest: no worker of one is one of the other, or only one side has several runs.
    """
    sides = [_traced(side) for side in (a, b)]
    if len(sides[0]) == len(sides[1]) == 1:
        return Matched([(sides[0][0], sides[1][0])], [], [])
    runs = [
        list(dict.fromkeys(side[i].run.name for i in kept))
        for side, kept in zip((a, b), sides, strict=True)
    ]
    several = all(len(names) > 1 for names in runs)
    for name, here, there in (("A", *runs), ("B", *runs[::-1])):
        if len(here) > 1 and len(there) == 1:
            raise BadRequest(
                f"{name} holds {len(here)} runs: {format_names(here)}.", "Give one of them."
            )
    keys: list[Key] = [
        lambda o: o.worker.name,
        lambda o: o.worker.rank if o.worker.rank_source != "order" else None,
    ]
    tries = [
        [_places(side, kept, key, several) for side, kept in zip((a, b), sides, strict=True)]
        for key in keys
    ]
    found = max(tries, key=lambda tried: len(tried[0].keys() & tried[1].keys()))
    common = [key for key in found[0] if key in found[1]]
    if not common:
        names = [
            format_names(list(dict.fromkeys(side[i].worker.name for i in kept)))
            for side, kept in zip((a, b), sides, strict=True)
        ]
        raise BadRequest(
            f"The two have no worker in common: {names[0]} in A, {names[1]} in B.",
            "Compare two of their traces.",
        )
    pairs = [(found[0][key], found[1][key]) for key in common]
    only = [
        [i for i in kept if i not in {pair[side] for pair in pairs}]
        for side, kept in enumerate(sides)
    ]
    return Matched(pairs, *only)


def _traced(side: Sequence[Opened]) -> list[int]:
    traces = [i for i, opened in enumerate(side) if not opened.worker.extra]
    return traces or list(range(len(side)))


def _places(
    side: Sequence[Opened], kept: Sequence[int], key: Key, several: bool
) -> dict[Hashable, int]:
    """By run (where both sides have several), worker and number of its recording."""
    found: dict[Hashable, int] = {}
    counts: dict[Hashable, int] = {}
    for i in kept:
        one = key(side[i])
        if one is not None:
            worker = side[i].run.name if several else "", one
            found[worker, counts.setdefault(worker, 0)] = i
            counts[worker] += 1
    return found
