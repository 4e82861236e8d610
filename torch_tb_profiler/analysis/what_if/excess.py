"""By how much ranks work longer than the others, name by name.

::

    rank 0   forward 8 | mm 4              others: forward 8, smooth 0, mm 4
    rank 1   forward 8 | smooth 9 | mm 5   excess: smooth 9, mm 1; no more than all of it: 22 − 12 = 10

Of what the ranks do under one name in a step the others' median is usual. Names of which a rank does less pay for those
of which it does more: all of it shrinks to what all of the others take.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_floats
from torch_tb_profiler.analysis.critical_path.device import device_causes
from torch_tb_profiler.analysis.critical_path.ranks import RankTrace
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.what_if.ranks import RanksGraph
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.strings import StringBuilder

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
"""What differs between processes in the name of one thing."""


@dataclass(frozen=True)
class HostAndDevice:
    """How many times as long each host segment and each piece of device work of a rank takes."""

    segment: Array
    work: Array


@dataclass(frozen=True)
class _Done:
    """What ranks do, arrays of shape (pieces,): ``place`` of the rank among those read, common ``step``, number of the
    ``name``, ``time`` in ns, whether ``on_host``, and ``index`` among its segments or its device work.
    """

    place: Ints
    step: Ints
    name: Ints
    time: Array
    on_host: Mask
    index: Ints


def excess_factors(
    graph: RanksGraph,
    traces: Sequence[RankTrace],
    figures: RunFigures,
    ranks: Sequence[int],
    steps: Ints | None,
) -> list[HostAndDevice | None]:
    """Of each rank that was read, what makes it work no longer than the others; None of those that are not among
    ``ranks`` (indices). ``steps``: the common steps in which, None all.
    """
    chosen = np.isin(graph.rank, list(ranks))
    found: list[HostAndDevice | None] = [None] * len(traces)
    if not chosen.any() or chosen.all():
        return found
    done = _done(graph, traces, figures)
    factor = np.ones(len(done.time))
    counted = done.step >= 0 if steps is None else np.isin(done.step, steps)
    for on_host in (False, True):
        rows = np.flatnonzero(counted & (done.on_host == on_host))
        if len(rows):
            factor[rows] = _factors(done, rows, chosen)
    for place in np.flatnonzero(chosen).tolist():
        own = graph.graphs[place]
        segment, work = np.ones(len(own.host.span)), np.ones(len(own.work.row))
        for target, on_host in ((segment, True), (work, False)):
            mine = (done.place == place) & (done.on_host == on_host)
            target[done.index[mine]] = factor[mine]
        found[place] = HostAndDevice(segment, work)
    return found


def _factors(done: _Done, rows: Ints, chosen: Mask) -> Array:
    """For pieces of one kind by how much they are shortened."""
    place, step, time = done.place[rows], done.step[rows], done.time[rows]
    ranks, others = len(chosen), np.flatnonzero(~chosen)
    _, like = group_rows((step, done.name[rows]))
    own, beyond = _beyond(ranks, others, place, like, time)
    _, of_step = group_rows((step,))
    total, most = _beyond(ranks, others, place, of_step, time)
    step_of = np.zeros(own.shape[1], np.int64)
    step_of[like] = of_step
    gains = np.stack([sum_floats(step_of, total.shape[1], one) for one in beyond])
    part = np.minimum(np.divide(most, gains, out=np.zeros(most.shape), where=gains > 0), 1.0)
    gone = beyond * part[:, step_of]
    left = 1 - np.divide(gone, own, out=np.zeros(own.shape), where=own > 0)
    return np.where(chosen[place], left[place, like], 1.0)


def _beyond(ranks: int, others: Ints, place: Ints, group: Ints, time: Array) -> tuple[Array, Array]:
    """``(time, time beyond the others' median)`` of each rank in each group, of shape (ranks, groups)."""
    groups = int(group.max(initial=-1)) + 1
    own = sum_floats(place * groups + group, ranks * groups, time).reshape(ranks, groups)
    return own, np.maximum(own - np.median(own[others], axis=0), 0)


def _done(graph: RanksGraph, traces: Sequence[RankTrace], figures: RunFigures) -> _Done:
    texts = StringBuilder()
    columns: list[tuple[Array, ...]] = []
    for place, (one, own) in enumerate(zip(traces, graph.graphs, strict=True)):
        spans, work = one.trace["spans"], own.work
        met = graph.meetings.work[graph.meetings.place == place]
        computes = device_causes(one.trace, one.facts, work.row) != PathCause.COMMUNICATION
        computes[met] = False
        device = np.flatnonzero(computes)
        span, host_time = own.host.span.astype(np.int64), own.host_time()
        host = np.flatnonzero((span >= 0) & (host_time > 0) & ~np.isin(span, work.row))
        row = np.concatenate((work.row[device], span[host]))
        step = np.concatenate((own.step[device], one.facts["span_links"]["step"][span[host]]))
        common = np.append(figures.steps.place[int(graph.rank[place])], -1)
        used, inverse = np.unique(spans["name"][row], return_inverse=True)
        names = [_ADDRESS.sub("", text or "") for text in one.trace.strings.many(used)]
        columns.append(
            (
                np.full(len(row), place),
                common[step],
                np.array(texts.intern_all(names), np.int64)[inverse],
                np.concatenate(((work.end - work.start)[device].astype(float), host_time[host])),
                np.arange(len(row)) >= len(device),
                np.concatenate((device, host)),
            )
        )
    return _Done(*map(np.concatenate, zip(*columns, strict=True)))
