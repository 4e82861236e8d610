"""What only some of the steps do: calls that the others do not make, and time that the others do not have.

::

    step 1   [forward][backward][optimizer]
    step 2   [forward][backward][optimizer]
    step 3   [forward][backward][optimizer][evaluate          ]     a call of its own
    step 4   [forward][backward][optimizer]..................       nothing recorded: time of its own
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, group_rows, picked, sum_by
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.findings.operators import outermost
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.roles import Role

_S = r"[\\/]"
_BELONGS = regex(
    rf"Optimizer\.|enumerate\(Data(?:Loader|Pipe)\)|.*torch{_S}(?:optim|utils{_S}data){_S}.*\.py\(\d+\): "
    rf"|.*torch{_S}nn{_S}utils{_S}clip_grad\.py\(\d+\): |Torch-Compiled Region: |## Call CompiledFxGraph"
    r"|.*\bcompile_id="
)
"""What a training loop does in some steps by design: gradients are accumulated and clipped, batches are loaded ahead; and
what has a number of its own in its name."""
LONGER = 1.1
"""A step is longer than others from so many times their median on."""
_DEEPEST, _MOST_STEPS = 6, 400
_USUAL = 0.25
"""Share of the other steps from which on what takes longer in some is no work of these alone."""
_CLEAR, _OFTEN = 3, 3
"""Time in which nothing was recorded comes in every n-th step where it is so many times as long as in all others, and comes so
often: one stretch, or two, may be a machine that was busy with something else.
"""


class Own(msgspec.Struct, frozen=True):
    """What some steps have of their own; arrays of one shape, a row per piece.

    row: of spans: the call, or, of time in which nothing was recorded, the call before it. start, end: ns. step: row of
        steps. name: of the call, number of a string. recorded: whether something was recorded there.
    """

    row: Ints
    start: Ints
    end: Ints
    step: Ints
    name: int
    recorded: bool


def step_of(context: RuleContext, row: Ints) -> Ints:
    """The step in which spans begin, −1 outside; row of steps."""
    table, start = context.facts["steps"], context.trace["spans"]["start"][row]
    return window_at(table["host_start"], table["host_end"], start).astype(np.int64)


def calls_of_some(context: RuleContext) -> Own | None:
    """The call, by its name and what calls it, that at most half of the steps make, the one with most time; None without
    one that makes its steps longer.
    """
    spans, parent = context.trace["spans"], context.parent
    row = main_calls(context)
    step = step_of(context, row)
    looked_at = np.isin(step, context.comparable)
    row, step = row[looked_at], step[looked_at]
    if not len(row):
        return None
    name = spans["name"][row].astype(np.int64)
    around = picked(spans["name"], parent[row]).astype(np.int64)
    around[context.names.step[around] >= 0] = -1
    _, key = group_rows((name, around))
    pair = np.unique(key * (context.facts["steps"].n + 1) + step)
    steps_with = np.bincount(pair // (context.facts["steps"].n + 1), minlength=key.max() + 1)
    rare = 2 * steps_with[key] <= len(context.comparable)
    if not rare.any():
        return None
    chosen = context.mask(row[rare])
    above = np.append(nearest(parent, chosen), np.int32(-1))
    top = rare & (above[parent[row]] < 0)
    row, step, name = row[top], step[top], name[top]
    kept = ~_by_design(context, row)
    row, step, name = row[kept], step[kept], name[kept]
    if not len(row):
        return None
    cost = spans["dur"][row] + _launched(context, row)
    mine, _ = costliest(name, cost)
    found = Own(row[mine], *context.times(row[mine]), step[mine], int(name[mine][0]), True)
    return found if _lengthens(context, found, cost[mine]) else None


def shown(context: RuleContext, row: Ints, step: Ints) -> Ints:
    """Rows of spans that show pieces of steps: the given ones, and for −1 the mark of the step, where it has one."""
    marks = [context.mark_of(one) for one in step.tolist()]
    mark = np.array([int(one[0]) if len(one) else -1 for one in marks], np.int64)
    return np.where(row >= 0, row, mark)


def main_calls(context: RuleContext) -> Ints:
    """Rows of operators, annotations and frames on the program's thread, steps themselves aside."""
    row = context.on_main(context.of_role(Role.OPERATOR, Role.ANNOTATION, Role.PYTHON))
    return row[context.names.step[context.trace["spans"]["name"][row]] < 0]


def _by_design(context: RuleContext, row: Ints) -> Mask:
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


