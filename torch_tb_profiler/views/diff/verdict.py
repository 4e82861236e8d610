"""The first line of a comparison: by how much the step changed, that it did not, or that neither can be
told.
"""

from __future__ import annotations

import math

import msgspec

from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.kinds import OtherKind
from torch_tb_profiler.analysis.diff.rank_test import MARGIN, Test
from torch_tb_profiler.analysis.diff.significance import LEVEL
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import (
    format_count,
    format_limit,
    format_ns,
    format_number,
    format_share,
)
from torch_tb_profiler.untrusted import printable
from torch_tb_profiler.views.diff.wire import KindVerdict, Unit, Verdict, Work

_NO_UNIT = "neither recording has steps, and nothing that fills half of both repeats in the same proportions."
_MOST_NEEDED = 10_000
"""Steps that anybody would record."""


def verdict(comparison: Comparison) -> Verdict:
    """The verdict on a comparison."""
    whole = all(is_whole(side.facts) for side in (comparison.a, comparison.b))
    said = judged(comparison.test, whole)
    both = [(kind, kind.test) for kind in comparison.kinds if kind.test is not None]
    kinds = [_of_kind(kind, judged(test), len(both)) for kind, test in both]
    return msgspec.structs.replace(said, kinds=kinds)


def _of_kind(kind: OtherKind, said: Verdict, kinds: int) -> KindVerdict:
    unsure = said.changed and kinds > 1 and (said.p is None or said.p * kinds > LEVEL)
    return KindVerdict(
        name=kind.name,
        sentence=said.sentence,
        share=said.share,
        changed=None if unsure else said.changed,
        apart=said.apart,
    )


def judged(test: Test, whole: bool = False, among: str = "") -> Verdict:
    """The verdict on a test. ``whole``: of recordings without steps; ``among``: behind the sentence, of what it is
    the mean.
    """
    counts, means = test.counts, test.means
    if not all(counts):
        side = "after" if counts[0] else "before"
        return Verdict(sentence=f"The recording {side} has no step: nothing can be compared.")
    work = None if test.work is None else Work(**vars(test.work))
    known = math.isfinite(test.low)
    tested = not math.isnan(test.p)
    return Verdict(
        sentence=_size(_sentence(test, _per_work(work, means), whole, among), work, means),
        delta_ns=round(test.delta),
        share=test.share,
        changed=test.changed,
        low=test.low if known else None,
        high=test.high if known else None,
        needed=test.needed if test.changed is None else None,
        test=_test(test) if known or tested else "",
        # Further digits depend on the processor.
        p=float(f"{test.p:.6g}") if tested else None,
        work=work,
        apart=test.apart,
        unit=_unit(test),
    )


def _unit(test: Test) -> Unit | None:
    if test.unit is None:
        return None
    before, after = test.unit.counts
    return Unit(name=test.unit.name, count_a=before, count_b=after)


def _size(sentence: str, work: Work | None, means: tuple[float, float]) -> str:
    """The sentence, where B does other work after that."""
    if work is None:
        return sentence
    counts = f"{format_count(work.count_a)} → {format_count(work.count_b)}" if work.count_a else ""
    shapes = f"input shapes, {counts}" if counts else "input shapes"
    return (
        f"The work differs: a step does {format_number(work.factor)} times that of one before ({shapes}) and takes"
        f" {from_to(*means)}. Per {work.unit}, {sentence[0].lower()}{sentence[1:]}"
    )


def _per_work(work: Work | None, means: tuple[float, float]) -> tuple[float, float]:
    """Mean times per sample, where their number is known; else of as much of B as a step of A does."""
    if work is None:
        return means
    if work.count_a:
        return means[0] / work.count_a, means[1] / work.count_b
    return means[0], means[1] / work.factor


def _sentence(test: Test, means: tuple[float, float], whole: bool, among: str) -> str:
    mean = f"{'time' if whole and not test.unit else 'mean'} {from_to(*means)}{among}."
    if test.unit:
        a, b = (format_count(count) for count in test.unit.counts)
        how = f"Compared per item: {a} and {b} of {printable(test.unit.name)}. "
    else:
        how = ""
    if test.changed is None:
        change = f" ({signed_share(test.delta / means[0])})" if means[0] > 0 else ""
        why = _NO_UNIT if whole and not test.unit else _too_few(test)
        return f"{how}Cannot tell: {why} {mean[0].upper()}{mean[1:-1]}{change}."
    if test.changed is False:
        return f"{how}No change beyond ±{format_share(max(-test.low, test.high))}; {mean}"
    subject = "Items are" if test.unit else "The recording is" if whole else "Steps are"
    return f"{how}{subject} {_longer(test.share, test.low, test.high)}; {mean}{_ground(test)}"


def _ground(test: Test) -> str:
    """On what few steps are called changed, where their order alone does not tell."""
    if not test.apart:
        return ""
    word, (n, m) = "longer" if test.share > 0 else "shorter", test.counts
    return (
        f" No order of {n} and {m} {_noun(test)}s is rare enough for {format_limit(LEVEL)}; that all of them are {word} than"
        " each before, by more than either side varies, tells it."
    )


def _longer(share: float, low: float, high: float) -> str:
    """``3.2 % longer (2.1 to 4.4 %)``; ``291 times as long (240 to 330)`` of what nobody reads as per
    cents.
    """
    if 1 + max(share, high) >= 10:
        middle, *ends = (format_number(round(1 + value, 1)) for value in (share, low, high))
        return f"{middle} times as long ({ends[0]} to {ends[1]})"
    word, near, far = ("longer", low, high) if share > 0 else ("shorter", -high, -low)
    size = f"{format_share(abs(share))} {word}"
    ends = [format_share(value) for value in (near, far)]
    if ends[0] == ends[1]:
        return size
    return f"{size} ({ends[0].removesuffix(' %')} to {ends[1]})"


def _too_few(test: Test) -> str:
    counts = test.counts
    if counts == (1, 1):
        given = "one step each does not suffice"
    elif counts[0] == counts[1]:
        given = f"{format_count(counts[0])} {_noun(test)}s each do not suffice"
    else:
        both = f"{format_count(counts[0])} and {format_count(counts[1])}"
        given = f"{both} {_noun(test)}s do not suffice"
    if test.needed > _MOST_NEEDED:
        return f"{given}, nor would {format_count(_MOST_NEEDED)}: they vary too much."
    return f"{given}; {format_count(test.needed)}{' each' * (counts[0] != counts[1])} would."


def _noun(test: Test) -> str:
    return "item" if test.unit else "step"


def _test(test: Test) -> str:
    counts = test.counts
    name = (
        "Mann and Whitney's exact test"
        if min(counts) > 1
        else "Welch's t test, a single step varying as the other steps of its recording do,"
    )
    return (
        f"{name} of {counts[0]} and {counts[1]} {_noun(test)}s, one-sided at {format_limit(LEVEL)}, widened"
        f" where neighbouring steps depend; unchanged: the whole interval within ±{format_limit(MARGIN)}"
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


def is_whole(facts: Facts) -> bool:
    """Whether all of the recording stands as one step."""
    return bool(facts["steps"].n and facts["steps"]["flags"][0] & StepFlag.WHOLE)
