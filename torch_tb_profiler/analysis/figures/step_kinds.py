"""Kinds of steps in words, and which kinds of two recordings are the same."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag, StepKind
from torch_tb_profiler.analysis.facts.step_kinds import SAME_MIX, contents, micro_batches
from torch_tb_profiler.store.columns import Array, Ints, Mask, median_of, unique_values
from torch_tb_profiler.store.model import Facts

GROWING = "growing"
MICRO_BATCHES = (StepKind.MICRO_BATCH, StepKind.LAST_MICRO_BATCH)
_SAID = {
    StepKind.PREFILL: "prefill",
    StepKind.DECODE: "decode",
    StepKind.MIXED: "mixed",
    StepKind.TRAINING: "training",
    StepKind.VALIDATION: "validation",
    StepKind.MICRO_BATCH: "micro-batch",
    StepKind.LAST_MICRO_BATCH: "micro-batch with the optimizer",
    StepKind.COLD: "cold",
}
_BY_CALLS = (StepKind.TRAINING, StepKind.VALIDATION)
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``11th``."""
    ending = "th" if 10 < number % 100 < 14 else _ENDINGS.get(number % 10, "th")
    return f"{number}{ending}"


def told_apart(facts: Facts) -> tuple[tuple[str, str], ...]:
    """What the steps of each row of ``step_kinds`` do, empty where nothing tells; and, where several rows are called so, what
    tells it from the others: ``("decode", "with graphs")``, ``("", "kind A")``.
    """
    table = facts["step_kinds"]
    what, graphs = table["what"], table["graphs"] > 0
    warm = what != StepKind.COLD
    names, unnamed = [], 0
    for row, value in enumerate(what.tolist()):
        said, apart = _SAID.get(StepKind(value), ""), ""
        alike = np.flatnonzero(what == value) if value != StepKind.COLD else np.array([row])
        if len(alike) == 2 and said and graphs[alike].sum() == 1:
            apart = "with graphs" if graphs[row] else "without graphs"
        elif len(alike) > 1 or (not said and warm.sum() > 1):
            apart, unnamed = f"kind {_letter(unnamed)}", unnamed + 1
        elif warm.sum() == 1 and value == StepKind.TRAINING:
            said = ""
        names.append((said, apart))
    return tuple(names)


def plain_names(facts: Facts) -> tuple[str, ...]:
    """What each row of ``step_kinds`` is called by what its steps do: ``prefill``, ``decode without graphs``, ``validation``,
    ``micro-batch``, ``cold``, ``kind A``; empty where there is but one and nothing tells.
    """
    return tuple(
        (", " if apart.startswith("kind") else " ").join(filter(None, (said, apart)))
        for said, apart in told_apart(facts)
    )


def kind_names(facts: Facts) -> tuple[str, ...]:
    """What each row of ``step_kinds`` is called, the one of which nothing is said ``usual``; behind it how often it comes, where
    that is regular, and whether its steps grow.
    """
    table = facts["step_kinds"]
    return tuple(
        f"{name or 'usual'}{f', every {ordinal(period)}' if period > 0 else ''}{f', {GROWING}' if growth > 0 else ''}"
        for name, period, growth in zip(
            plain_names(facts), table["period"].tolist(), table["growth"].tolist(), strict=True
        )
    )


def step_kind_names(facts: Facts) -> list[str]:
    """What the kind of each step is called; empty for steps that were cut off, and where steps are of one kind alone that
    does not grow.
    """
    names = [*kind_names(facts), ""]
    if len(names) == 2 and not facts["step_kinds"]["growth"].any():
        names[0] = ""
    return [names[row] for row in facts["steps"]["kind"].tolist()]


def _letter(number: int) -> str:
    """A, B … Z, then numbers."""
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def training_steps(facts: Facts) -> list[Ints]:
    """Rows of the micro-batches of each training step that was recorded whole; none where gradients are not accumulated."""
    if not (facts["step_kinds"]["group"] > 1).any():
        return []
    return micro_batches(facts["step_kinds"]["what"], facts["steps"]["kind"])


