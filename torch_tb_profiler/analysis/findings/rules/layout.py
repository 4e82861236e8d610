"""Copies that put a tensor into another order in memory: ``contiguous`` and ``reshape`` that had to copy,
conversions between channels first and last.

Evidence: ``aten::contiguous``, ``aten::reshape``, ``aten::flatten`` with an ``aten::clone`` beneath them that copies, the outermost
of them, at least four per step, by names alone; on a device what they launch, and the kernels of libraries that turn channels first into
last or back. Change: they take no time. Likely: a layout that all operators accept has to exist.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import host_skips, rows_mask, together, work_takes
from torch_tb_profiler.analysis.findings.operators import beneath, most_named, outermost
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Reach, Rule
from torch_tb_profiler.store.columns import Ints

FEWEST = 4
"""Copies by operators per step, below which no layout flips again and again."""
_ORDERS = re.compile(r"aten::(?:contiguous|reshape|flatten|_reshape_copy|reshape_as)$")
_ATEN = re.compile(r"aten::")
_CLONE = re.compile(r"aten::(?:clone|_reshape_copy)$")
_COPY = re.compile(r"aten::copy_$")
_TURNS = re.compile(
    r"nchw_?to_?nhwc|nhwc_?to_?nchw|tensorTransform|transpose_(?:NCHW|NHWC)|batched_transpose_\w*_dword",
    re.I,
)


def _claim(case: Case) -> Candidate | None:
    host = ordering(case)
    if case.per_step(host) < FEWEST:
        host = host[:0]
    work = case.work.take(case.work.kernel)
    parent = case.facts["span_links"]["parent"].astype(np.int64)
    inside = climb(parent, work.launch.astype(np.int64), rows_mask(case.scene, host)) >= 0
    turns = case.named(work.row, _TURNS.search)
    work = work.take(inside | turns)
    if not len(host) and not len(work.row):
        return None
    row = work.row if len(case.work.row) else host
    count = case.per_step(host) + case.per_step(work.row[turns[inside | turns]])
    return Candidate(
        row,
        *case.times(row),
        {"copies": count},
        {"names": most_named(case, host if len(host) else work.row)},
        edit=together(host_skips(host), work_takes(work.row, 0)),
    )


def ordering(case: Case) -> Ints:
    """Rows of the operators that copied a tensor into another order, within the windows."""
    parent = case.facts["span_links"]["parent"].astype(np.int64)
    copies = case.operators[case.named(case.operators, _COPY.match)]
    above = np.unique(parent[copies])
    clones = above[above >= 0]
    clones = clones[case.named(clones, _CLONE.match)]
    is_order = case.named(case.operators, _ORDERS.match)
    orders = case.operators[is_order]
    if not len(orders) or not len(clones):
        return np.zeros(0, np.int64)
    # What an operator copies by itself the program cannot leave out.
    others = case.operators[~is_order & case.named(case.operators, _ATEN.match)]
    orders = orders[~beneath(case, others)[orders]]
    home = climb(parent, clones, rows_mask(case.scene, orders))
    return case.within(outermost(case, np.unique(home[home >= 0])))


RULE = Rule(
    place=171,
    claim=_claim,
    title="Tensors are copied to another memory layout",
    sentence="""{copies} copies per {step} put tensors into another memory layout{at}; without them the {step} is {gain} ({share}) shorter.""",
    attempt="""Keep one layout: drop permute(...).contiguous() where the next operator takes strides, broadcast along the
    channels (weight.view(-1, 1, 1)) instead of moving them, or convert model and input once with
    to(memory_format=torch.channels_last).""",
    caveat="An operator that needs its input contiguous copies by itself; view() then fails without the copy.",
    views=("overview", "operator", "kernel", "module"),
    certainty="likely",
    cause="Copies to another memory layout take {gain} of {the_step}",
    without="In one layout",
    links=(
        ("Channels last", links.TUTORIALS + "intermediate/memory_format_tutorial.html"),
        ("Tensor.contiguous", links.DOCS + "generated/torch.Tensor.contiguous.html"),
    ),
    details=(("names", "Most of the time is in {names}."),),
    reach=Reach(0.5, 1.5),
    numbers={"copies": ("Copies", "count")},
)
