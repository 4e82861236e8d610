"""Two recordings kind by kind: training steps beside training steps, validations beside validations.

::

    A  ▁▁▁█▁▁▁█    training ▁▁▁▁▁▁ ─ ▁▁▁▁▁▁▁    the comparison: steps, tables, causes
    B  ▁▁▁▁█▁▁▁▁   validation   ██ ─ █          a test of its own; where one side has none, that is said
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.diff.rank_test import Sample, Test, compare_samples
from torch_tb_profiler.analysis.diff.side import Side, lengths_of, side_of_kind
from torch_tb_profiler.analysis.diff.work_size import shapes_of
from torch_tb_profiler.analysis.facts.flags import StepKind
from torch_tb_profiler.analysis.figures.selection import Selection, complete
from torch_tb_profiler.analysis.figures.step_kinds import common_kinds
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

Chosen = tuple[Facts, Insight, Selection]


class OtherKind(msgspec.Struct, frozen=True):
    """Steps of another kind than the compared ones.

    samples: the steps of A and B.
    test: None where one side has none.
    """

    name: str
    samples: tuple[Sample, Sample]
    test: Test | None


def compared_sides(a: Chosen, b: Chosen) -> tuple[Side, Side, tuple[OtherKind, ...]]:
    """The chosen steps of the kind that is compared, the commonest, and those of others."""
    kinds = common_kinds(a[0], b[0])
    chosen = [complete(facts, selection) for facts, _, selection in (a, b)]
    own = [of[steps] for of, steps in zip((kinds.a, kinds.b), chosen, strict=True)]
    warm = [kind for kind, what in enumerate(kinds.what.tolist()) if what != StepKind.COLD]
    counts = {kind: tuple(int((one == kind).sum()) for one in own) for kind in warm}
    both = [kind for kind in warm if all(counts[kind])]
    if not both:
        # Nothing in common: what each has most of.
        sides = [
            side_of_kind(*of, steps[kind == _commonest(kind, warm)])
            for of, steps, kind in zip((a, b), chosen, own, strict=True)
        ]
        return sides[0], sides[1], ()
    main = max(both, key=lambda kind: sum(counts[kind]))
    sides = [
        side_of_kind(*of, steps[kind == main])
        for of, steps, kind in zip((a, b), chosen, own, strict=True)
    ]
    others = [
        _other(
            kinds.names[kind],
            *((of[0], steps[k == kind]) for of, steps, k in zip((a, b), chosen, own, strict=True)),
        )
        for kind in warm
        if kind != main and any(counts[kind])
    ]
    return sides[0], sides[1], tuple(others)


def _commonest(kind: Ints, warm: list[int]) -> int:
    counted = kind[np.isin(kind, warm)]
    return int(np.bincount(counted).argmax()) if len(counted) else -1


def _other(name: str, a: tuple[Facts, Ints], b: tuple[Facts, Ints]) -> OtherKind:
    one, other = (
        Sample(lengths_of(facts, steps), shapes=shapes_of(facts, steps)) for facts, steps in (a, b)
    )
    both = one.steps and other.steps
    return OtherKind(name, (one, other), compare_samples([(one, other)]) if both else None)
