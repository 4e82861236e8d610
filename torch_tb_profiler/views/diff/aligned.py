"""Route ``/diff/aligned``: the median steps of both sides on one axis."""

from __future__ import annotations

from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.diff.aligned_rows import Row, aligned_rows, drawn_ties
from torch_tb_profiler.analysis.diff.aligned_steps import (
    LEAST_MATCHED,
    AlignedSteps,
    DrawnStep,
    Gaps,
    align,
)
from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.step_path import UNNAMED, GroupChange, group_changes
from torch_tb_profiler.analysis.facts.header import unix_begin
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.units import format_count, format_date, format_delta, format_limit
from torch_tb_profiler.views.diff.headline import device_word, median_paths, step_text
from torch_tb_profiler.views.diff.payload import Recording
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.views.words.texts import group_label

TimeGroup = Literal[
    "compute", "copies", "data_loading", "communication", "waiting", "host_code", "not_recorded"
]
PARTS = 1200
"""Parts of the axis that are drawn for themselves."""
_TIE_PARTS = 48


class AlignedRow(Wire, frozen=True, kw_only=True):
    """What was done on the threads (``host``) or the devices of a side: columns of stretches on the axis."""

    host: bool
    start_ns: list[int]
    end_ns: list[int]
    group: list[TimeGroup]


class AlignedSide(Wire, frozen=True, kw_only=True):
    """A side. ``step``: its number in the trace; ``step_name``: in words; ``length_ns``: without work from before the
    recording; ``of``: of how many compared steps it is the median; ``recorded``: the date, UTC; null unknown.
    """

    run: str
    worker: str
    span: str
    step: int
    step_name: str
    length_ns: int
    of: int
    recorded: str | None
    rows: list[AlignedRow]


class AlignedGaps(Wire, frozen=True, kw_only=True):
    """Columns of the gaps in the order of the axis: where they begin there; above 0 time lost, a gap of the earlier
    side; below 0 time gained, a gap of the later one; the group of most of it; what takes longest in it on the side
    that takes longer, null unknown. All ``size_ns`` add up to the difference of the steps.
    """

    at_ns: list[int]
    size_ns: list[int]
    group: list[TimeGroup]
    name: list[str | None]


class AlignedTies(Wire, frozen=True, kw_only=True):
    """Columns of matched operations: where they begin on the axis, and their names."""

    before_ns: list[int]
    after_ns: list[int]
    name: list[str]


class AlignedChange(Wire, frozen=True, kw_only=True):
    """A group of what the end of the steps waited for; the changes of all add up to the difference of the steps.
    ``more``: what made most of it; may be empty.
    """

    group: TimeGroup
    label: str
    before_ns: int
    after_ns: int
    more: str


class Aligned(Wire, frozen=True, kw_only=True):
    """Two steps: of A, before, and of B, after. ``matched`` of ``operations``; ``note``: why the
    steps are not drawn on one axis; then rows, gaps and ties are empty. ``device``: what computes; ``axis_ns``: length of the axis; ``least_ns``:
    gaps that are shorter are told together.
    """

    before: AlignedSide
    after: AlignedSide
    device: str
    axis_ns: int
    least_ns: int
    matched: int
    operations: int
    note: str
    gaps: AlignedGaps
    ties: AlignedTies
    changes: list[AlignedChange]


class AlignedPayload(Wire, frozen=True, kw_only=True):
    """Route ``/diff/aligned``. ``steps``: null where a side has no step."""

    steps: Aligned | None


def aligned_payload(
    both: Comparison, traces: tuple[Trace, Trace], recordings: tuple[Recording, Recording]
) -> AlignedPayload:
    """The median compared steps of both sides."""
    paths = median_paths(both)
    if paths is None:
        return AlignedPayload(steps=None)
    drawn = [DrawnStep.of(trace, path) for trace, path in zip(traces, paths, strict=True)]
    steps = align(drawn[0], drawn[1], PARTS)
    counts = (len(both.a.steps), len(both.b.steps))
    before, after = (
        _side(side, count, recording, rows)
        for side, count, recording, rows in zip(
            drawn, counts, recordings, aligned_rows(steps, PARTS), strict=True
        )
    )
    found, total = steps.matched.operations
    return AlignedPayload(
        steps=Aligned(
            before=before,
            after=after,
            device=device_word(both),
            axis_ns=steps.length,
            least_ns=max(before.length_ns, after.length_ns) // PARTS,
            matched=found,
            operations=total,
            note="" if steps.gaps is not None else _why_not(steps),
            gaps=_gaps(steps),
            ties=_ties(steps),
            changes=[_change(one, both) for one in group_changes(*paths)],
        )
    )


