"""Idle time of the device within records of the profiler's own overhead (``Buffer Flush``,
``Activity Buffer Request``, …).

Change: the host spends no time in them. Certain.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.host_time import overhead_records
from torch_tb_profiler.analysis.findings.rule import Rule

RULE = Rule(
    place=10,
    claim=lambda context: overhead_records(context, loading=False),
    title="The profiler flushed its buffers",
    action="Nothing to change: the profiler's own overhead",
    fact="{records} times per {step}",
    sentence="""Without the profiler's own overhead the {step} is {gain} ({share}) shorter.""",
    attempt="""Nothing to fix: a run without the profiler does not spend this time. Record fewer
    steps or fewer activities to see less of it.""",
    caveat="The host might have kept the {device} waiting anyway.",
    views=("overview", "trace"),
    host_sentence="Profiler overhead takes {gain} of the {step} ({share}).",
    numbers={"records": ("Overhead records", "count")},
    artefact=True,
    cause="The profiler's own overhead takes {gain} of {the_step}",
)