def _launched(context: RuleContext, row: Ints) -> Ints:
    """Time of the device work that is launched within calls that do not enclose each other, ns."""
    total = np.zeros(len(row) + 1, np.int64)
    if not context.has_device:
        return total[:-1]
    above = context.home(context.work.launch, row)
    place = np.where(above >= 0, np.searchsorted(row, above), len(row))
    np.add.at(total, place, context.work.end - context.work.start)
    return total[:-1]


def _lengthens(context: RuleContext, own: Own, cost: Ints) -> bool:
    """Whether the steps with a call are longer than those without it, and by it: by half of its time at least, and by
    twice its time at most.
    """
    wall = step_lengths(context.facts["steps"])
    having = np.unique(own.step)
    others = np.setdiff1d(context.comparable, having)
    typical = float(cost.sum()) / len(having)
    longer = float(np.median(wall[having]) - np.median(wall[others]))
    return typical / 2 <= longer <= 2 * typical


def longer_steps(context: RuleContext) -> tuple[Ints, Ints]:
    """``(usual, longer)``, rows of steps: of the commonest kind, of equally common ones the shortest; and of the other kind
    with most time beyond them, or those that are odd. Both are empty where there is none, and of a server's phases.
    """
    none = np.zeros(0, np.int64)
    table = context.facts["steps"]
    if context.is_whole or context.facts["iterations"].n or len(context.comparable) < 3:
        return none, none
    wall, kind = step_lengths(table).astype(np.float64), table["kind"].astype(np.int64)
    odd = (table["flags"] & StepFlag.ODD) != 0
    kind = np.where(odd, -1, kind)
    rows = context.comparable
    each, count = np.unique(kind[rows][~odd[rows]], return_counts=True)
    if not len(each):
        return none, none
    median = np.array([np.median(wall[rows[kind[rows] == one]]) for one in each])
    base = each[np.lexsort((median, -count))[0]]
    usual = rows[kind[rows] == base]
    typical = float(np.median(wall[usual]))
    best, most = none, 0.0
    for one in np.setdiff1d(kind[rows], base).tolist():
        own = rows[(kind[rows] == one) & (wall[rows] > LONGER * typical)]
        excess = float((wall[own] - typical).sum())
        if excess > most and len(own) <= len(usual):
            best, most = own, excess
    return (usual, best) if len(best) else (none, none)