def of_leading_kind(facts: Facts, rows: Ints) -> Ints:
    """Of some steps those of the kind that takes most of their time: no median, mean or saving is of two kinds. Cut ones and
    cold ones aside, where others are left.
    """
    kind = facts["steps"]["kind"][rows].astype(np.int64)
    lengths = step_lengths(facts["steps"])[rows]
    warm = np.append(facts["step_kinds"]["what"] != StepKind.COLD, False)[kind]
    kept = warm if warm.any() else np.ones(len(rows), np.bool_)
    if not kept.any():
        return rows
    # Counted from −1, which is of those that were cut off.
    leading = np.argmax(np.bincount(kind[kept] + 1, np.maximum(lengths[kept], 1))) - 1
    return np.asarray(rows[kept & (kind == leading)])


def doing_no_less(facts: Facts, rows: Ints) -> Ints:
    """Of some steps those of the commonest kind, of equally common ones the shortest, and of the kinds that do what these do, and
    more: what only some of them do is comparable. A prefill does nothing of what a decode does.
    """
    kind, size = facts["steps"]["kind"][rows], _numbers(facts)
    own, count = np.unique(kind[kind >= 0], return_counts=True)
    if not len(own):
        return rows
    base = own[np.lexsort((size.wall[own], -count))[0]]
    [calls] = _calls_of_kinds((facts,))
    each = calls / np.maximum(size.count, 1)[:, None]
    total = each.sum(axis=1)
    same = np.minimum(each, each[base]).sum(axis=1) >= SAME_MIX * total[base]
    same &= (total > total[base]) | (np.arange(len(total)) == base)
    return np.asarray(rows[np.append(same, False)[kind]])


def of_one_kind(facts: Facts, rows: Ints) -> Ints:
    """Of some steps those that a mean or a saving is of: of the leading kind where there are several; of one kind alone all, the cold
    ones, too.
    """
    what = np.append(facts["step_kinds"]["what"], StepKind.COLD)
    kind = facts["steps"]["kind"][rows]
    several = len(unique_values(kind[what[kind] != StepKind.COLD])) > 1
    return of_leading_kind(facts, rows) if several else rows


class CommonKinds(msgspec.Struct, frozen=True):
    """Kinds of steps of two recordings.

    names: what each common kind is called.
    what: ``StepKind`` of each, uint8 of shape (kinds,).
    a, b: the common kind of every step of A and B, −1 cut off; int64.
    """

    names: tuple[str, ...]
    what: Array
    a: Ints
    b: Ints


def common_kinds(a: Facts, b: Facts) -> CommonKinds:
    """Which kinds of steps of two recordings are the same; one that only one has is a kind with steps there alone.

    Kinds of one phase, and micro-batches, are compared with such ones. Those that call the same operators and kernels, by
    names, are the same; several of them are paired in order of time where both recordings have as many, else the commonest with the commonest and the
    others with the nearest. What takes most time of both and is left over is the same, too: a program that was changed
    calls something else. The kinds of A come first. The cold ones are one kind.
    """
    sides = (a, b)
    number = [_numbers(facts) for facts in sides]
    calls = _calls_of_kinds(sides)
    groups = contents(np.vstack(calls), SAME_MIX)
    content = [groups[: len(calls[0])], groups[len(calls[0]) :]]
    what = [facts["step_kinds"]["what"] for facts in sides]
    # A recording without training does not tell what is validated.
    does = [np.where(np.isin(own, _BY_CALLS), StepKind.UNNAMED, own) for own in what]
    partner = np.full(a["step_kinds"].n, -1, np.int64)
    for said in unique_values(does[0]).tolist():
        alike = [np.flatnonzero(own == said) for own in does]
        for value in unique_values(content[0][alike[0]]).tolist():
            same = [rows[content[side][rows] == value] for side, rows in enumerate(alike)]
            _pair(partner, *same, *number)
        if said == StepKind.COLD and len(alike[1]):
            partner[alike[0]] = alike[1]
    leading = {int(own[0]) for own in what if len(own)}
    comparable = leading <= {StepKind.UNNAMED, *_BY_CALLS, *MICRO_BATCHES} or len(leading) == 1
    free = len(partner) and len(what[1]) and partner[0] < 0 and not (partner == 0).any()
    if comparable and free:
        partner[0] = 0
    return _joined(a, b, partner)


class _Size(msgspec.Struct, frozen=True):
    """Of each kind: number of steps, int64, and their median time, float64 ns."""

    count: Ints
    wall: Array


def _numbers(facts: Facts) -> _Size:
    table, kinds = facts["steps"], facts["step_kinds"].n
    wall, kind = step_lengths(table).astype(np.float64), table["kind"]
    return _Size(
        np.bincount(kind[kind >= 0], minlength=kinds).astype(np.int64),
        np.array([median_of(wall[kind == row]) for row in range(kinds)]),
    )


