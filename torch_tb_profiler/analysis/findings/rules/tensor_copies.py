"""Tensors that the program copies as they are: ``clone`` and ``copy_`` that it calls itself, copies within a device.

Evidence: ``aten::clone``, ``aten::copy_`` under no other operator, in no deep copy and no bucket of gradients, which have their own rules; on a device
what they launch but copies from and to the host, and all copies from device to device. Of calls whose types were recorded only those
that do not convert. Change: they take no time. Likely: a copy may be needed.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.copies import bucket_copies, deep_copies
from torch_tb_profiler.analysis.findings.edits import calls_gone
from torch_tb_profiler.analysis.findings.operators import beneath, calls_where, most_named, outside
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.hardware.kernel_names import HOST_COPY
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

_COPIES = re.compile(r"aten::(?:clone|copy_|_foreach_copy_)$")
_BUFFERS = re.compile(r"_broadcast_coalesced")
"""DistributedDataParallel's broadcast of buffers."""
_WITHIN = re.compile(r"Memcpy ?D(?:to|2)D|CopyDeviceToDevice|MEMORY_COPY_DEVICE_TO_DEVICE")


def _claim(context: RuleContext) -> Candidate | None:
    host = _own(context)
    work = context.work
    launched = context.home(work.launch, host) >= 0
    is_copy = context.trace["spans"]["role"][work.row] == Role.MEMCPY
    within = is_copy & context.named(work.row, _WITHIN.match)
    hosted = is_copy & context.named(work.row, HOST_COPY.match)
    work = work.take(within | launched & ~hosted)
    if context.has_device:
        # A call that copies from or to the host is none of these.
        launch = context.work.launch[hosted]
        mixed = context.home(launch, host)
        host = host[~np.isin(host, mixed)]
    row = work.row if context.has_device else host
    if not len(row):
        return None
    return Candidate(
        row,
        *context.times(row),
        {"copies": context.per_step(row)},
        {"names": most_named(context, host if len(host) else row)},
        edit=calls_gone(host, work.row),
    )


def _own(context: RuleContext) -> Ints:
    """Rows of copies that the program calls itself, within the windows."""
    rows = context.within(context.rows_named(context.operators, _COPIES.match))
    if not len(rows):
        return rows
    rows = outside(context, rows, context.operators)
    buffers = context.rows_named(context.of_role(Role.PYTHON), _BUFFERS.search)
    others = np.concatenate((deep_copies(context), bucket_copies(context), buffers))
    if len(others):
        rows = rows[~beneath(context, others)[rows]]
    return np.asarray(rows[~np.isin(rows, calls_where(context, bool, _converts))])


def _converts(call: Call) -> bool:
    types = [tensor.dtype for tensor in map(call.tensor, range(2)) if tensor is not None]
    return len(set(types)) > 1


RULE = Rule(
    place=172,
    claim=_claim,
    title="Tensors are copied",
    action="Leave out copies of tensors",
    fact="{copies} copies per {step}",
    sentence="""Tensors are copied {copies} times per {step}{at}; without that the {step} is {gain} ({share}) shorter.""",
    attempt="""Leave out clone() where nothing writes to the original, write into the tensor that is there (out=, add_, lerp_), and keep
    slices instead of copies of them.""",
    caveat="A copy is needed where the original changes while both are in use.",
    views=("overview", "operator", "kernel", "memory"),
    certainty="likely",
    cause="Copies of tensors take {gain} of {the_step}",
    without="Without these copies",
    links=(links.TUNING,),
    details=(("names", "Most of the time is in {names}."),),
    reach=Reach(0.4, 1.3),
    numbers={"copies": ("Copies", "count")},
)