def _why_not(steps: AlignedSteps) -> str:
    found, total = steps.matched.operations
    if not total:
        return "Neither step recorded operations: they cannot stand on one axis."
    return (
        f"The steps do different things: {format_count(found)} of {format_count(total)} operations are matched by name and"
        f" shapes, fewer than {format_limit(LEAST_MATCHED)}. So they are not drawn on one axis."
    )


def _side(drawn: DrawnStep, count: int, recording: Recording, rows: list[Row]) -> AlignedSide:
    path = drawn.path
    begin = unix_begin(drawn.trace)
    return AlignedSide(
        run=recording.run,
        worker=recording.worker,
        span=recording.span,
        step=path.step,
        step_name=step_text(path.name),
        length_ns=path.length,
        of=count,
        recorded=None if begin is None else format_date(begin, time=True),
        rows=[
            AlignedRow(
                host=row.host,
                start_ns=row.start.tolist(),
                end_ns=row.end.tolist(),
                group=_named(row.group.tolist()),
            )
            for row in rows
        ],
    )


def _named(groups: list[int]) -> list[TimeGroup]:
    keys: list[TimeGroup] = list(GROUPS)  # type: ignore[arg-type]
    return [keys[group] for group in groups]


def _gaps(steps: AlignedSteps) -> AlignedGaps:
    gaps = steps.gaps
    if gaps is None:
        return AlignedGaps(at_ns=[], size_ns=[], group=[], name=[])
    ends = np.where(gaps.size > 0, gaps.on_axis(0, gaps.before), gaps.on_axis(1, gaps.after))
    return AlignedGaps(
        at_ns=(ends - np.abs(gaps.size)).tolist(),
        size_ns=gaps.size.tolist(),
        group=_named(gaps.group.tolist()),
        name=_longest(steps, gaps),
    )


def _longest(steps: AlignedSteps, gaps: Gaps) -> list[str | None]:
    """What the longest stretch of each gap's group is of, on the side that takes longer."""
    found: list[str | None] = []
    sides = ((steps.after, gaps.after), (steps.before, gaps.before))
    edges = [np.append(0, moments) for _, moments in sides]
    for i, (size, group) in enumerate(zip(gaps.size.tolist(), gaps.group.tolist(), strict=True)):
        place = int(size < 0)
        path, (begin, end) = sides[place][0].path, edges[place][i : i + 2].tolist()
        own = slice(
            int(np.searchsorted(path.end, begin, side="right")),
            int(np.searchsorted(path.start, end, side="left")),
        )
        time = np.minimum(path.end[own], end) - np.maximum(path.start[own], begin)
        time = np.where(path.group[own] == group, time, -1)
        best = own.start + int(time.argmax()) if len(time) and time.max() >= 0 else -1
        named = best >= 0 and list(GROUPS)[group] not in UNNAMED
        found.append(path.names(np.array([best]))[0] or None if named else None)
    return found


def _ties(steps: AlignedSteps) -> AlignedTies:
    found = drawn_ties(steps, steps.length // _TIE_PARTS)
    trace = steps.before.trace
    return AlignedTies(
        before_ns=found.before.tolist(),
        after_ns=found.after.tolist(),
        name=trace.strings.many(trace["spans"]["name"][found.row]),
    )


def _change(one: GroupChange, both: Comparison) -> AlignedChange:
    return AlignedChange(
        group=one.group,  # type: ignore[arg-type]
        label=group_label(one.group, device_word(both)),
        before_ns=one.before,
        after_ns=one.after,
        more=f"{one.name}: {format_delta(one.name_change)}" if one.name and one.change else "",
    )
