"""Gaps of at most 20 µs between works of which the second had been launched when the first ended.

Change: work begins as soon as the work before it on its stream ends. Theoretical.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.facts.host_names import GRAPH_LAUNCH
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.gaps import Gaps, pauses
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.roles import Role

_IN_GRAPH = """Fewer, larger kernels: torch.compile, fused operators, a larger batch. To tell the recorder's pauses from the device's,
time the graph without a profiler."""


def _claim(context: RuleContext) -> Candidate | None:
    gaps = context.gaps.take(pauses(context.gaps))
    if not len(gaps.start):
        return None
    launch = context.facts["span_links"]["launch"]
    of_graph = context.mask(context.rows_named(context.of_role(Role.RUNTIME), GRAPH_LAUNCH.match))
    inside = (gaps.before >= 0) & (launch[gaps.before] == gaps.launch) & of_graph[gaps.launch]
    within = int((gaps.end - gaps.start)[inside].sum())
    return Candidate(
        gaps.next,
        gaps.start,
        gaps.end,
        {
            "gaps": len(gaps.start) / len(context.steps),
            "median_gap": float(np.median(gaps.end - gaps.start)),
            **({"inside": within / len(context.steps)} if within else {}),
        },
        {"attempt": _IN_GRAPH} if 2 * within > gaps.length else {},
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
    caveat="Such a pause may be a wait for another stream, or the recorder's own.",
    details=(("inside", "{inside} of that lie within single graph launches."),),
    views=("overview", "kernel", "trace"),
    certainty="theoretical",
    cause="Pauses between kernels take {gain} of {the_step}",
    without="Without these pauses",
    links=(links.COMPILE,),
    numbers={
        "gaps": ("Gaps", "count"),
        "median_gap": ("Median gap", "ns"),
        "inside": ("Within single graph launches", "ns"),
    },
)
