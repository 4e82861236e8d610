"""Kernels that become one, and the launches that go with them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked, positions_of
from torch_tb_profiler.analysis.arrays.nesting import with_ancestors
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.hardware.main_kernels import multiplies
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import Role

_ALONE = [
    "gemm",
    "attention",
    "convolution",
    "recurrent",
    "moe",
    "sort",
    "fft",
    "factorization",
    "embedding",
    "sampling",
]
"""Families of operators that no compiler makes one kernel of with their neighbours."""


def fusible(scene: Scene) -> Mask:
    """Which device work a compiler can make one kernel of with its neighbours, bool of shape (device events,):
    kernels, but none of products, convolutions, attention, communication, or what sorts or gathers.
    """
    spans, insight, row = scene.trace["spans"], scene.insight, scene.graph.work.row
    name = spans["name"][row]
    alone = name_mask(scene.trace.strings, name, multiplies)[name]
    workload = np.full(len(row), -1, np.int64)
    place = positions_of(device_rows(scene.trace), row)
    workload[place >= 0] = insight["device_workloads"]["workload"][place[place >= 0]]
    family = picked(insight["workloads"]["family"], workload)
    alone |= np.isin(family, [insight.strings.number(text) for text in _ALONE]) & (family >= 0)
    return np.asarray((scene.work_causes == PathCause.KERNEL) & ~alone)


def fuse(scene: Scene, durations: Durations, chosen: Mask) -> None:
    """Of chosen device work that follows each other on a stream within a step, launched by one thread, one kernel
    of the length of the longest stays: what is between them is neither written nor read again.
    """
    work, spans = scene.graph.work, scene.trace["spans"]
    chosen = chosen & fusible(scene) & (work.launch >= 0)
    before, step = work.previous, scene.graph.step
    thread = spans["track"][work.launch]
    follows = chosen & (before >= 0) & chosen[before]
    follows &= (step == step[before]) & (thread == thread[before])
    root = np.arange(len(before))
    # Each row of kernels is led by its first, found by halving the way there.
    root[follows] = before[follows]
    while not np.array_equal(root, root[root]):
        root = root[root]
    longest = np.zeros(len(root))
    np.maximum.at(longest, root, durations.work)
    durations.work[chosen] = np.where(follows, 0.0, longest)[chosen]
    without_launches(scene, durations, follows)


def fuse_chains(scene: Scene, durations: Durations) -> None:
    """Each chain is one kernel: as long as its remaining bytes take, launched once."""
    from torch_tb_profiler.analysis.what_if.fusion import fusions

    found = fusions(scene)
    place = positions_of(scene.graph.work.row, found.row)
    durations.work[place[place >= 0]] *= found.kept[place >= 0]
    _, first = np.unique(found.chain, return_index=True)
    later = np.ones(len(place), np.bool_)
    later[first] = False
    gone = mask_of(len(durations.work), place[later & (place >= 0)])
    without_launches(scene, durations, gone)


def without_launches(scene: Scene, durations: Durations, gone: Mask) -> None:
    """What some device work adds to the work before it on its stream costs no pause and no launch: the launch calls
    take no time, nor do operators that launch nothing else.
    """
    durations.lead[gone] = np.minimum(durations.lead[gone], 0)
    durations.latency[gone] = np.minimum(durations.latency[gone], 0)
    launch = scene.graph.work.launch

    def spare() -> Ints:
        calls = only_for(scene, launch[gone & (launch >= 0)], launch[~gone & (launch >= 0)])
        return np.flatnonzero(scene.inside(calls).segment)

    durations.segment[scene.once(("launches", np.packbits(gone).tobytes()), spare)] = 0


def only_for(scene: Scene, gone: Ints, kept: Ints) -> Mask:
    """Which rows of spans are calls that are ``gone``, or operators with such calls and none that is ``kept``."""
    spans, parent = scene.trace["spans"], scene.facts["span_links"]["parent"]
    calls, others = np.zeros((2, spans.n), np.bool_)
    calls[gone], others[kept] = True, True
    around = with_ancestors(parent, calls) & (spans["role"] == Role.OPERATOR)
    return np.asarray((calls | around) & ~with_ancestors(parent, others))
