"""Norms, activations and losses written out of pointwise operators and reductions on a host, each of which reads and
writes all its elements; ``hardware/formulas.py`` declares them, ``fusion.py`` looks at devices.

Evidence: operators that Python calls one after the other have the names of a formula; their backward by sequence
numbers. Change: one pass remains forward, as long as the longest operator, and one backward, as long as half of the
functions at most. Likely.
Wrong where values between are used elsewhere.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings.backward_calls import PAUSE
from torch_tb_profiler.analysis.findings.edits import stretches_take
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.hardware.formulas import BREAK, Formula, formulas_in, letter_of
from torch_tb_profiler.store.columns import Ints

RECENT = 32
"""Calls after a formula among which one finds the number of the next backward function."""


def _claim(context: RuleContext) -> Candidate | None:
    if context.has_device:
        return None
    row = context.program_calls
    found = _formulas(context, row)
    if not found:
        return None
    calls = context.backward_calls
    parts: list[tuple[int, int, int, float]] = []
    total: dict[tuple[str, str], int] = {}
    for formula, first, last in found:
        own = row[first:last]
        low = calls.after(own)
        backward = (
            calls.within(low, calls.after(row[last : last + RECENT])) if low >= 0 else own[:0]
        )
        taken = _one_pass(context, own, whole=True) + _one_pass(context, backward, whole=False)
        parts += taken
        key = formula.name, formula.call
        total[key] = total.get(key, 0) + sum(end - start for _, start, end, _ in taken)
    track, start, end = (np.array([part[key] for part in parts], np.int64) for key in range(3))
    left = np.array([part[3] for part in parts])
    name, call = max(total, key=lambda key: total[key])
    forward = np.concatenate([row[first:last] for _, first, last in found])
    return Candidate(
        context.pieces(forward),
        {
            "formulas": len(found) / len(context.steps),
            "operators": len(forward) / len(context.steps),
            "time": int((end - start).sum()) / len(context.steps),
        },
        {"formula": name, "call": call},
        edit=stretches_take(track, start, end, left),
    )


def _formulas(context: RuleContext, row: Ints) -> list[tuple[Formula, int, int]]:
    """Formulas with the first and last (excluded) position in ``row``."""
    if not len(row):
        return []
    spans, strings = context.spans, context.trace.strings
    names, which = np.unique(spans["name"][row], return_inverse=True)
    letter = [letter_of(strings[int(name)]) for name in names]
    start, end = context.times(row)
    step = context.facts["span_links"]["step"][row]
    breaks = np.ones(len(row), np.bool_)
    breaks[1:] = (start[1:] - end[:-1] > PAUSE) | (step[1:] != step[:-1])
    text, position = list[str](), list[int]()
    for place, (kind, new) in enumerate(zip(which.tolist(), breaks.tolist(), strict=True)):
        if new:
            text.append(BREAK)
            position.append(place)
        if letter[kind]:
            text.append(letter[kind])
            position.append(place)
    return [
        (formula, position[first], position[last - 1] + 1)
        for formula, first, last in formulas_in("".join(text))
    ]


def _one_pass(context: RuleContext, row: Ints, whole: bool) -> list[tuple[int, int, int, float]]:
    """The stretches of some calls and what remains of each. ``whole``: with what is between them, and as long as the longest
    call, else as the median.
    """
    if not len(row):
        return []
    row = np.sort(row)
    start, end = context.times(row)
    track = context.spans["track"][row]
    one = float(np.max(end - start) if whole else np.median(end - start))
    if whole:
        start, end, track = start[:1], end[-1:], track[:1]
    left = min(one / max(int((end - start).sum()), 1), 1.0)
    return [(int(t), int(a), int(b), left) for t, a, b in zip(track, start, end, strict=True)]


QUESTION = Question(__name__)
QUESTION.state("handwritten_formula", 173, _claim, certainty="likely", reach=Reach(0.7, 1.6))