def time_of_some(context: RuleContext, usual: Ints, longer: Ints) -> Own | None:
    """The time that each longer step has beyond a usual one, where that is one stretch: between the calls that both
    begin with and those that both end with. None where it is not.
    """
    if len(longer) < 2:
        # One stretch may be a machine that was busy with something else.
        return None
    wall = step_lengths(context.facts["steps"])
    like = int(usual[np.argsort(wall[usual], kind="stable")[len(usual) // 2]])
    found = [_stretch(context, like, step) for step in longer.tolist()]
    if any(one is None for one in found):
        return None
    start, end, before = (
        np.array(part, np.int64) for part in zip(*filter(None, found), strict=True)
    )
    excess = wall[longer] - np.median(wall[usual])
    if float((end - start).sum()) < float(excess.sum()) / 2:
        return None
    return _named(context, longer, start, end, before)


def _stretch(context: RuleContext, like: int, step: int) -> tuple[int, int, int] | None:
    """``(start, end, before)`` of what one step has beyond another, ``before``: the call before it, −1 none."""
    table = context.facts["steps"]
    if len(context.comparable) > _MOST_STEPS:
        return None
    windows = [(int(table["host_start"][one]), int(table["host_end"][one])) for one in (like, step)]
    rows = [_top(context, *window, -1) for window in windows]
    for _ in range(_DEEPEST):
        base, own = (
            _edges(context, row, window) for row, window in zip(rows, windows, strict=True)
        )
        names = [context.trace["spans"]["name"][row] for row in rows]
        first, last = _common(*names)
        if first + last < len(rows[0]) or first + last < len(rows[1]):
            return _between(base, own, rows[1], first, last)
        longer = (own[0][1:] - own[1][:-1]) - (base[0][1:] - base[1][:-1])
        if not len(longer):
            return None
        at = int(np.argmax(longer))
        windows = [(int(edges[1][at]), int(edges[0][at + 1])) for edges in (base, own)]
        rows = [
            _top(context, *window, int(row[at])) for row, window in zip(rows, windows, strict=True)
        ]
        if not len(rows[0]) or not len(rows[1]):
            return None
    return None


def gap_of_some(context: RuleContext) -> Own | None:
    """The time between the same two calls, of steps that all make the same calls, that comes in every n-th step alone, at
    least three times: nothing was recorded there. None where there is none.
    """
    found = (_rare_gap(context, gaps) for gaps in common_gaps(context, context.comparable))
    return next((own for own in found if own is not None), None)


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


def _rare_gap(context: RuleContext, gaps: CommonGaps) -> Own | None:
    """The longest gap that is much longer in every n-th step than in all others."""
    gap = gaps.ends - gaps.begins
    long = 2 * gap >= gap.max(axis=0)
    others = np.where(long, 0, gap).max(axis=0)
    clear = np.where(long, gap, np.iinfo(np.int64).max).min(axis=0) >= _CLEAR * others
    clear &= long.sum(axis=0) >= _OFTEN
    steps, pattern = np.unique(long[:, clear], axis=1, return_inverse=True)
    regular = [every(np.flatnonzero(column), len(gap)) > 1 for column in steps.T]
    clear[clear] = np.array(regular, np.bool_)[pattern.ravel()]
    total = np.where(clear, np.where(long, gap - others, 0).sum(axis=0), 0)
    at = int(total.argmax())
    if not total[at]:
        return None
    step = np.flatnonzero(long[:, at])
    before = np.array([gaps.before(one, at) for one in step.tolist()], np.int64)
    start, end = gaps.begins[step, at], gaps.ends[step, at] - others[at]
    return _named(context, context.comparable[step], start, end, before)


def every(position: Ints, n: int) -> int:
    """Every how many of ``n`` steps these come, none missing; 0 where that is not regular."""
    distance = np.unique(np.diff(position))
    if len(distance) != 1:
        return 0
    step = int(distance[0])
    return step if position[0] < step and n - position[-1] <= step else 0


def _between(
    base: tuple[Ints, Ints], own: tuple[Ints, Ints], row: Ints, first: int, last: int
) -> tuple[int, int, int] | None:
    """Of gaps between calls, from that behind the ``first`` common ones to that before the ``last``."""
    begins, ends = own[0][first], own[1][len(own[1]) - 1 - last]
    usual = int(base[1][len(base[1]) - 1 - last] - base[0][first])
    time = int(ends - begins) - usual
    # Both do other things: what one has of its own is not one stretch.
    if time <= 0 or 2 * usual > time:
        return None
    return int(begins), int(ends) - usual, int(row[first - 1]) if first else -1


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


def _common(a: Array, b: Array) -> tuple[int, int]:
    """How many entries two sequences have in common at their begin, and of the rest at their end."""
    n = min(len(a), len(b))
    differs = np.flatnonzero(a[:n] != b[:n])
    first = int(differs[0]) if len(differs) else n
    n -= first
    differs = np.flatnonzero(a[len(a) - n :][::-1] != b[len(b) - n :][::-1])
    return first, int(differs[0]) if len(differs) else n


def _named(context: RuleContext, step: Ints, start: Ints, end: Ints, before: Ints) -> Own | None:
    """What most of some stretches was spent in: one of the outermost calls that begin there by name, else what stands before. None
    where other steps spend much of their time in it as well: that is no work of some steps alone.
    """
    spans = context.trace["spans"]
    row = main_calls(context)
    at = np.searchsorted(start, spans["start"][row], side="right") - 1
    inside = (at >= 0) & (spans["start"][row] < end[np.maximum(at, 0)])
    row, at = row[inside], at[inside]
    outer = np.isin(row, outermost(context, row))
    row, at = row[outer], at[outer]
    if _by_design(context, row)[spans["dur"][row] > 0].any():
        return None
    name = spans["name"][row]
    if len(row):
        took = np.minimum(spans["start"][row] + spans["dur"][row], end[at]) - spans["start"][row]
        own, total = costliest(name, took)
        if 3 * total >= int((end - start).sum()):
            called = int(name[own][0])
            if _is_usual(context, called, step):
                return None
            return Own(before, start, end, step, called, True)
    if len(step) < _OFTEN or not every(
        np.searchsorted(context.comparable, step), len(context.comparable)
    ):
        return None
    known = before[before >= 0]
    told = int(spans["name"][known[0]]) if len(known) else -1
    return Own(before, start, end, step, told, False)


def _is_usual(context: RuleContext, name: int, step: Ints) -> bool:
    """Whether most steps but some spend a notable part of their time in as many calls of a name."""
    others = np.setdiff1d(context.comparable, step)
    row = main_calls(context)
    row = outermost(context, row[context.trace["spans"]["name"][row] == name])
    at, steps = step_of(context, row), context.facts["steps"].n + 1
    time, calls = (
        sum_by(at, steps, context.trace["spans"]["dur"][row]),
        np.bincount(at[at >= 0], minlength=steps),
    )
    if np.median(calls[others]) < np.median(calls[step]):
        return False
    share = time[others] / np.maximum(step_lengths(context.facts["steps"])[others], 1)
    return bool(len(others)) and float(np.median(share)) >= _USUAL
