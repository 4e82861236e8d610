"""Which calls a step holds, and the time between the calls that all steps make."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.roles import Role

_S = r"[\\/]"
_BELONGS = regex(
    rf"Optimizer\.|enumerate\(Data(?:Loader|Pipe)\)|.*torch{_S}(?:optim|utils{_S}data){_S}.*\.py\(\d+\): "
    rf"|.*torch{_S}nn{_S}utils{_S}clip_grad\.py\(\d+\): |Torch-Compiled Region: |## Call CompiledFxGraph"
    r"|.*\bcompile_id="
)
"""What a training loop does in some steps by design: gradients are accumulated and clipped, batches are loaded ahead; and
what has a number of its own in its name."""
_DEEPEST, _MOST_STEPS = 6, 400


def step_of(context: RuleContext, row: Ints) -> Ints:
    """The step in which spans begin, −1 outside; row of steps."""
    table, start = context.facts["steps"], context.trace["spans"]["start"][row]
    return window_at(table["host_start"], table["host_end"], start).astype(np.int64)


def shown(context: RuleContext, row: Ints, step: Ints) -> Ints:
    """Rows of spans that show pieces of steps: the given ones, and for −1 the mark of the step, where it has one."""
    marks = [context.mark_of(one) for one in step.tolist()]
    mark = np.array([int(one[0]) if len(one) else -1 for one in marks], np.int64)
    return np.where(row >= 0, row, mark)


def main_calls(context: RuleContext) -> Ints:
    """Rows of operators, annotations and frames on the program's thread, steps themselves aside."""

    def calls() -> Ints:
        row = context.on_main(context.of_role(Role.OPERATOR, Role.ANNOTATION, Role.PYTHON))
        return np.asarray(row[context.names.step[context.trace["spans"]["name"][row]] < 0])

    return context.scene.rows("main calls", calls)


def by_design(context: RuleContext, row: Ints) -> Mask:
    """Which of some calls hold, for half of their time or more, what belongs to a training loop, or compile."""
    spans, parent = context.trace["spans"], context.parent
    inner = context.mask(context.rows_named(main_calls(context), _BELONGS.match))
    inner[context.compilations.row] = True
    around = np.append(nearest(parent, inner), np.int32(-1))
    whole = np.flatnonzero(inner & (around[parent] < 0))
    above = context.home(whole, row)
    time = sum_by(above, spans.n + 1, spans["dur"][whole])
    below = around[row] >= 0
    return np.asarray(below | (2 * time[row] >= np.maximum(spans["dur"][row], 1)))


class CommonGaps(msgspec.Struct, frozen=True):
    """The time between calls of steps that all make the same calls.

    rows: of each step the calls, rows of spans. begins, ends: of the gaps around them, ns, of shape (steps, calls + 1).
    """

    rows: list[Ints]
    begins: Ints
    ends: Ints

    def before(self, step: int, gap: int) -> int:
        """The call before a gap; −1 at the begin."""
        return int(self.rows[step][gap - 1]) if gap else -1


def common_gaps(context: RuleContext, steps: Ints) -> Iterator[CommonGaps]:
    """The gaps between the outermost calls of some steps; then those within an annotation that takes most of the time. None
    where the steps do not all make the same calls.
    """
    table, names = context.facts["steps"], context.trace["spans"]["name"]
    if len(steps) > _MOST_STEPS:
        return
    windows = [(int(table["host_start"][one]), int(table["host_end"][one])) for one in steps]
    rows = [_top(context, *window, -1) for window in windows]
    for _ in range(_DEEPEST):
        first = names[rows[0]]
        if not all(np.array_equal(names[row], first) for row in rows[1:]):
            return
        edges = [_edges(context, row, window) for row, window in zip(rows, windows, strict=True)]
        begins, ends = (np.array([edge[side] for edge in edges]) for side in (0, 1))
        yield CommonGaps(rows, begins, ends)
        inner = begins[:, 1:] - ends[:, :-1]
        if not inner.size or 2 * inner.sum(axis=0).max() < (ends[:, -1] - begins[:, 0]).sum():
            return
        at = int(inner.sum(axis=0).argmax())
        if context.trace["spans"]["role"][rows[0][at]] != Role.ANNOTATION:
            return
        windows = list(zip(ends[:, at].tolist(), begins[:, at + 1].tolist(), strict=True))
        rows = [
            _top(context, *window, int(row[at])) for row, window in zip(rows, windows, strict=True)
        ]


def _top(context: RuleContext, begin: int, end: int, under: int) -> Ints:
    """The outermost operators and annotations of the program's thread in a window, in a call or in none."""
    spans, parent = context.trace["spans"], context.parent
    low, high = (int(edge) for edge in np.searchsorted(spans["start"], (begin, end)))
    row = np.arange(low, high)
    role, name = spans["role"][low:high], spans["name"][low:high]
    is_step = context.names.step[name] >= 0
    chosen = ((role == Role.OPERATOR) | (role == Role.ANNOTATION)) & ~is_step
    chosen &= (spans["track"][low:high] == context.main_track) & (row != under)
    above = np.maximum(parent[low:high].astype(np.int64) - low, -1)
    own = np.flatnonzero(chosen)
    return np.asarray(low + own[climb(above, above[own], chosen) < 0], np.int64)


def _edges(context: RuleContext, row: Ints, window: tuple[int, int]) -> tuple[Ints, Ints]:
    """Begin and end of the gaps around some calls in a window, one more than there are calls."""
    start, end = context.times(row)
    return np.append(window[0], end), np.append(start, window[1])
