"""Whether the steps of two recordings do work of another size: as much more as their inputs are larger.

::

    A   aten::linear [4, 256, 512], [512, 512]    4 → 32 in the first dimension, the weight unchanged:
    B   aten::linear [32, 256, 512], [512, 512]   eight times the samples

Shapes weigh as much as the device (else host) time of their calls: of many small calls on parameters,
which never change, none says how large the work is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.analysis.figures.selection import sums_in
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts

Shapes = Mapping[tuple[str, str], float]
"""Name of an operator and its input shapes as JSON text → time per step, ns."""
Inputs = tuple[tuple[int, ...], ...]

LIKE_SHAPES = 0.5
"""Share of the time in which shapes agree, from which on two recordings are of like work; and of the time
in which they differ, that one factor must explain."""
LEAST_TIME = 0.1
"""Share of the time from which on shapes tell anything."""
LEAST_VOTE = 0.01
"""Share of the time from which on calls tell a factor, and a size is taken for the number of samples. Few
calls may tell what explains many: between long attention the linear layers, which alone have a parameter,
take little."""
MOST_SHAPES = 1000
"""Shapes of a recording that are kept, those that take most time."""
_PARAMETER_RANK = 2
_IMAGE_RANK = 4
_SAMPLE = "sample"


@dataclass(frozen=True)
class Work:
    """B's work beside A's. ``factor``: how many times as much a step does; ``unit``: ``sample`` (the
    first dimension changed), ``pixel`` or ``token``; ``count_a``, ``count_b``: the least size that
    changed so, the number of samples as far as shapes tell; 0 where no single size did.
    """

    factor: float
    unit: str
    count_a: int
    count_b: int


def shapes_of(facts: Facts, steps: Ints) -> Shapes:
    """The shapes of operators in some steps, the most expensive ones."""
    table, sums = facts["operators"], facts["operator_sums"]
    # Calls with their callees: of a graph that is replayed as one only the outermost call has shapes.
    key = "device_total" if sums["device_total"].any() else "host_total"
    time = sums_in(steps, facts["operator_steps"], "operator", {key: sums[key]})[key]
    found: dict[tuple[str, str], float] = {}
    if not len(steps):
        return found
    rows = [row for row in (-time).argsort(kind="stable").tolist() if table["dims"][row] >= 0]
    names, dims = (facts.strings.many(table[column][rows]) for column in ("name", "dims"))
    for name, text, row in zip(names, dims, rows, strict=True):
        if time[row] > 0 and (len(found) < MOST_SHAPES or (name, text) in found):
            found[name, text] = found.get((name, text), 0.0) + float(time[row]) / len(steps)
    return found


def like_shapes(a: Shapes, b: Shapes) -> float:
    """Of the time of A in operators that both have, the share with shapes that B has too; 1 without any."""
    common = _common(a, b)
    total = sum(common.values())
    return sum(time for key, time in common.items() if key in b) / total if total else 1.0


def work_between(a: Shapes, b: Shapes) -> Work | None:
    """By what the inputs of B are larger or smaller; None where they are not, or where no one factor
    explains it: other layers, not more data.
    """
    common = _common(a, b)
    differing = {key: time for key, time in common.items() if key not in b}
    whole, changed = sum(common.values()), sum(differing.values())
    if changed < LEAST_TIME * whole or not changed:
        return None
    known: dict[str, list[Inputs]] = defaultdict(list)
    for name, text in b:
        if (name, text) not in a:
            known[name].append(inputs_of(text))
    rows = [(inputs_of(text), time, known[name]) for (name, text), time in differing.items()]
    votes: dict[Fraction, float] = defaultdict(float)
    ratios: dict[Fraction, set[Fraction]] = defaultdict(set)
    units: dict[Fraction, set[str]] = defaultdict(set)
    for inputs, time, others in rows:
        told = {vote for other in others for vote in _votes(inputs, other)}
        for factor in {vote[0] for vote in told}:
            votes[factor] += time
        for factor, own, unit in told:
            ratios[factor] |= own | {factor}
            units[factor].add(unit)
    for factor in sorted(votes, key=lambda factor: -votes[factor]):
        counts, explained = _explained(rows, frozenset(ratios[factor]), factor)
        if votes[factor] >= LEAST_VOTE * changed and explained >= LIKE_SHAPES * changed:
            # Layers that see all tokens of all samples in one dimension cannot tell the two.
            within = sorted(units[factor] - {_SAMPLE})
            likely = [count for count, own in counts.items() if own >= LEAST_VOTE * changed]
            return Work(float(factor), (within or [_SAMPLE])[0], *min(likely or counts or [(0, 0)]))
    return None


def _common(a: Shapes, b: Shapes) -> Shapes:
    """Those of A whose operators B has too."""
    names = {name for name, _ in b}
    return {key: time for key, time in a.items() if key[0] in names}


def inputs_of(text: str) -> Inputs:
    """The shapes in the JSON text of an operator's inputs, lists of tensors taken apart."""
    return tuple(_leaves(json_list(text), 0))


def _leaves(told: Any, depth: int) -> Iterator[tuple[int, ...]]:
    if not isinstance(told, list) or depth > 8:
        return
    if told and all(isinstance(size, int) for size in told):
        yield tuple(told)
    for part in told:
        yield from _leaves(part, depth + 1)


def _votes(a: Inputs, b: Inputs) -> Iterator[tuple[Fraction, frozenset[Fraction], str]]:
    """What a call tells whose first input is data and another an unchanged parameter: the factor, the
    ratios of single dimensions, and the unit.
    """
    if _ranks(a) != _ranks(b) or not a or a[0] == b[0] or not all(a[0]) or not all(b[0]):
        return
    if any(
        one == other and len(one) >= _PARAMETER_RANK
        for one, other in zip(a[1:], b[1:], strict=True)
    ):
        ratios = [Fraction(y, x) for x, y in zip(a[0], b[0], strict=True)]
        factor = Fraction(1)
        for ratio in ratios:
            factor *= ratio
        within = any(ratio != 1 for ratio in ratios[1:])
        unit = _SAMPLE if not within else "pixel" if len(ratios) >= _IMAGE_RANK else "token"
        if factor != 1:
            yield factor, frozenset(ratios), unit


def _explained(
    rows: Sequence[tuple[Inputs, float, Sequence[Inputs]]],
    ratios: frozenset[Fraction],
    factor: Fraction,
) -> tuple[dict[tuple[int, int], float], float]:
    """The sizes that grew by the whole factor with their time, and the time of all shapes in which every
    size stayed or grew by one of the ratios.
    """
    counts: dict[tuple[int, int], float] = defaultdict(float)
    whole = 0.0
    for inputs, time, others in rows:
        grown = next((g for other in others if (g := _grown(inputs, other, ratios))), None)
        if grown:
            whole += time
            for pair in grown:
                if Fraction(pair[1], pair[0]) == factor:
                    counts[pair] += time
    return counts, whole


def _grown(a: Inputs, b: Inputs, ratios: frozenset[Fraction]) -> set[tuple[int, int]]:
    """The sizes of A that differ in B with those of B; empty where one differs by another ratio."""
    if _ranks(a) != _ranks(b):
        return set()
    sizes = {
        pair
        for one, other in zip(a, b, strict=True)
        for pair in zip(one, other, strict=True)
        if pair[0] != pair[1]
    }
    return sizes if all(x and Fraction(y, x) in ratios for x, y in sizes) else set()


def _ranks(inputs: Inputs) -> list[int]:
    return [len(one) for one in inputs]
