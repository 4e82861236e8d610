"""The routes of two traces beside each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

from torch_tb_profiler.runs.alignments import Alignments
from torch_tb_profiler.runs.model import Opened, OpenedInsight
from torch_tb_profiler.views.diff import wire as diff_wire
from torch_tb_profiler.views.diff.aligned import AlignedPayload, Drawn, aligned_payload
from torch_tb_profiler.views.diff.axis import AxisPayload, axis_payload
from torch_tb_profiler.views.diff.file import DiffFormat, diff_csv, diff_markdown
from torch_tb_profiler.views.diff.headline import device_of
from torch_tb_profiler.views.diff.payload import Comparison, Recording, compared, diff_payload
from torch_tb_profiler.views.steps import Selection
from torch_tb_profiler.web.downloads import Download
from torch_tb_profiler.web.figure_routes import lanes_of
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
    a, b = _sides(pair, steps, steps2, earlier_first)
    return diff_payload(_compared(a, b), a.recording, b.recording)


@route("/diff/aligned")
def diff_aligned(
    pair: Pair,
    steps: Steps,
    steps2: Annotated[StepRange, _SECOND_STEPS],
    earlier_first: Annotated[bool, EARLIER_FIRST] = False,
) -> AlignedPayload:
    """The median steps of A, before, and of B, after, on one axis: each as two lanes and its path. ``changes`` add up to
    the difference of the steps.
    """
    a, b = _sides(pair, steps, steps2, earlier_first)
    return aligned_payload(_compared(a, b), a.drawn, b.drawn)


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
    a, b = _sides(pair, steps, steps2, earlier_first)
    aligned = alignments.of((a.insight, a.selection.steps), (b.insight, b.selection.steps))
    device = device_of(a.opened.facts, b.opened.facts)
    return axis_payload(aligned, (a.recording, b.recording), device, window, n)


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


class _Side(NamedTuple):
    """One of two recordings, with its chosen steps."""

    insight: OpenedInsight
    selection: Selection

    @property
    def opened(self) -> Opened:
        """Its trace."""
        return self.insight.opened

    @property
    def recording(self) -> Recording:
        """Where it comes from."""
        run, worker, span = self.opened.key
        label = " · ".join(filter(None, (run, worker, self.opened.span.label)))
        return Recording(run, worker, span, label, self.opened.trace.header)

    @property
    def drawn(self) -> Drawn:
        """What draws its steps."""
        return self.recording, self.opened.trace, lambda: lanes_of(self.insight)


def _sides(
    pair: Pair, steps: StepRange, steps2: StepRange, earlier_first: bool
) -> tuple[_Side, _Side]:
    """A and B; the other way round if B was recorded earlier and that counts."""
    a = _Side(pair.a, chosen(pair.a.opened, steps))
    b = _Side(pair.b, chosen(pair.b.opened, steps2))
    return (b, a) if earlier_first and pair.is_later_first() else (a, b)


def _compared(a: _Side, b: _Side) -> Comparison:
    before, after = ((side.opened.facts, side.insight.insight, side.selection) for side in (a, b))
    return compared(before, after, (a.opened.trace, b.opened.trace))