def _pair(partner: Ints, of_a: Ints, of_b: Ints, a: _Size, b: _Size) -> None:
    """Pair kinds that do the same."""
    of_a, of_b = of_a[np.argsort(a.wall[of_a])], of_b[np.argsort(b.wall[of_b])]
    if not len(of_b):
        return
    if len(of_a) == len(of_b):
        partner[of_a] = of_b
        return
    commonest = of_a[np.argmax(a.count[of_a])], of_b[np.argmax(b.count[of_b])]
    partner[commonest[0]] = commonest[1]
    free_a, free_b = of_a[of_a != commonest[0]], of_b[of_b != commonest[1]]
    while len(free_a) and len(free_b):
        apart = np.abs(np.log((a.wall[free_a, None] + 1) / (b.wall[free_b] + 1)))
        at, to = np.unravel_index(int(np.argmin(apart)), apart.shape)
        partner[free_a[at]] = free_b[to]
        free_a, free_b = np.delete(free_a, at), np.delete(free_b, to)


def _calls_of_kinds(sides: Sequence[Facts]) -> list[Array]:
    """Calls per kind and name of operators and kernels, float64 of shape (kinds, names), names of all sides together."""
    place: dict[tuple[str, str], int] = {}
    cells: list[list[tuple[Ints, Ints, Array]]] = []
    for facts in sides:
        kind = np.append(facts["steps"]["kind"], -1).astype(np.int64)
        own = []
        for thing in ("operator", "kernel"):
            distinct, name = np.unique(facts[f"{thing}s"]["name"], return_inverse=True)
            texts = facts.strings.many(distinct)
            column = np.array(
                [place.setdefault((thing, text), len(place)) for text in texts], np.int64
            )
            steps = facts[f"{thing}_steps"]
            inside = np.flatnonzero(kind[steps["step"]] >= 0)
            called = steps[thing][inside]
            own.append((kind[steps["step"][inside]], column[name[called]], steps["calls"][inside]))
        cells.append(own)
    width = max(len(place), 1)
    found = []
    for facts, own in zip(sides, cells, strict=True):
        row, column, calls = (np.concatenate(part) for part in zip(*own, strict=True))
        kinds = facts["step_kinds"].n
        sums = np.bincount(row * width + column, weights=calls, minlength=kinds * width)
        found.append(sums.reshape(kinds, width))
    return found


def _joined(a: Facts, b: Facts, partner: Ints) -> CommonKinds:
    names, what = list(kind_names(a)), a["step_kinds"]["what"].tolist()
    of_b = np.full(b["step_kinds"].n + 1, -1, np.int64)
    paired = np.flatnonzero(partner >= 0)
    of_b[partner[paired]] = paired
    # All cold kinds are one.
    cold = [row for row, value in enumerate(what) if value == StepKind.COLD]
    for row, (name, value) in enumerate(zip(kind_names(b), b["step_kinds"]["what"], strict=True)):
        if of_b[row] < 0 and value == StepKind.COLD and cold:
            of_b[row] = cold[0]
        elif of_b[row] < 0:
            of_b[row] = len(names)
            names.append(name)
            what.append(int(value))
    return CommonKinds(
        tuple(names),
        np.array(what, np.uint8),
        a["steps"]["kind"].astype(np.int64),
        of_b[b["steps"]["kind"]],
    )


def agreed(ranks: Sequence[Facts], flag: StepFlag) -> list[Mask]:
    """Which steps of each rank have a flag, bool of shape (steps,): those of which most of the ranks that recorded them say
    so, weighed by their time. Steps are tied by number, else by place.
    """
    numbered = all((facts["steps"]["number"] >= 0).all() for facts in ranks)
    votes: dict[int, float] = {}
    keys = []
    for facts in ranks:
        table = facts["steps"]
        key = table["number"].tolist() if numbered else list(range(table.n))
        keys.append(key)
        says = (table["flags"] & flag) != 0
        wall = table["end"] - table["start"]
        for step, yes, time in zip(key, says.tolist(), wall.tolist(), strict=True):
            votes[step] = votes.get(step, 0.0) + (time if yes else -time)
    return [np.array([votes[step] > 0 for step in key], np.bool_) for key in keys]
