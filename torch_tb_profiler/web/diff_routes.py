"""The routes of two traces beside each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from torch_tb_profiler.runs.alignments import Alignments
from torch_tb_profiler.runs.model import Opened, OpenedInsight
from torch_tb_profiler.views.diff import wire as diff_wire
from torch_tb_profiler.views.diff.aligned import AlignedPayload, aligned_payload
from torch_tb_profiler.views.diff.axis import AxisPayload, axis_payload
from torch_tb_profiler.views.diff.file import DiffFormat, diff_csv, diff_markdown
from torch_tb_profiler.views.diff.headline import device_of
from torch_tb_profiler.views.diff.payload import Recording, compared, diff_payload
from torch_tb_profiler.web.downloads import Download
from torch_tb_profiler.web.parameters import (
    EARLIER_FIRST,
    OneOf,
    StepRange,
    Steps,
    StepsOf,
    Whole,
    WindowOf,
)
from torch_tb_profiler.web.replies import Body
from torch_tb_profiler.web.route import Pair, chosen, route

_SECOND_STEPS = StepsOf("Steps of side B.")
_FILES: dict[DiffFormat, tuple[str, str, Callable[[diff_wire.DiffPayload], str]]] = {
    "csv": ("csv", "text/csv; charset=utf-8", diff_csv),
    "markdown": ("md", "text/markdown; charset=utf-8", diff_markdown),
}


@route("/diff")
def diff(
    pair: Pair,
    steps: Steps,
    steps2: Annotated[StepRange, _SECOND_STEPS],
    earlier_first: Annotated[bool, EARLIER_FIRST] = False,
) -> diff_wire.DiffPayload:
    """Two traces, A and B, compared; they may be the same. ``headline``: the answer of the median steps; ``verdict``:
    whether and how the step changed, and why; ``changes``: tables of at most 500 rows and one for the rest, the largest
    change first; ``wholes``: their sums; ``tree``: both call trees, matched.
    """
    sides = _sides(pair, steps, steps2, earlier_first)
    a, b = ((side.opened.facts, side.insight, chosen(side.opened, of_it)) for side, of_it in sides)
    (first, _), (second, _) = sides
    return diff_payload(compared(a, b), _recording(first.opened), _recording(second.opened))


@route("/diff/aligned")
def diff_aligned(
    pair: Pair,
    steps: Steps,
    steps2: Annotated[StepRange, _SECOND_STEPS],
    earlier_first: Annotated[bool, EARLIER_FIRST] = False,
) -> AlignedPayload:
    """The median steps of A, before, and of B, after, on one axis: matched operations stand above each other, and what
    one takes longer for is a gap of the other. ``gaps`` add up to the difference of the steps, and so do ``changes``.
    """
    sides = _sides(pair, steps, steps2, earlier_first)
    a, b = ((side.opened.facts, side.insight, chosen(side.opened, of_it)) for side, of_it in sides)
    (first, _), (second, _) = sides
    traces = first.opened.trace, second.opened.trace
    recordings = _recording(first.opened), _recording(second.opened)
    return aligned_payload(compared(a, b), traces, recordings)


@route("/diff/axis")
def diff_axis(
    pair: Pair,
    alignments: Alignments,
    steps: Steps,
    steps2: Annotated[StepRange, _SECOND_STEPS],
    earlier_first: Annotated[bool, EARLIER_FIRST] = False,
    window: Annotated[
        tuple[int, int] | None,
        WindowOf("The begin of the window, ns on the axis. Default: all of it."),
    ] = None,
    n: Annotated[int, Whole("Parts of the window.", 1, 8192)] = 1024,
) -> AxisPayload:
    """The recordings of A, before, and of B, after, on one axis, with their steps in order above each other and in these matched
    operations. Until the operations are matched the answer is 202.
    """
    sides = _sides(pair, steps, steps2, earlier_first)
    first, second = ((side, chosen(side.opened, of_it).steps) for side, of_it in sides)
    opened = first[0].opened, second[0].opened
    recordings = _recording(opened[0]), _recording(opened[1])
    device = device_of(opened[0].facts, opened[1].facts)
    return axis_payload(alignments.of(first, second), recordings, device, window, n)


@route("/diff/file")
def diff_file(
    pair: Pair,
    steps: Steps,
    steps2: Annotated[StepRange, _SECOND_STEPS],
    format: Annotated[DiffFormat, OneOf("`csv` has every row, times in ns per step.")] = "csv",
    earlier_first: Annotated[bool, EARLIER_FIRST] = False,
) -> Download:
    """The comparison of two traces as a download."""
    ending, content_type, write = _FILES[format]
    text = write(diff(pair, steps, steps2, earlier_first))
    return Download(f"diff.{ending}", content_type, Body(text.encode("utf-8", "replace")))


_Side = tuple[OpenedInsight, StepRange]


def _sides(
    pair: Pair, steps: StepRange, steps2: StepRange, earlier_first: bool
) -> tuple[_Side, _Side]:
    """A and B; the other way round if B was recorded earlier and that counts."""
    a, b = (pair.a, steps), (pair.b, steps2)
    return (b, a) if earlier_first and pair.is_later_first() else (a, b)


def _recording(opened: Opened) -> Recording:
    run, worker, span = opened.run.name, opened.worker.name, opened.span
    label = " · ".join(part for part in (run, worker, span.label) if part)
    return Recording(run, worker, span.name, label, opened.trace.header)
