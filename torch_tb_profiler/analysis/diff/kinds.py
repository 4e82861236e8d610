"""Two recordings kind by kind: training steps beside training steps, validations beside validations.

::

    A  ▁▁▁█▁▁▁█    usual ▁▁▁▁▁▁ ─ ▁▁▁▁▁▁▁    the comparison: steps, tables, causes
    B  ▁▁▁▁█▁▁▁▁   every 4th ██ ─ █          a test of its own; where one side has none, that is said
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.diff.rank_test import LEAST_STEPS, Sample, Test, compare_samples
from torch_tb_profiler.analysis.diff.side import Side, lengths_of, side_of_kind
from torch_tb_profiler.analysis.diff.significance import Floats
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
    """The chosen steps of the kind that is compared, the usual one, and those of others."""
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
    main = max(both, key=lambda kind: (kinds.what[kind] == StepKind.USUAL, sum(counts[kind])))
    # Another mode that only one recording has is what became of its usual steps, and few steps have no modes.
    few = min(counts[main]) < LEAST_STEPS
    modes = [kind for kind in warm if kinds.what[kind] == StepKind.MODE and kind != main]
    taken = [main]
    taken += [
        k for k in modes if k not in both or (few and kinds.content[k] == kinds.content[main])
    ]
    sides = [
        side_of_kind(*of, steps[np.isin(kind, taken)])
        for of, steps, kind in zip((a, b), chosen, own, strict=True)
    ]
    others = [
        _other(
            kinds.names[kind],
            *((of[0], steps[k == kind]) for of, steps, k in zip((a, b), chosen, own, strict=True)),
        )
        for kind in warm
        if kind not in taken and any(counts[kind])
    ]
    return sides[0], sides[1], tuple(others)


def other_modes(side: Side) -> dict[str, Floats]:
    """Times of the steps of one recording that do what the compared ones do in another time, ns, by what their kind
    is called.
    """
    facts = side.facts
    kinds = common_kinds(facts, facts)
    main = kinds.a[side.steps[0]] if len(side.steps) else -1
    return {
        kinds.names[kind]: lengths_of(facts, np.flatnonzero(kinds.a == kind))
        for kind in np.flatnonzero(kinds.what == StepKind.MODE).tolist()
        if main not in (-1, kind) and kinds.content[kind] == kinds.content[main]
    }


def _commonest(kind: Ints, warm: list[int]) -> int:
    counted = kind[np.isin(kind, warm)]
    return int(np.bincount(counted).argmax()) if len(counted) else -1


def _other(name: str, a: tuple[Facts, Ints], b: tuple[Facts, Ints]) -> OtherKind:
    one, other = (
        Sample(lengths_of(facts, steps), shapes=shapes_of(facts, steps)) for facts, steps in (a, b)
    )
    both = one.steps and other.steps
    return OtherKind(name, (one, other), compare_samples([(one, other)]) if both else None)
