"""The iteration of a server around each call, whose annotation tells what paged attention works on."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.hardware.server_steps import server_step
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE


def server_steps(trace: Trace, tree: CallTree) -> Array:
    """String number of the innermost annotation around each node of the call tree that states sums of
    lengths, −1 none; int32 of shape (nodes + 1,), the last one −1.

    SGLang's ``step[DECODE bs=32]`` states none, vLLM's words within or around it do.
    """
    name = trace["spans"]["name"][tree.row]
    annotation = trace["spans"]["role"][tree.row] == Role.ANNOTATION
    tells = np.zeros(len(trace.strings) + 1, np.bool_)
    for number in distinct(name[annotation], trace.strings):
        tells[number] = _states_sums(trace.strings[number])
    if not tells.any():
        return np.full(len(name) + 1, NONE, np.int32)
    around = nearest(tree.parent, annotation & tells[name])
    return np.asarray(np.append(name, np.int32(NONE))[np.append(around, np.int32(-1))])


def _states_sums(annotation: str) -> bool:
    step = server_step(annotation)
    return step is not None and max(step.context.query_keys, step.generation.query_keys) > 0
