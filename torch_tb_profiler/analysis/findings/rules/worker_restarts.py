"""The DataLoader starts its worker processes anew within the steps, as it does for each epoch without
``persistent_workers``: frames of ``_MultiProcessingDataLoaderIter.__init__`` that start processes.

Change: these frames, and those that end the workers, take no time. Certain. Wrong where the loop really has one epoch
per step only in this recording.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import with_ancestors
from torch_tb_profiler.analysis.facts.host_names import spans_named
from torch_tb_profiler.analysis.findings.edits import host_skips
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.roles import Role

_STARTS = regex(r"(?:^|/)multiprocessing/process\.py\(\d+\): start$")
_MAKES = regex(r"torch/utils/data/dataloader\.py\(\d+\): __init__$")
_ENDS = regex(r"torch/utils/data/dataloader\.py\(\d+\): _shutdown_workers$")


def _claim(context: RuleContext) -> Candidate | None:
    python = (context.spans["role"] == Role.PYTHON) & (context.spans["track"] == context.main_track)
    starts = context.within(np.flatnonzero(spans_named(context.trace, python, _STARTS.search)))
    if not len(starts):
        return None
    above = with_ancestors(context.parent, context.mask(starts))
    makes = spans_named(context.trace, python, _MAKES.search) & above
    ends = spans_named(context.trace, python, _ENDS.search)
    row = context.within(np.flatnonzero(makes | ends))
    if not makes.any():
        return None
    counts = {"restarts": len(context.within(np.flatnonzero(makes))), "processes": len(starts)}
    numbers = {key: count / len(context.steps) for key, count in counts.items()}
    numbers["taken"] = context.when(row).length / len(context.steps)
    return Candidate(context.pieces(row), numbers, edit=host_skips(row))


QUESTION = Question(__name__)
QUESTION.state("worker_restarts", 49, _claim)
