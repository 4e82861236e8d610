"""Calls that copy and hold the host for long although the device has nothing to do: copies of pageable memory are
staged by the host.

Evidence: calls of the runtime that copy, of at least 100 µs, and the idle time of the device within them, less what
their own copies take there. Change: they return at once, and their copies take what they took. Likely.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import thread_time_gone, together
from torch_tb_profiler.analysis.findings.gaps import LATENCY
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.columns import Ints

LONG = 100_000
"""ns that a call that copies takes beyond its launch."""
_COPIES = re.compile(r"(?:cuda|cu|hip|xpu|musa|aclrt?)Memcpy\w*$")


def _claim(context: RuleContext) -> Candidate | None:
    spans = context.trace["spans"]
    row = context.runtime_calls(_COPIES)
    row = row[spans["dur"][row] >= LONG]
    if not len(row) or not context.has_device:
        return None
    piece, start, end = context.idle_in(row, context.gaps)
    if not len(piece):
        return None
    call, number = np.unique(piece, return_inverse=True)
    held = np.bincount(number, weights=end - start)
    longest = int(held.argmax())
    track = spans["track"][piece].astype(np.int64)
    idle = union(start, end)
    steps = len(context.steps)
    return Candidate(
        piece,
        start,
        end,
        {
            "copies": len(call) / steps,
            "held": int(measure(context.judged, idle.start, idle.end).sum()) / steps,
            "longest": int(spans["dur"][call[longest]]),
        },
        {"called": context.trace.strings[int(spans["name"][call[longest]])]},
        edit=together(thread_time_gone(track, start, end), _at_once(call)),
    )


def _at_once(call: Ints) -> Edit:
    """Calls wait for nothing, and what they launched begins as soon as work does on an idle device."""

    def edit(scene: Scene, durations: Durations) -> None:
        waiting = scene.graph.points.call
        durations.waits[(waiting >= 0) & np.isin(waiting, call)] = False
        own = np.isin(scene.graph.work.launch, call)
        durations.latency[own] = np.minimum(durations.latency[own], LATENCY)

    return edit


RULE = Rule(
    place=81,
    claim=_claim,
    title="Copies block the host",
    action="Copy from pinned memory without blocking",
    fact="{copies} blocking copies per {step}, the longest {longest}",
    sentence="""Calls that copy ({copies} per {step}, the longest of {longest}) block the host while the {device} has nothing to
    do{at}; without that the {step} is {gain} ({share}) shorter.""",
    attempt="""Copy from pinned memory with non_blocking=True: pin_memory=True in the DataLoader, tensor.pin_memory() once for
    buffers that are used again; read results back in one copy.""",
    caveat="Pinning memory takes long itself: do it once and not in each step.",
    views=("overview", "trace"),
    certainty="likely",
    cause="A blocking copy holds the host for {held} of {the_step}",
    without="With copies that do not block",
    links=(links.PINNED,),
    details=(("called", "The longest one is {called}."),),
    reach=Reach(0.4, 1.3),
    numbers={
        "copies": ("Calls", "count"),
        "held": ("Time the host is held and the device idle", "ns"),
        "longest": ("Longest call", "ns"),
    },
)
