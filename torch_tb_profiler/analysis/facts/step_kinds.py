"""Kinds of steps: which steps launch the same, whatever time they take.

Steps are of one kind when their phase is the same, all or none of them launch graphs, communicate, differentiate and step an
optimizer, they call the same operators and kernels, or in about the same proportions, and most of these have the same shapes::

    graphs   · 81 81 81 81 81 81        a prefill (1), decodes (6)
    shapes   a b b a b c b              kind B (2), kind A (4), and c with those that recur nowhere
    adam     · · · 1 · · · 1            micro-batches (6), the last ones (2): four make a training step
    time     █▁▁▁▁▁▁▁▁▁▁▁               cold (1): the first compiles, loads, allocates or tunes, and nothing of that recurs
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.facts.flags import StepFlag, StepKind
from torch_tb_profiler.analysis.facts.step_work import LEAST_STEPS, StepWork
from torch_tb_profiler.hardware.server_steps import PHASES
from torch_tb_profiler.store.columns import Array, Ints, Mask, median_of, unique_values

Floats = Array

SAME_MIX = 0.8
"""Steps do the same when at least this share of their calls has a counterpart."""
SAME_SHAPES = 0.5
"""Steps do the same when at least this share of their calls has one with the same shapes; the others may be of what grows."""
MOST_CONTENTS = 32
COLD_FACTOR = 1.5
ODD_DEVIATIONS = 5.0
ODD_EXCESS = 0.1
NORMAL_MAD = 1.4826
"""Standard deviation of a normal distribution / its median absolute deviation."""
SIZE_SHARE = 1 / 3
"""Share of the steps that call the same from which on those of equal shapes are a kind."""
LEAST_TO_JUDGE = 4
"""Steps of a kind from which on one of them is odd."""
LEAST_TO_GROW = 8
GROWS = 3.09
"""Standard normal quantile of 0.999: steps in random order are called growing once in a thousand times."""


class StepKinds(msgspec.Struct, frozen=True):
    """What each step is.

    flags: ``StepFlag`` of every step, uint8 of shape (steps,).
    kind: row of the columns, −1 cut off; int64 of shape (steps,). The kind with most time is 0, the others in order of their
        first step.
    columns: those of ``STEP_KINDS``.
    """

    flags: Array
    kind: Ints
    columns: dict[str, Array]


def whole_kind(steps: int) -> StepKinds:
    """Of a recording that marks no steps: it counts as one."""
    columns: dict[str, Array] = {"what": np.full(steps, StepKind.UNNAMED, np.uint8)}
    unknown = {name: np.full(steps, -1, np.int64) for name in ("period", "group")}
    none = {name: np.zeros(steps, np.int64) for name in ("graphs", "optimizer", "growth")}
    kind = np.zeros(steps, np.int64)
    return StepKinds(np.full(steps, StepFlag.WHOLE, np.uint8), kind, columns | unknown | none)


def step_kinds(work: StepWork, cut: Mask, serves: bool) -> StepKinds:
    """Group the steps of a trace; ``cut``: those whose end was not recorded, bool of shape (steps,); ``serves``: whether it is of a
    server.
    """
    flags = np.where(cut, StepFlag.CUT, 0).astype(np.uint8)
    group = _launching_the_same(work, ~cut)
    whole = ~cut & (work.wall > 0)
    for phase in unique_values(work.phase[whole]).tolist():
        rows = np.flatnonzero(whole & (work.phase == phase))
        flags[rows[: _cold_count(work, rows, group)]] |= np.uint8(StepFlag.COLD)
    is_cold = (flags & StepFlag.COLD) != 0
    group = np.where(is_cold, group.max(initial=-1) + 1, group)
    kind = _ordered(group, is_cold, work.wall)
    flags[odd_rows(work.wall, kind, is_cold | ~whole)] |= np.uint8(StepFlag.ODD)
    return StepKinds(flags, kind, _described(work, kind, is_cold, flags, serves))


def _launching_the_same(work: StepWork, counted: Mask) -> Ints:
    """A number per step, the same for those that launch the same; −1 where not ``counted``."""
    _, number = group_rows((work.phase, *(does.astype(np.int64) for does in work.signs())))
    number = np.where(counted, number, -1)
    if counted.sum() < LEAST_STEPS:
        # Of two steps that call other things neither recurs.
        return number
    number = _divided(number, lambda rows: contents(work.calls[rows], SAME_MIX))
    # The sizes of a server's batches differ by nature, and their phase tells more.
    said = (work.phase >= 0) & (work.phase < PHASES.index("other"))
    for shaped in work.shaped:
        number = _divided(number, partial(_of_shapes, work.sized[:, shaped], said))
    return number


def _divided(number: Ints, among: Callable[[Ints], Ints]) -> Ints:
    """Groups of steps (−1 of none), each divided by numbers ``among`` its rows."""
    found = np.full(len(number), -1, np.int64)
    for own in unique_values(number[number >= 0]).tolist():
        rows = np.flatnonzero(number == own)
        found[rows] = among(rows) + found.max(initial=-1) + 1
    return found


def _of_shapes(calls: Floats, said: Mask, rows: Ints) -> Ints:
    """Groups of some steps by the shapes that a good part of them share; the others are one group. All are where sizes differ by nature,
    as of batches that are as long as their texts. ``calls``: shape (steps, shapes).
    """
    number = contents(calls[rows], SAME_SHAPES)
    count = np.bincount(number)
    recurs = count >= max(2, SIZE_SHARE * len(number))
    if recurs.sum() > 1:
        # Two of a size may meet by chance.
        recurs &= count > 2
    if said[rows].any() or 2 * count[recurs].sum() <= len(number):
        return np.zeros(len(number), np.int64)
    return np.where(recurs[number], number, len(count))


def contents(calls: Floats, least: float) -> Ints:
    """A number per step, the same for steps that call the same names, however often, and for those whose calls have at least
    ``least`` in common as shares. ``calls``: shape (steps, names).
    """
    # Most steps call exactly the same, so the distinct ones are few.
    called = np.packbits(calls > 0, axis=1) if calls.size else np.zeros((len(calls), 1), np.uint8)
    _, first, same, count = np.unique(
        called, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    same = same.ravel()
    sums = np.zeros((len(first), calls.shape[1]))
    np.add.at(sums, same, calls)
    total = sums.sum(axis=1, keepdims=True)
    mix = sums / np.maximum(total, 1)
    leaders = np.zeros((0, calls.shape[1]))
    found = np.zeros(len(first), np.int64)
    for at in np.lexsort((first, -count)).tolist():
        shared = np.where(
            total[at] > 0, np.minimum(leaders, mix[at]).sum(axis=1), leaders.sum(axis=1) == 0
        )
        best = int(np.argmax(shared)) if len(shared) else -1
        if best >= 0 and (shared[best] >= least or len(leaders) >= MOST_CONTENTS):
            found[at] = best
            continue
        found[at] = len(leaders)
        leaders = np.vstack((leaders, mix[at]))
    return found[same]


def _cold_count(work: StepWork, rows: Ints, group: Ints) -> int:
    """How many of the first steps are cold; those behind the first only with evidence."""
    count = 0
    while len(rows) - count >= 3 and _is_cold(work, rows[count:], group, proven=count > 0):
        count += 1
    return count


def _is_cold(work: StepWork, rows: Ints, group: Ints, proven: bool) -> bool:
    """Whether the first of some steps is clearly slower, by what does not recur; see ``StepFlag.COLD``."""
    first, others = int(rows[0]), rows[1:]
    like = _nearest(work.calls, first, others, group)
    typical = median_of(work.wall[like])
    usual = like[work.wall[like] <= typical * (1 + ODD_EXCESS)]
    if work.wall[first] <= COLD_FACTOR * typical:
        return False
    excess = float(work.wall[first]) - typical
    setup = work.setup - median_of(work.setup[others])
    if setup[first] >= excess / 2:
        return bool(setup[others].max() < setup[first] / 2)
    alike = others[group[others] == group[first]]
    recurs = proven or (work.wall[alike] * COLD_FACTOR >= work.wall[first]).any()
    alone = any(does[first] and not does[others].any() for does in work.signs())
    does_the_same = not recurs and not alone and work.does_all_of(first, usual)
    return does_the_same and work.known_excess(first, usual) < excess / 2


def _nearest(calls: Floats, first: int, others: Ints, group: Ints) -> Ints:
    """Of some steps those of the recurring content that shares most calls with another step; all where there is none."""
    groups = [others[group[others] == number] for number in unique_values(group[others])]
    mix = calls / np.maximum(calls.sum(axis=1, keepdims=True), 1)
    shared = [np.minimum(mix[first], mix[at].mean(axis=0)).sum() * (len(at) > 1) for at in groups]
    return groups[int(np.argmax(shared))] if max(shared) > 0 else others


def _ordered(group: Ints, is_cold: Mask, wall: Floats) -> Ints:
    """Number kinds anew: first the one with most time, of equal ones the earliest; then by their first step; −1 stays."""
    used, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    total = np.bincount(inverse, weights=wall, minlength=len(used))
    total[is_cold[first] | (used < 0)] = -1
    leads = np.arange(len(used)) == np.lexsort((first, -total))[:1]
    order = np.lexsort((first, ~leads, used < 0))
    place = np.empty(len(used), np.int64)
    place[order] = np.arange(len(used))
    place[used < 0] = -1
    return np.asarray(place[inverse])


def odd_limit(values: Array, least: float | None = None) -> tuple[float, float]:
    """``(usual, limit)``: the median of some values, and by how much one above it must exceed it to be odd: ``ODD_DEVIATIONS`` usual
    deviations (1.4826 × the median absolute one), and ``least``, if none is given ``ODD_EXCESS`` of the median.
    """
    usual = median_of(values)
    spread = NORMAL_MAD * median_of(np.abs(values - usual))
    return usual, max(ODD_DEVIATIONS * spread, ODD_EXCESS * usual if least is None else least)


def odd_rows(length: Ints, kind: Ints, apart: Mask) -> Ints:
    """Steps much slower than the others of their kind, by their lengths, ns. ``apart``: those that do not count."""
    found = [np.zeros(0, np.int64)]
    for number in range(int(kind.max(initial=-1)) + 1):
        rows = np.flatnonzero((kind == number) & ~apart)
        if len(rows) >= LEAST_TO_JUDGE:
            usual, limit = odd_limit(length[rows])
            found.append(rows[length[rows] - usual > limit])
    return np.concatenate(found)


def _described(
    work: StepWork, kind: Ints, is_cold: Mask, flags: Array, serves: bool
) -> dict[str, Array]:
    rows = [np.flatnonzero(kind == number) for number in range(int(kind.max(initial=-1)) + 1)]
    first = np.array([own[0] for own in rows], np.int64)
    growth = [growth_of(work.wall, own[(flags[own] & StepFlag.ODD) == 0]) for own in rows]
    optimizer = [max(round(float(work.optimizer[own].mean())), 0) for own in rows]
    graphs = np.array([median_of(work.graphs[own]) for own in rows]).astype(np.int64)
    wall = np.array([median_of(work.wall[own]) for own in rows])
    what = _named(work, first, graphs > 0, wall, serves)
    what[is_cold[first]] = StepKind.COLD
    sizes = [len(group) for group in micro_batches(what, kind)]
    micro = np.isin(what, (StepKind.MICRO_BATCH, StepKind.LAST_MICRO_BATCH))
    if sizes[:1] == [1]:
        # The optimizer leaves a step out now and then, as a scaler of gradients has it do.
        what[micro], micro = StepKind.TRAINING, micro & False
    regular = [
        -1 if number == 0 or is_cold[own[0]] or micro[number] else _period(own, kind, is_cold)
        for number, own in enumerate(rows)
    ]
    return {
        "what": what,
        "period": np.array(regular, np.int64),
        "growth": np.where(is_cold[first], 0.0, np.array(growth, np.float64)),
        "graphs": graphs,
        "group": np.where(micro, sizes[0] if sizes else -1, -1),
        "optimizer": np.array(optimizer, np.int64),
    }


def _named(work: StepWork, first: Ints, graphs: Mask, wall: Floats, serves: bool) -> Array:
    """``StepKind`` of each kind by its ``first`` step, whether it launches ``graphs``, and its median time; uint8."""
    what = np.full(len(first), StepKind.UNNAMED, np.uint8)
    backward, steps, phase = work.backward[first], work.optimizer[first] >= 0, work.phase[first]
    what[backward] = StepKind.TRAINING
    alike = (work.calls[first[backward]] > 0).any(axis=0) & work.products
    what[~backward & ~steps & (work.calls[first] @ alike > 0)] = StepKind.VALIDATION
    # Gradients that no step of the recording applies are of no accumulation that is known.
    if (backward & steps).any() and (backward & ~steps).any():
        what[backward & ~steps] = StepKind.MICRO_BATCH
        what[backward & steps] = StepKind.LAST_MICRO_BATCH
    unsaid = PHASES.index("other")
    said = (phase >= 0) & (phase < unsaid)
    what[said] = phase[said] + StepKind.PREFILL
    # A server captures graphs of decoding, and computes prompts, which take longer, without them.
    mute = (phase == unsaid) | (serves & (phase < 0))
    longer = mute & ~graphs & (wall > wall[mute & graphs].max(initial=0))
    if (mute & graphs).any() and longer.any():
        what[mute & graphs], what[longer] = StepKind.DECODE, StepKind.PREFILL
    return what


def micro_batches(what: Array, kind: Ints) -> list[Ints]:
    """Rows of the steps that are the micro-batches of each training step that was recorded whole: from behind an optimizer's
    step to the next. Validations may lie between, cold steps and those cut off may not. All have the commonest size.
    ``what``: ``StepKind`` of each kind; ``kind``: of every step.
    """
    found: list[list[int]] = []
    sure: list[int] = []
    own: list[int] | None = []
    begun = False
    # The last of the kinds is that of steps that were cut off.
    for row, value in enumerate(np.append(what, StepKind.COLD)[kind].tolist()):
        if value == StepKind.COLD:
            own, begun = None, False
        elif value in (StepKind.MICRO_BATCH, StepKind.LAST_MICRO_BATCH) and own is not None:
            own.append(row)
        if value == StepKind.LAST_MICRO_BATCH:
            found += [own] if own else []
            sure += [len(own)] if own and begun else []
            own, begun = [], True
    # The first may have begun before the recording: it counts where it has as many as others.
    usual = max(sure, key=lambda size: (sure.count(size), size), default=0)
    return [np.array(group, np.int64) for group in found if len(group) == usual]


def _period(rows: Ints, kind: Ints, is_cold: Mask) -> int:
    """Every so many steps, if none is missing from the first to the last whole step, a cold one aside; −1 otherwise."""
    if len(rows) < 2:
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
    slope = median_of(rise / (rows[later] - rows[earlier]))
    return slope if slope * (rows[-1] - rows[0]) > ODD_EXCESS * median_of(time) else 0.0
