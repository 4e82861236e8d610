"""Time that the device is idle while the thread of the steps is in the DataLoader.

Evidence: idle time for the host ∩ ``enumerate(DataLoader)#…`` (and DataPipe) regions, or, where
there are none, frames of the user's own ``__next__`` that launch nothing; on a host alone, the
regions.
Change: these regions take no time, as if each batch were ready. Certain. A batch that loads while the
device still works costs nothing, however long it takes.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.figures.source_lines import is_user_code
from torch_tb_profiler.analysis.findings.edits import host_skips
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import Role

_NEXT = regex(r"(?P<file>.+)\(\d+\): __next__$")


def _claim(context: RuleContext) -> Candidate | None:
    row = context.calls[context.names.dataloader[context.spans["name"][context.calls]]]
    row = context.on_main(row)
    change = "dataloader-ready" if len(row) else None
    loads = row if len(row) else _own_loaders(context)
    idle = context.idle_in(loads, context.gaps.take(context.gaps.for_host))
    row = idle.row
    names = context.trace.strings.many(distinct(context.spans["name"][row], context.trace.strings))
    single, several = (
        any(kind in name for name in names) for kind in ("_SingleProcess", "_MultiProcessing")
    )
    seen = unique_values(row if context.has_device else context.within(row))
    words = {}
    if several:
        words["action"] = "Prepare batches in more, or faster, workers"
    elif single:
        words["fact"] = "num_workers=0; longest wait {longest}"
    numbers = {
        "batches": len(seen) / len(context.steps),
        "longest": int(context.spans["dur"][seen].max(initial=0)),
        "single_process": float(single and not several),
        "worker_processes": float(several and not single),
    }
    edit = None if change else host_skips(loads)
    return Candidate(idle, numbers, words, change=change, edit=edit)


def _own_loaders(context: RuleContext) -> Ints:
    """Frames of ``__next__`` in the user's own code, on the thread of the steps, in which nothing
    is launched: iterators around a model launch.
    """
    if not context.has_device:
        return np.zeros(0, np.int64)
    frames = context.rows_named(context.on_main(context.of_role(Role.PYTHON)), _is_user_code_next)
    low, high = (context.begun(context.launches, edge) for edge in context.times(frames))
    return np.asarray(frames[low == high])


def _is_user_code_next(text: str) -> bool:
    match = _NEXT.match(text)
    return match is not None and is_user_code(match["file"])


QUESTION = Question(__name__)
QUESTION.state("input_bound", 40, _claim, causes=(PathCause.DATALOADER,))
