"""Kinds of steps: which steps do the same work in about the same time.

Steps are of one kind when their phase is the same, when their operators and kernels are called in about the same
proportions, and when no clear gap divides their times::

    time  ▁▁▁█▁▁▁█▁▁▁█   usual (9), periodic: every 4th (3)
          ▁█▁▁██▁█▁█▁▁   usual (7), another mode (5): nothing regular decides
          █▁▁▁▁▁▁▁▁▁▁▁   cold (1), usual (11): the first compiles, loads, allocates or tunes, and nothing of that recurs
          ▁▁▂▂▃▃▄▄▅▅▆▆   usual (12), growing
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.facts.flags import StepFlag, StepKind
from torch_tb_profiler.analysis.facts.step_work import StepWork
from torch_tb_profiler.store.columns import Array, Ints, Mask

Floats = Array

SAME_MIX = 0.8
"""Steps do the same when at least this share of their calls has a counterpart."""
MOST_CONTENTS = 32
COLD_FACTOR = 1.5
ODD_DEVIATIONS = 5.0
ODD_EXCESS = 0.1
NORMAL_MAD = 1.4826
"""Standard deviation of a normal distribution / its median absolute deviation."""
LEAST_SHARE = 0.1
"""Share of the steps that do the same from which on those of one length are a mode, though they do not come regularly."""
LEAST_TO_SPLIT = 5
FEW = 10
"""Of few times a gap must exceed their ranges by more: of n by 1 + ``FEW`` / n times. So at most 4 % of unimodal samples (normal,
uniform, exponential, Pareto) are divided, of 5 to 50 times."""
LEAST_TO_GROW = 8
GROWS = 3.09
"""Standard normal quantile of 0.999: steps in random order are called growing once in a thousand times."""


class StepKinds(msgspec.Struct, frozen=True):
    """What each step is.

    flags: ``StepFlag`` of every step, uint8 of shape (steps,).
    kind: row of the arrays below, −1 cut off; int64 of shape (steps,). The usual steps are 0, the others in order of
        their first step.
    what: ``StepKind``, uint8 of shape (kinds,).
    period: every so many steps, −1 not regular; int64.
    growth: ns per step by which its steps become longer, 0 where they do not; float64.
    """

    flags: Array
    kind: Ints
    what: Array
    period: Ints
    growth: Floats

    @property
    def columns(self) -> dict[str, Array]:
        """Those of ``STEP_KINDS``."""
        return {"what": self.what, "period": self.period, "growth": self.growth}


def whole_kind(steps: int) -> StepKinds:
    """Of a recording that marks no steps: it counts as one, which is the usual."""
    return StepKinds(
        np.full(steps, StepFlag.WHOLE, np.uint8),
        np.zeros(steps, np.int64),
        np.full(steps, StepKind.USUAL, np.uint8),
        np.full(steps, -1, np.int64),
        np.zeros(steps),
    )


def step_kinds(work: StepWork, cut: Mask) -> StepKinds:
    """Group the steps of a trace; ``cut``: those whose end was not recorded, bool of shape (steps,)."""
    n = len(work.wall)
    flags = np.where(cut, StepFlag.CUT, 0).astype(np.uint8)
    group = np.full(n, -1, np.int64)
    content = contents(work.calls, ~cut)
    whole = ~cut & (work.wall > 0)
    for phase in np.unique(work.phase[whole]).tolist():
        rows = np.flatnonzero(whole & (work.phase == phase))
        cold = rows[: _cold_count(work, rows, content)]
        flags[cold] |= np.uint8(StepFlag.COLD)
        _divide(work, rows[len(cold) :], content, group)
    # Steps without any time, whose work an earlier one outlasts, go with those of the same content.
    for row in np.flatnonzero(~cut & (work.wall <= 0)).tolist():
        same = np.flatnonzero(whole & (group >= 0) & (work.phase == work.phase[row]))
        like = same[content[same] == content[row]]
        like = like if len(like) else same
        group[row] = group[like[0]] if len(like) else group.max(initial=-1) + 1
    is_cold = (flags & StepFlag.COLD) != 0
    group[is_cold] = group.max(initial=-1) + 1
    kind = _ordered(group, is_cold, work.wall)
    flags[_odd_rows(work, kind, is_cold, whole)] |= np.uint8(StepFlag.ODD)
    return _described(work, kind, content, is_cold, flags)


def contents(calls: Floats, counted: Mask) -> Ints:
    """A number per step, the same for steps whose calls have at least ``SAME_MIX`` in common as shares; −1 where not
    ``counted``. ``calls``: shape (steps, names).
    """
    number = np.full(len(calls), -1, np.int64)
    rows = np.flatnonzero(counted)
    if not len(rows):
        return number
    # Most steps call exactly the same, so the distinct ones are few.
    weight = np.random.default_rng(0).random(calls.shape[1])
    _, first, same, count = np.unique(
        calls[rows] @ weight, return_index=True, return_inverse=True, return_counts=True
    )
    total = calls[rows[first]].sum(axis=1, keepdims=True)
    mix = calls[rows[first]] / np.maximum(total, 1)
    leaders = np.zeros((0, calls.shape[1]))
    found = np.zeros(len(first), np.int64)
    for at in np.lexsort((first, -count)).tolist():
        shared = np.where(
            total[at] > 0, np.minimum(leaders, mix[at]).sum(axis=1), leaders.sum(axis=1) == 0
        )
        best = int(np.argmax(shared)) if len(shared) else -1
        if best >= 0 and (shared[best] >= SAME_MIX or len(leaders) >= MOST_CONTENTS):
            found[at] = best
            continue
        found[at] = len(leaders)
        leaders = np.vstack((leaders, mix[at]))
    number[rows] = found[same]
    return number


def modes(wall: Floats) -> Ints:
    """The mode of each of some times > 0, 0 the shortest, by clear gaps between them.

    Two modes need two steps each, five together, and a gap that exceeds ``ODD_EXCESS``, the spread of both (five
    standard deviations, ``ODD_DEVIATIONS``) and the sum of their ranges (``FEW``), in logarithms. A single time apart from all others
    is no mode; it belongs to the nearest.
    """
    log = np.log(wall)
    order = np.argsort(log, kind="stable")
    bounds = _bounds(log[order])
    return np.asarray(np.searchsorted(np.asarray(bounds), log, side="left"), np.int64)


def _bounds(ordered: Floats) -> list[float]:
    """Logarithms of time that divide modes, ascending."""
    while len(ordered) >= LEAST_TO_SPLIT:
        gap = np.diff(ordered)
        at = int(np.argmax(gap)) + 1
        low, high = ordered[:at], ordered[at:]
        if len(low) == 1 or len(high) == 1:
            ordered = high if len(low) == 1 else low
            continue
        rest = np.concatenate((low - np.median(low), high - np.median(high)))
        spread = NORMAL_MAD * float(np.median(np.abs(rest)))
        ranges = (1 + FEW / len(ordered)) * (_range(low) + _range(high))
        needed = max(np.log1p(ODD_EXCESS), ODD_DEVIATIONS * spread, ranges)
        if gap[at - 1] <= needed:
            return []
        middle = float((low[-1] + high[0]) / 2)
        return [*_bounds(low), middle, *_bounds(high)]
    return []


def _range(ordered: Floats) -> float:
    """From the shortest to the longest, a tenth at either end left out where there are many."""
    aside = len(ordered) // 10
    return float(ordered[len(ordered) - 1 - aside] - ordered[aside])


def _divide(work: StepWork, rows: Ints, content: Ints, group: Ints) -> None:
    """Number the kinds of some steps of one phase, in ``group``."""
    for number in np.unique(content[rows]).tolist():
        here = rows[content[rows] == number]
        group[here] = _without_few(modes(work.wall[here])) + group.max(initial=-1) + 1


def _without_few(mode: Ints) -> Ints:
    """The modes of steps in order, where one of few steps that do not come at regular distances is no mode: its steps
    belong to the next shorter one, or the next longer, and may be odd there.
    """
    kept = mode.copy()
    for number in range(int(mode.max(initial=0)), -1, -1):
        at = np.flatnonzero(mode == number)
        regular = len(at) > 2 and np.ptp(np.diff(at)) == 0
        if 0 < len(at) < LEAST_SHARE * len(mode) and not regular:
            others = np.unique(kept[kept != number])
            if len(others):
                kept[kept == number] = others[max(np.searchsorted(others, number) - 1, 0)]
    return np.asarray(kept)


def _cold_count(work: StepWork, rows: Ints, content: Ints) -> int:
    """How many of the first steps are cold; those behind the first only with evidence."""
    count = 0
    while len(rows) - count >= 3 and _is_cold(work, rows[count:], content, proven=count > 0):
        count += 1
    return count


def _is_cold(work: StepWork, rows: Ints, content: Ints, proven: bool) -> bool:
    """Whether the first of some steps is clearly slower, by what does not recur; see ``StepFlag.COLD``."""
    first, others = int(rows[0]), rows[1:]
    like = _nearest(work.calls, first, others, content)
    typical = float(np.median(work.wall[like]))
    usual = like[work.wall[like] <= typical * (1 + ODD_EXCESS)]
    if work.wall[first] <= COLD_FACTOR * typical:
        return False
    excess = float(work.wall[first]) - typical
    setup = work.setup - float(np.median(work.setup[others]))
    if setup[first] >= excess / 2:
        return bool(setup[others].max() < setup[first] / 2)
    alike = others[content[others] == content[first]]
    recurs = proven or (work.wall[alike] * COLD_FACTOR >= work.wall[first]).any()
    does_the_same = not recurs and work.does_all_of(first, usual)
    return does_the_same and work.known_excess(first, usual) < excess / 2


def _nearest(calls: Floats, first: int, others: Ints, content: Ints) -> Ints:
    """Of some steps those of the recurring content that shares most calls with another step; all where there is none."""
    groups = [others[content[others] == number] for number in np.unique(content[others])]
    mix = calls / np.maximum(calls.sum(axis=1, keepdims=True), 1)
    shared = [np.minimum(mix[first], mix[at].mean(axis=0)).sum() * (len(at) > 1) for at in groups]
    return groups[int(np.argmax(shared))] if max(shared) > 0 else others


def _ordered(group: Ints, is_cold: Mask, wall: Floats) -> Ints:
    """Number kinds anew: first the commonest, of equally many the one with most time; then by their first step."""
    used, first, inverse, count = np.unique(
        group, return_index=True, return_inverse=True, return_counts=True
    )
    weight = np.where(is_cold[first] | (used < 0), 0, count)
    total = np.bincount(inverse, weights=wall, minlength=len(used))
    usual = mask_of(len(used), np.lexsort((first, -total, -weight))[:1])
    order = np.lexsort((first, ~usual, used < 0))
    place = np.empty(len(used), np.int64)
    place[order] = np.arange(len(used))
    place[used < 0] = -1
    return np.asarray(place[inverse])


def _odd_rows(work: StepWork, kind: Ints, is_cold: Mask, whole: Mask) -> Ints:
    """Steps much slower than the others of their kind, or, the only ones of theirs, than the usual of their phase."""
    found = [np.zeros(0, np.int64)]
    counted = whole & ~is_cold
    count = np.bincount(kind[counted], minlength=int(kind.max(initial=-1)) + 1)
    for phase in np.unique(work.phase[counted]).tolist():
        here = counted & (work.phase == phase)
        own = np.unique(kind[here])
        main = own[np.argmax(count[own])]
        for number in own[count[own] >= LEAST_TO_SPLIT - 1].tolist():
            like = here & (kind == number)
            judged = np.flatnonzero(like | (here & (count[kind] == 1) & (number == main)))
            wall, excess = work.wall[like], work.wall[judged] - np.median(work.wall[like])
            middle = float(np.median(wall))
            spread = NORMAL_MAD * float(np.median(np.abs(wall - middle)))
            found.append(
                judged[(excess > ODD_DEVIATIONS * spread) & (excess > ODD_EXCESS * middle)]
            )
    return np.concatenate(found)


def _described(work: StepWork, kind: Ints, content: Ints, is_cold: Mask, flags: Array) -> StepKinds:
    kinds = int(kind.max(initial=-1)) + 1
    what = np.full(kinds, StepKind.COLD, np.uint8)
    period, growth = np.full(kinds, -1, np.int64), np.zeros(kinds)
    count = np.bincount(kind[kind >= 0], minlength=kinds)
    usual: dict[int, int] = {}
    # Kind 0 is the first of equally many.
    for number in np.argsort(-count, kind="stable").tolist():
        rows = np.flatnonzero(kind == number)
        phase, does = int(work.phase[rows[0]]), int(content[rows[0]])
        if is_cold[rows[0]]:
            continue
        growth[number] = growth_of(work.wall, rows[(flags[rows] & StepFlag.ODD) == 0])
        if phase not in usual:
            usual[phase], what[number] = does, StepKind.USUAL
            continue
        period[number] = _period(rows, kind, is_cold, 3 if does == usual[phase] else 2)
        recurs = StepKind.PERIODIC if period[number] > 0 else StepKind.MODE
        what[number] = recurs if len(rows) > 1 else StepKind.SINGLE
    return StepKinds(flags, kind, what, period, growth)


def _period(rows: Ints, kind: Ints, is_cold: Mask, least: int) -> int:
    """Every so many steps, if none is missing from the first to the last whole step, a cold one aside; −1 otherwise, and
    for fewer than ``least``, because any two times are regular.
    """
    if len(rows) < least:
        return -1
    every, last = int(rows[1] - rows[0]), int(np.flatnonzero(kind >= 0)[-1])
    before = int(rows[0]) - every
    complete = (before < 0 or is_cold[before]) and last - rows[-1] < every
    return every if every > 1 and complete and (np.diff(rows) == every).all() else -1


def growth_of(wall: Floats, rows: Ints) -> float:
    """ns per step by which steps grow (Theil and Sen's slope); 0 if their order could be chance, or for less than
    ``ODD_EXCESS`` of their median from first to last.

    Kendall's rank correlation against its normal approximation (Kendall, Rank Correlation Methods, 1970).
    """
    if len(rows) < LEAST_TO_GROW:
        return 0.0
    # The slope of very many steps is that of a few hundred of them.
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), 400)).astype(np.int64)]
    n, time = len(rows), wall[rows]
    later, earlier = np.tril_indices(n, -1)
    rise = time[later] - time[earlier]
    score = float(np.sign(rise).sum()) / np.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    if score < GROWS:
        return 0.0
    slope = float(np.median(rise / (rows[later] - rows[earlier])))
    return slope if slope * (rows[-1] - rows[0]) > ODD_EXCESS * np.median(time) else 0.0
