"""Idle time of the device within records of the profiler's own overhead (``Buffer Flush``,
``Activity Buffer Request``, …).

Formula: with device work, idle time ∩ those records; without, the records.
Upper bound: without the profiler they do not exist.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Rule
from torch_tb_profiler.store.roles import Role

_LOADING = re.compile(
    r"Lazy Function Loading|Runtime Triggered Module Loading|Driver Compiler|Command Buffer Full"
)
"""Overhead records of the driver; all others are the profiler's."""


def overhead_records(case: Case, loading: bool) -> Candidate:
    """Idle time within overhead records: of the driver that loads kernels, or of the profiler."""
    row = np.flatnonzero(case.trace["spans"]["role"] == Role.OVERHEAD)
    row = row[case.named(row, _LOADING.match) == loading]
    row, start, end = case.idle_in(row, case.gaps)
    return Candidate(row, start, end, {"records": case.per_step(np.unique(row))})


RULE = Rule(
    place=10,
    claim=lambda case, taken: overhead_records(case, loading=False),
    title="The profiler flushed its buffers",
    sentence="""The {device} is idle for {gain} of the {step} ({share}) during records of profiler
    overhead.""",
    attempt="""Nothing to fix: a run without the profiler does not spend this time. Record fewer
    steps or fewer activities to see less of it.""",
    caveat="The host might have kept the {device} waiting anyway.",
    views=("overview", "trace"),
    host_sentence="Profiler overhead takes {gain} of the {step} ({share}).",
    numbers={"records": ("Overhead records", "count")},
    artefact=True,
)
