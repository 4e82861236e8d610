"""Idle time of the device within records of the profiler's own overhead (``Buffer Flush``,
``Activity Buffer Request``, …).

Change: the host spends no time in them. Certain.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Rule
from torch_tb_profiler.analysis.what_if.changes import DRIVER
from torch_tb_profiler.store.roles import Role


def overhead_records(case: Case, loading: bool) -> Candidate:
    """Idle time within overhead records: of the driver that loads kernels, or of the profiler."""
    row = np.flatnonzero(case.trace["spans"]["role"] == Role.OVERHEAD)
    row = row[case.named(row, DRIVER.match) == loading]
    row, start, end = case.idle_in(row, case.gaps)
    return Candidate(
        row,
        start,
        end,
        {"records": case.per_step(np.unique(row))},
        change="kernels-loaded" if loading else "no-overhead",
    )


RULE = Rule(
    place=10,
    claim=lambda case: overhead_records(case, loading=False),
    title="The profiler flushed its buffers",
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
