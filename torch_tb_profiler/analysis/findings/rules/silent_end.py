"""The end of the last step after the last operator, call, frame or device work that was recorded.

Only on traces with device work. Change: that time is gone. Likely.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.edits import host_time_gone
from torch_tb_profiler.analysis.findings.host_time import silent
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext


def _claim(context: RuleContext) -> Candidate | None:
    time = silent(context)
    row = context.mark_of(-1)
    if not time.length or not len(row):
        return None
    words = {"why": "It is typically the profiler being stopped."}
    return Candidate(row, time.start, time.end, words=words, edit=host_time_gone(time))


RULE = Rule(
    place=20,
    claim=_claim,
    title="Nothing was recorded at the end of the last step",
    action="Leave the last {step} out of comparisons",
    fact="nothing was recorded at its end",
    sentence="""The last step ends with a stretch in which nothing at all was recorded, {gain} per
    {step} ({share}): typically the profiler being stopped.""",
    attempt="Leave the last step out when you compare times.",
    caveat="The program may have slept or waited there.",
    views=("overview", "trace"),
    artefact=True,
    certainty="likely",
    without="Without that",
    cause="Nothing was recorded for the last {gain} of {the_step}",
)
