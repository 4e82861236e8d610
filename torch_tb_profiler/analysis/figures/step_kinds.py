"""Kinds of steps in words, and which kinds of two recordings are the same."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag, StepKind
from torch_tb_profiler.analysis.facts.iterations import phase_of_steps
from torch_tb_profiler.analysis.facts.step_kinds import contents
from torch_tb_profiler.hardware.server_steps import PHASES
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Facts

GROWING = "growing"
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``11th``."""
    ending = "th" if 10 < number % 100 < 14 else _ENDINGS.get(number % 10, "th")
    return f"{number}{ending}"


def kind_names(facts: Facts) -> tuple[str, ...]:
    """What each row of ``step_kinds`` is called: ``usual``, ``every 4th``, ``mode B``, ``once``, ``cold``; before it the
    phase where steps have one, behind it whether its steps grow.
    """
    table = facts["step_kinds"]
    phase = phases_of_kinds(facts)
    names: list[str] = []
    modes = 0
    for row, what in enumerate(table["what"].tolist()):
        modes += what == StepKind.MODE
        word = {
            StepKind.USUAL: "usual",
            StepKind.PERIODIC: f"every {ordinal(int(table['period'][row]))}",
            StepKind.MODE: f"mode {_letter(modes)}",
            StepKind.SINGLE: "once",
            StepKind.COLD: "cold",
        }[StepKind(what)]
        if phase[row] >= 0:
            said = PHASES[int(phase[row])]
            word = said if what == StepKind.USUAL else f"{said}, {word}"
        names.append(f"{word}, {GROWING}" if table["growth"][row] > 0 else word)
    return tuple(names)


def step_kind_names(facts: Facts) -> list[str]:
    """What the kind of each step is called; empty for steps that were cut off, and where steps are of one kind alone that
    does not grow.
    """
    names = [*kind_names(facts), ""]
    if len(names) == 2 and not facts["step_kinds"]["growth"].any():
        names[0] = ""
    return [names[row] for row in facts["steps"]["kind"].tolist()]


def _letter(number: int) -> str:
    """The usual mode is A: B, C … Z, then numbers."""
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def phases_of_kinds(facts: Facts) -> Ints:
    """The phase of the steps of each kind, −1 none or cold; int64 of shape (kinds,)."""
    kind, kinds = facts["steps"]["kind"], facts["step_kinds"].n
    phase = np.full(kinds, -1, np.int64)
    row = np.flatnonzero(kind >= 0)[::-1]
    phase[kind[row]] = phase_of_steps(facts["iterations"], len(kind))[row]
    phase[facts["step_kinds"]["what"] == StepKind.COLD] = -1
    return phase


def recurring(facts: Facts) -> Mask:
    """Steps that speak for the program: not cold, recorded as a whole; bool of shape (steps,)."""
    unwanted = StepFlag.COLD | StepFlag.PART
    return np.asarray((facts["steps"]["flags"] & unwanted) == 0)


class CommonKinds(msgspec.Struct, frozen=True):
    """Kinds of steps of two recordings.

    names: what each common kind is called.
    what: ``StepKind`` of each, uint8 of shape (kinds,).
    content: a number of each, the same for kinds that call the same operators and kernels; int64.
    a, b: the common kind of every step of A and B, −1 cut off; int64.
    """

    names: tuple[str, ...]
    what: Array
    content: Ints
    a: Ints
    b: Ints


def common_kinds(a: Facts, b: Facts) -> CommonKinds:
    """Which kinds of steps of two recordings are the same; one that only one has is a kind with steps there alone.

    Kinds are compared within a phase. Those that call the same operators and kernels, by names, are the same; several of
    them differ in time, and are paired in order of time where both recordings have as many, else the commonest with the
    commonest and the others with the nearest. What is the usual of both and is left over is the same, too: a program
    that was changed calls something else. The kinds of A come first. The cold ones are one kind.
    """
    sides = (a, b)
    number = [_numbers(facts) for facts in sides]
    calls = _calls_of_kinds(sides)
    groups = contents(np.vstack(calls), np.ones(sum(map(len, calls)), np.bool_))
    content = [groups[: len(calls[0])], groups[len(calls[0]) :]]
    phase = [phases_of_kinds(facts) for facts in sides]
    partner = np.full(a["step_kinds"].n, -1, np.int64)
    for said in np.unique(phase[0]).tolist():
        of_phase = [
            np.flatnonzero(
                (phase[side] == said) & (sides[side]["step_kinds"]["what"] != StepKind.COLD)
            )
            for side in (0, 1)
        ]
        for value in np.unique(content[0][of_phase[0]]).tolist():
            same = [rows[content[side][rows] == value] for side, rows in enumerate(of_phase)]
            _pair(partner, *same, *number)
        left = [of_phase[0][partner[of_phase[0]] < 0], np.setdiff1d(of_phase[1], partner)]
        usual = [
            rows[sides[side]["step_kinds"]["what"][rows] == StepKind.USUAL]
            for side, rows in enumerate(left)
        ]
        if len(usual[0]) and len(usual[1]):
            partner[usual[0][0]] = usual[1][0]
    cold = [np.flatnonzero(facts["step_kinds"]["what"] == StepKind.COLD) for facts in sides]
    partner[cold[0]] = cold[1][0] if len(cold[1]) else -1
    return _joined(a, b, partner, (content[0], content[1]))


class _Size(msgspec.Struct, frozen=True):
    """Of each kind: number of steps, int64, and their median time, float64 ns."""

    count: Ints
    wall: Array


def _numbers(facts: Facts) -> _Size:
    table, kinds = facts["steps"], facts["step_kinds"].n
    wall, kind = step_lengths(table).astype(np.float64), table["kind"]
    return _Size(
        np.bincount(kind[kind >= 0], minlength=kinds).astype(np.int64),
        np.array([np.median(wall[kind == row]) for row in range(kinds)]),
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


def _joined(a: Facts, b: Facts, partner: Ints, content: tuple[Ints, Ints]) -> CommonKinds:
    names, what, does = list(kind_names(a)), a["step_kinds"]["what"].tolist(), content[0].tolist()
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
            does.append(int(content[1][row]))
    return CommonKinds(
        tuple(names),
        np.array(what, np.uint8),
        np.array(does, np.int64),
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
