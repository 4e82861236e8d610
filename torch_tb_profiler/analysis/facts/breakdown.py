"""Step-time breakdown: every nanosecond of a step belongs to exactly one of eight categories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, join, measure, union
from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.names import HostNames
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.step_categories import CATEGORIES


def break_down(
    sets: Iterable[Intervals], start: Ints, end: Ints, left_out: Intervals
) -> dict[str, Ints]:
    """The eight categories of every window [start, end) without what is left out, int64 ns of shape (steps,).

    ``sets``: the active time of each category but ``other``, in the order of ``CATEGORIES``. Each
        category gets what its set adds to the union of those before it, so the eight add up to end
        − start − what is left out.
    """
    categories: dict[str, Ints] = {}
    covered = np.zeros(len(start), np.int64)
    so_far = left_out
    unseen = measure(left_out, start, end)
    for key, points in zip(CATEGORIES[:-1], sets, strict=True):
        if len(points.start):
            so_far = join(so_far, points)
        upto = measure(so_far, start, end) - unseen
        categories[key] = upto - covered
        covered = upto
    categories["other"] = end - start - unseen - covered
    return categories


def active_sets(
    trace: Trace, tree: CallTree, names: HostNames, caused: Causes, communication: Mask
) -> Iterator[Intervals]:
    """The active time of each of the seven categories before ``other``, one after the other.

    ``communication``: whether each device event is a communication kernel, bool of shape (device
        events,).
    """
    spans = trace["spans"]
    device_role = spans["role"][caused.row]
    node_role = spans["role"][tree.row]
    name = spans["name"][tree.row]
    collective, dataloader = names.collective[name], names.dataloader[name]
    step = names.step[name] >= 0
    executing = (node_role == Role.OPERATOR) & ~step & ~dataloader & ~collective

    def of(row: Array) -> Intervals:
        begin = spans["start"][row]
        return union(begin, begin + spans["dur"][row])

    yield of(caused.row[(device_role == Role.KERNEL) & ~communication])
    yield of(caused.row[device_role == Role.MEMCPY])
    yield of(caused.row[device_role == Role.MEMSET])
    yield of(np.sort(np.concatenate((caused.row[communication], tree.row[collective]))))
    yield of(tree.row[node_role == Role.RUNTIME])
    yield of(tree.row[dataloader])
    yield of(tree.row[executing])
