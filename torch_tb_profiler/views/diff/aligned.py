"""Route ``/diff/aligned``: the median steps of both sides on one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from torch_tb_profiler.analysis.critical_path.lane_stretches import step_segments
from torch_tb_profiler.analysis.critical_path.lanes import LaneWork, Source
from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.step_path import GroupChange, StepPath, group_changes
from torch_tb_profiler.analysis.facts.header import unix_begin
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.units import format_date, format_delta
from torch_tb_profiler.views.critical_path.glyph import Glyph, glyph_of
from torch_tb_profiler.views.diff.headline import device_word, median_paths, step_text
from torch_tb_profiler.views.diff.payload import Recording
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.views.words.texts import group_label

TimeGroup = Literal[
    "compute", "copies", "data_loading", "communication", "waiting", "host_code", "not_recorded"
]


class AlignedSide(Wire, frozen=True, kw_only=True):
    """A side. ``step``: its number in the trace, which begins at ``start_ns``; ``step_name``: in words; ``length_ns``: without work
    from before the recording; ``of``: of how many compared steps it is the median; ``recorded``: the date, UTC; null unknown.
    """

    run: str
    worker: str
    span: str
    step: int
    step_name: str
    start_ns: int
    length_ns: int
    of: int
    recorded: str | None
    glyph: Glyph


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
    """Two steps that begin at one moment: of A, before, and of B, after. ``device``: what computes."""

    before: AlignedSide
    after: AlignedSide
    device: str
    changes: list[AlignedChange]


class AlignedPayload(Wire, frozen=True, kw_only=True):
    """Route ``/diff/aligned``. ``steps``: null where a side has no step."""

    steps: Aligned | None


Drawn = tuple[Recording, Trace, Callable[[], LaneWork]]
"""Where a side comes from, and what its trace shows of its lanes."""


def aligned_payload(both: Comparison, a: Drawn, b: Drawn) -> AlignedPayload:
    """The median compared steps of both sides."""
    paths = median_paths(both)
    if paths is None or not all(len(path.start) for path in paths):
        return AlignedPayload(steps=None)
    counts = (len(both.a.steps), len(both.b.steps))
    before, after = (
        _side(path, count, *drawn) for path, count, drawn in zip(paths, counts, (a, b), strict=True)
    )
    return AlignedPayload(
        steps=Aligned(
            before=before,
            after=after,
            device=device_word(both),
            changes=[_change(one, both) for one in group_changes(*paths)],
        )
    )


def _side(
    path: StepPath, count: int, recording: Recording, trace: Trace, lanes: Callable[[], LaneWork]
) -> AlignedSide:
    begin, segments = unix_begin(trace), step_segments(path.facts, path.insight, path.step)
    return AlignedSide(
        run=recording.run,
        worker=recording.worker,
        span=recording.span,
        step=path.step,
        step_name=step_text(path.name),
        start_ns=segments.bounds[0],
        length_ns=path.length,
        of=count,
        recorded=None if begin is None else format_date(begin, time=True),
        glyph=glyph_of(segments, {0: Source(lanes())}),
    )


def _change(one: GroupChange, both: Comparison) -> AlignedChange:
    return AlignedChange(
        group=one.group,  # type: ignore[arg-type]
        label=group_label(one.group, device_word(both)),
        before_ns=one.before,
        after_ns=one.after,
        more=f"{one.name}: {format_delta(one.name_change)}" if one.name and one.change else "",
    )
