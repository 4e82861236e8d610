"""Time in which the device runs copies between host and device and nothing else.

Change: the copies are shorter by what other work could hide of them, at most all of its time. Likely.
"""

from __future__ import annotations

import re

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.intervals import measure, subtract, union
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.copies import alone, copies_named, copy_rate
from torch_tb_profiler.analysis.findings.edits import work_takes
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.hardware.kernel_names import HOST_COPY
from torch_tb_profiler.store.insight_schema import PathCause

_PAGEABLE = re.compile(r"Memcpy .*Pageable")


def _claim(context: RuleContext) -> Candidate | None:
    copies = copies_named(context, HOST_COPY)
    pageable = context.named(copies.row, _PAGEABLE.match)
    if not len(copies.row):
        return None
    numbers = {
        "pageable": float(np.mean(pageable)),
        "longest": int((copies.end - copies.start).max()),
    }
    if rate := copy_rate(context, copies):
        numbers["rate"] = rate
    found = alone(context, copies, numbers)
    others = subtract(context.work.busy, union(found.start, found.end))
    hidden = int(measure(context.windows, others.start, others.end).sum())
    taken = int(measure(context.windows, found.start, found.end).sum())
    left = max(1 - hidden / taken, 0.0) if taken else 0.0
    return replace(found, edit=work_takes(copies.row, (copies.end - copies.start) * left))


RULE = Rule(
    place=180,
    claim=_claim,
    title="Copies between host and {device} are not hidden",
    action="Hide copies behind computation",
    fact="{copies} copies per {step}, {pageable} of them pageable",
    sentence="""Hidden, copies from and to the host would leave the {step} {gain} ({share}) shorter;
    {pageable} of its copies ({copies} per {step}) use pageable memory.""",
    attempt="""Copy from pinned memory with non_blocking=True while the previous batch is computed:
    pin_memory=True in the DataLoader, a stream for copies.""",
    caveat="What the next kernel needs at once cannot be hidden.",
    views=("overview", "trace"),
    certainty="likely",
    cause="Copies between host and {device} take {path} of {the_step}",
    causes=(PathCause.MEMCPY,),
    without="With these copies hidden",
    links=(links.PINNED,),
    details=(("longest", "The longest takes {longest}."), ("rate", "They run at {rate}.")),
    numbers={
        "copies": ("Copies", "count"),
        "pageable": ("Share with pageable memory", "share"),
        "longest": ("Longest copy", "ns"),
        "rate": ("Bytes per second", "bytes/s"),
    },
)
