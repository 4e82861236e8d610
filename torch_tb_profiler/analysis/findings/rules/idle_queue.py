"""Gaps of at most 20 µs between works of which the second had been launched when the first ended.

Change: work begins as soon as the work before it on its stream ends. Theoretical.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.gaps import Gaps, pauses
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit


def _claim(context: RuleContext) -> Candidate | None:
    gaps = context.gaps.take(pauses(context.gaps))
    if not len(gaps.start):
        return None
    return Candidate(
        gaps.next,
        gaps.start,
        gaps.end,
        {
            "gaps": len(gaps.start) / len(context.steps),
            "median_gap": float(np.median(gaps.end - gaps.start)),
        },
        edit=_without(gaps),
    )


def _without(gaps: Gaps) -> Edit:
    """No work pauses by more than the gap before it that was found."""

    def edit(scene: Scene, durations: Durations) -> None:
        place = positions_of(scene.graph.work.row, gaps.next)
        length = (gaps.end - gaps.start)[place >= 0]
        place = place[place >= 0]
        lead = durations.lead[place]
        durations.lead[place] = np.minimum(lead, np.maximum(lead - length, 0))

    return edit


RULE = Rule(
    place=120,
    claim=_claim,
    title="The {device} pauses between kernels",
    action="Run fewer, larger kernels",
    fact="{gaps} pauses per {step}, typically {median_gap}",
    sentence="""The {device} pauses {gaps} times per {step} between kernels that were launched in
    time, typically for {median_gap}; without the pauses the {step} is {gain} ({share}) shorter.""",
    attempt="""Fewer, larger kernels: torch.compile, fused operators, a larger batch. Device graphs
    shorten the pauses.""",
    caveat="Such a pause may be a wait for another stream.",
    views=("overview", "kernel", "trace"),
    certainty="theoretical",
    cause="Pauses between kernels take {gain} of {the_step}",
    without="Without these pauses",
    links=(links.COMPILE,),
    numbers={"gaps": ("Gaps", "count"), "median_gap": ("Median gap", "ns")},
)
