"""The first line of a comparison: how the step changed, and whether by more than noise."""

from __future__ import annotations

import math

from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.significance import LEAST_EFFECT, LEVEL, Test
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_limit, format_ns, format_number, format_share
from torch_tb_profiler.views.diff_wire import Verdict


def verdict(comparison: Comparison) -> Verdict:
    """The verdict on a comparison."""
    whole = all(is_whole(side.facts) for side in (comparison.a, comparison.b))
    return judged(
        comparison.test,
        comparison.beyond,
        (comparison.a.mean, comparison.b.mean),
        (len(comparison.a.steps), len(comparison.b.steps)),
        whole,
    )


def judged(
    test: Test,
    beyond: bool | None,
    means: tuple[float, float],
    counts: tuple[int, int],
    whole: bool,
    among: str = "",
) -> Verdict:
    """The same of figures: mean steps in ns and their numbers. ``whole``: recordings without steps;
    ``among``: behind the sentence, of what it is the mean.
    """
    if not all(counts):
        side = "B" if counts[0] else "A"
        return Verdict(sentence=f"{side} has no step: nothing can be compared.")
    share = test.delta / means[0] if means[0] > 0 else None
    known = not math.isnan(test.p)
    change = f" ({signed_share(share)})" if share is not None else ""
    return Verdict(
        sentence=(
            f"{'Recording' if whole else 'Step'} {from_to(*means)}{change}{among},"
            f" {_noise(beyond, counts, means[0])}"
        ),
        delta_ns=round(test.delta),
        share=share,
        beyond=beyond,
        test=_test(counts) if known else "",
        # Further digits depend on the processor.
        p=float(f"{test.p:.6g}") if known else None,
        low_ns=round(test.delta - test.half) if known else None,
        high_ns=round(test.delta + test.half) if known else None,
        noise_ns=round(max(test.noise, LEAST_EFFECT * means[0])) if known else None,
    )


def from_to(a: float, b: float) -> str:
    """``212 → 187 ms``: two times, the unit once where it is one."""
    first, second = format_ns(a), format_ns(b)
    same = first.rpartition(" ")[2] == second.rpartition(" ")[2]
    return f"{first.rpartition(' ')[0] if same else first} → {second}"


def signed_share(share: float | None) -> str:
    """``−11.8 %``; ``×274`` for what is ten times as long and more, which nobody reads as per
    cents; empty where there is none.
    """
    if share is None:
        return ""
    times = round(1 + share, 1)
    if times >= 10:
        return f"×{format_number(times)}"
    return f"{'+' if share > 0 else ''}{format_share(share)}"


def _noise(beyond: bool | None, counts: tuple[int, int], mean: float) -> str:
    if beyond is not None:
        return f"{'beyond' if beyond else 'within'} step-to-step noise."
    single = [name for name, steps in zip("AB", counts, strict=True) if steps < 2]
    least = f"{format_ns(LEAST_EFFECT * mean)} ({format_limit(LEAST_EFFECT)})"
    return (
        f"one step {'of each' if len(single) == 2 else f'of {single[0]}'}: no estimate of noise;"
        f" differences below {least} cannot be told apart."
    )


def _test(counts: tuple[int, int]) -> str:
    single = ", a single step varying as the other steps of its recording do" * (min(counts) == 1)
    return (
        f"Welch's t test of {counts[0]} and {counts[1]} steps{single}, two-sided at"
        f" {format_limit(LEVEL)}, widened where neighbouring steps depend; at least"
        f" {format_limit(LEAST_EFFECT)} of A"
    )


def is_whole(facts: Facts) -> bool:
    """Whether all of the recording stands as one step."""
    return bool(facts["steps"].n and facts["steps"]["flags"][0] & StepFlag.WHOLE)
