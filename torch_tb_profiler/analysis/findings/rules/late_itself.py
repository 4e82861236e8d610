"""The rank on which the critical path through all ranks stays longer than on the others has this finding itself,
without a bound: what makes it slow is in its other findings.

Formula: as for a rank that keeps the others waiting.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.rule import Rule

RULE = Rule(
    place=64,
    claim=None,
    title="This rank keeps the others waiting",
    sentence="""The critical path through all ranks stays {held} per {step} longer on {worker} than on the others, in
    {held_steps} of {of_steps} steps.""",
    attempt="""Look at what it does there, and at its other findings: here they cost every rank.""",
    caveat="Stages of a pipeline that hold different parts of a model differ by design, as far as they cannot be balanced.",
    views=("overview", "distributed"),
    details=(
        (
            "doing",
            "Of it, {doing} takes {extra} longer than on the other ranks in the step that costs most.",
        ),
        ("unexplained", "The trace does not say what takes longer."),
    ),
    numbers={
        "held": ("Longer than the other ranks", "ns"),
        "held_steps": ("Steps that it holds back", "count"),
        "of_steps": ("", "count"),
        "extra": ("Of it, what takes longest", "ns"),
    },
)
