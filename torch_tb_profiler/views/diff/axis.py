"""Route ``/diff/axis``: both recordings on one axis, for the timeline."""

from __future__ import annotations

from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.diff.aligned_recordings import AlignedRecordings
from torch_tb_profiler.analysis.diff.clock_ties import LEAST_MATCHED
from torch_tb_profiler.units import format_count, format_limit
from torch_tb_profiler.views.diff.aligned import TimeGroup
from torch_tb_profiler.views.diff.headline import step_text
from torch_tb_profiler.views.diff.payload import Recording
from torch_tb_profiler.views.wire import Wire


class AxisSide(Wire, frozen=True, kw_only=True):
    """A recording. ``begin_ns``: of the first step that has a partner, else of the recording; ``step_name``: where one step alone has
    a partner, in words.
    """

    run: str
    worker: str
    span: str
    begin_ns: int
    step_name: str


class AxisPayload(Wire, frozen=True, kw_only=True):
    """Two recordings on one axis: columns of points of a line, ns on the axis and after the first event of each recording. Where both
    sides go on as the axis does they do the same; where one stands still it waits for the other, and ``group`` is what the other
    spends most of it on, null elsewhere. All these gaps add up to the difference of the recordings.

    ``device``: what computes; ``length_ns``: of the axis; ``matched`` of ``operations`` in ``steps`` pairs of steps; ``note``: why only
    the steps stand above each other.
    """

    before: AxisSide
    after: AxisSide
    device: str
    length_ns: int
    steps: int
    matched: int
    operations: int
    note: str
    axis_ns: list[int]
    before_ns: list[int]
    after_ns: list[int]
    group: list[TimeGroup | None]


def axis_payload(
    aligned: AlignedRecordings,
    recordings: tuple[Recording, Recording],
    device: str,
    window: tuple[int, int] | None,
    parts: int,
) -> AxisPayload:
    """``window``: what is looked at, ns on the axis; None: all of it."""
    pieces = aligned.pieces(*(window or (0, aligned.length)), parts)
    keys: list[TimeGroup] = list(GROUPS)  # type: ignore[arg-type]
    before, after = (
        AxisSide(
            run=side.run,
            worker=side.worker,
            span=side.span,
            begin_ns=begin,
            step_name=step_text(name) if aligned.steps == 1 and name else "",
        )
        for side, begin, name in zip(recordings, aligned.begin, aligned.names, strict=True)
    )
    found, total = aligned.operations
    return AxisPayload(
        before=before,
        after=after,
        device=device,
        length_ns=aligned.length,
        steps=aligned.steps,
        matched=found,
        operations=total,
        note="" if aligned.together else _why_not(found, total),
        axis_ns=pieces.axis.tolist(),
        before_ns=pieces.before.tolist(),
        after_ns=pieces.after.tolist(),
        group=[None if group < 0 else keys[group] for group in pieces.group.tolist()],
    )


def _why_not(found: int, total: int) -> str:
    if not total:
        return "Neither recorded operations in steps that stand for each other."
    return (
        f"They do different things: {format_count(found)} of {format_count(total)} operations are matched by name and shapes,"
        f" fewer than {format_limit(LEAST_MATCHED)}. Only the steps stand above each other."
    )
