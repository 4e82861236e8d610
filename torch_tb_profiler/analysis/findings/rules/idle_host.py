"""What is left of the gaps that waited for the host. The evidence is what the host did in at least
half of the gap.

Upper bound: a host that is always ahead closes those gaps.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.findings.gaps import Gaps
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Rule
from torch_tb_profiler.analysis.timeline.call_path import ancestors
from torch_tb_profiler.store.roles import Role

NAMED = 50
"""The host's work is looked up for this many of the longest gaps."""


def _claim(case: Case, taken: Intervals) -> Candidate | None:
    gaps = case.gaps.take(case.gaps.for_host).free(taken)
    if not len(gaps.start):
        return None
    length = gaps.end - gaps.start
    row = np.where(gaps.launch >= 0, gaps.launch, gaps.before)
    for gap in np.argsort(-length, kind="stable")[:NAMED].tolist():
        row[gap] = _doing(case, gaps, gap, int(row[gap]))
    return Candidate(
        row,
        gaps.start,
        gaps.end,
        {
            "gaps": len(length) / len(case.steps),
            "longest": int(length.max()),
            "in_operators": int(measure(case.host_busy, gaps.start, gaps.end).sum()) / gaps.length,
        },
    )


def _doing(case: Case, gaps: Gaps, gap: int, otherwise: int) -> int:
    """What the host did in a gap: the shortest span that fills at least half of it, on the thread
    that launched what ended it, else on the steps' thread.
    """
    spans = case.trace["spans"]
    start, end, launch = (int(part[gap]) for part in (gaps.start, gaps.end, gaps.launch))
    track = int(spans["track"][launch]) if launch >= 0 else case.main_track
    begun = np.arange(*np.searchsorted(spans["start"], (start, end)).tolist())
    role = spans["role"][begun]
    begun = begun[(spans["track"][begun] == track) & (is_call(role) | (role == Role.PYTHON))]
    inner = int(begun[-1]) if len(begun) else _open_at(case, start, track)
    around = np.array(ancestors(case.facts, inner) if inner >= 0 else [], np.int64)
    near = np.union1d(begun, around).astype(np.int64)
    begin, stop = case.times(near)
    near = near[2 * (np.minimum(stop, end) - np.maximum(begin, start)) >= end - start]
    return int(near[np.argmin(spans["dur"][near])]) if len(near) else otherwise


def _open_at(case: Case, time: int, track: int) -> int:
    """The last span of a thread that begins before a time and the ones around it may still be open
    then; -1 none.
    """
    spans = case.trace["spans"]
    before = np.flatnonzero(spans["track"][: int(np.searchsorted(spans["start"], time))] == track)
    return int(before[-1]) if len(before) else -1


RULE = Rule(
    place=110,
    claim=_claim,
    title="The {device} waits for the host",
    sentence="""The {device} is idle for up to {gain} of the {step} ({share}) because the host does
    something other than launching; the longest gap is {longest}, and operators or runtime calls
    fill {in_operators} of the gaps.""",
    attempt="""Look at what the host does in the gaps below: computing on the CPU, loading or
    compiling kernels, reading files, logging. Move it out of the {step} or into another thread.""",
    caveat="""The host itself may wait for what the trace does not show: a request, a file, another
    process. A first call compiles or loads kernels once.""",
    views=("overview", "trace"),
    numbers={
        "longest": ("Longest", "ns"),
        "gaps": ("Gaps", "count"),
        "in_operators": ("Share of the gaps within operators and runtime calls", "share"),
    },
)
