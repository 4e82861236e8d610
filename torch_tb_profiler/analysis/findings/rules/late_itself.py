"""The rank that comes last to the collectives has this finding itself, without a bound: what makes
it late is in its other findings.

Formula: as for a rank that keeps the others waiting.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.rule import Rule

RULE = Rule(
    place=64,
    claim=None,
    title="This rank keeps the others waiting",
    sentence="""This worker comes last to the collectives in {late_steps} of {of_steps} steps,
    {lead} per {step} after the next one; all other ranks together wait {caused} per {step} for
    it.""",
    attempt="""Look at what it does before it arrives, and at its other findings: here they cost
    every rank.""",
    caveat="Pipeline stages, whose ranks hold different parts of a model, wait by design.",
    views=("overview", "distributed"),
    details=(
        ("doing", "Before that, {doing} takes {extra} longer than on the rank that waits longest."),
        ("unexplained", "The trace does not say what delayed it."),
    ),
    numbers={
        "lead": ("Behind the one before it", "ns"),
        "caused": ("Waiting of all other ranks together", "ns"),
        "late_steps": ("Steps in which it is last", "count"),
        "of_steps": ("", "count"),
        "extra": ("Longer than elsewhere", "ns"),
    },
)
