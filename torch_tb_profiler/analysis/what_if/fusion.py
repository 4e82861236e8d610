"""What it would save to run chains of memory-bound operators as one kernel each.

::

    gpu    {mul  }{neg }{cat  }{mul  }{add   }     one module, thread, stream and step
            w      r w   r w    r w    r r          tensors between them: written and read in vain

One kernel remains, and one launch: of each kernel the share of its time that its remaining bytes are of all. A tensor
that a backward pass may read is still written.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, positions_of, sum_floats
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.hardware.call import read_call
from torch_tb_profiler.hardware.fusion import Inner, Step, chains_of, inner_tensors, step_of
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.roles import Role

LEAST = 5_000
"""ns; shorter kernels take as long whatever they move."""
MOST_KERNELS = 1_000_000


class Fusions(msgspec.Struct, frozen=True):
    """Kernels of chains, arrays of shape (kernels,), in order.

    row: of spans. kept: share of its time that stays. chain: number of its chain.
    names: operators of each chain, one per call. saved: bytes of each chain, of shape (chains,).
    """

    row: Ints
    kept: Array
    chain: Ints
    names: tuple[tuple[str, ...], ...]
    saved: Ints


class _Calls(msgspec.Struct, frozen=True):
    """Calls that could be fused, in order; arrays of shape (calls,).

    begin, end: their kernels among ``row``. run: equal for calls that follow each other. writes:
    whether their results are written all the same.
    """

    row: Ints
    begin: Ints
    end: Ints
    workload: Ints
    run: Array
    writes: Array


def fusions(scene: Scene) -> Fusions:
    """The chains of a trace."""
    return scene.once("fusions", lambda: _fusions(scene))


def _fusions(scene: Scene) -> Fusions:
    steps = _steps(scene)
    calls = _calls(scene, np.array([step is not None for step in steps], np.bool_))
    table = scene.insight["workloads"]
    moved, named = table["bytes"], scene.insight.strings.many(table["name"])
    known: dict[tuple[bytes, bytes], list[_Chain]] = {}
    call, kept, chain = list[int](), list[float](), list[int]()
    names, saved = list[tuple[str, ...]](), list[int]()
    for first, last in _runs(calls.run):
        workload, writes = calls.workload[first:last], calls.writes[first:last]
        key = workload.tobytes(), writes.tobytes()
        if key not in known:
            some = [step for number in workload.tolist() if (step := steps[number]) is not None]
            known[key] = list(_chains(inner_tensors(some), moved[workload], writes))
        for members, share, less in known[key]:
            call += [first + member for member in members]
            kept += share
            chain += [len(names)] * len(members)
            names.append(tuple(named[workload[member]] for member in members))
            saved.append(less)
    begin, count = calls.begin[call], (calls.end - calls.begin)[call]
    rows = calls.row[expand_ranges(begin, count)]
    each, chains = np.repeat(np.array((kept, chain)), count, axis=1)
    chains = chains.astype(np.int64)
    stays = _of_one_kernel(scene.trace["spans"]["dur"][rows], each, chains)
    return Fusions(rows, stays, chains, tuple(names), np.array(saved, np.int64))


_Chain = tuple[tuple[int, ...], list[float], int]


def _chains(inner: list[Inner], moved: Ints, writes: Array) -> Iterator[_Chain]:
    """Of the chains of calls that follow each other the calls, the share of the time of each that stays, and the bytes that are saved;
    ``moved``: bytes of the calls; ``writes``: whether their results are written all the same.
    """
    less = np.zeros(len(moved), np.int64)
    for tensor in inner:
        less[tensor.reader] += tensor.bytes
        less[tensor.writer] += 0 if writes[tensor.writer] else tensor.bytes
    share = np.where(moved > 0, np.clip(1 - less / np.maximum(moved, 1), 0, 1), 1.0)
    for members in chains_of(inner):
        yield members, share[list(members)].tolist(), int(less[list(members)].sum())


def _of_one_kernel(dur: Ints, share: Array, chain: Ints) -> Array:
    """What stays of each kernel: of those of at least ``LEAST`` the share of their bytes; the others only begin and end,
    which one kernel does once, so it lasts no shorter than the longest of them.
    """
    long, n = dur >= LEAST, int(chain.max(initial=-1)) + 1
    kept = np.where(long, share, 0.0)
    shortest = np.zeros(n)
    np.maximum.at(shortest, chain[~long], dur[~long].astype(np.float64))
    missing = np.maximum(shortest - sum_floats(chain, n, kept * dur), 0)
    row = np.flatnonzero(~long & (dur == shortest[chain]))
    _, first = np.unique(chain[row], return_index=True)
    row = row[first]
    kept[row] = missing[chain[row]] / np.maximum(dur[row], 1)
    return np.asarray(kept)


def _steps(scene: Scene) -> list[Step | None]:
    """Per workload the step of a chain that it is, None if it is none."""
    table, texts = scene.insight["workloads"], scene.insight.strings
    steps: list[Step | None] = []
    columns = (table[key].tolist() for key in ("name", "dims", "types", "strides", "concrete"))
    for numbers in zip(*columns, strict=True):
        name, *recorded = (texts[number] if number >= 0 else "" for number in numbers)
        call = read_call(name, *recorded)
        steps.append(None if call is None else step_of(call))
    return steps


def _calls(scene: Scene, fits: Array) -> _Calls:
    """Calls whose workload ``fits``; whatever lies between two of them ends a run."""
    trace, facts, insight = scene.trace, scene.facts, scene.insight
    spans, links = trace["spans"], facts["span_links"]
    work = device_rows(trace)
    workload = insight["device_workloads"]["workload"][positions_of(device_rows(trace), work)]
    order = np.lexsort((spans["start"][work], spans["track"][work]))[:MOST_KERNELS]
    row, workload = work[order], workload[order].astype(np.int64)
    operator, launch = links["operator"][row], links["launch"][row]
    good = np.append(fits, False)[workload] & (operator >= 0) & (launch >= 0)
    good &= spans["role"][row] == Role.KERNEL
    path = insight["span_paths"]["path"][operator]
    places = (
        spans["track"][row],
        spans["track"][launch],
        links["step"][row],
        modules_of_paths(insight["paths"])[path],
        good,
    )
    changes = np.zeros(len(row), np.bool_)
    for place in places:
        changes[1:] |= place[1:] != place[:-1]
    changes |= ~good
    run = np.cumsum(changes)
    # Kernels of one operator that follow each other are one call.
    new = np.ones(len(row), np.bool_)
    new[1:] = (operator[1:] != operator[:-1]) | (run[1:] != run[:-1])
    begin = np.flatnonzero(new)
    end = np.append(begin[1:], len(row))
    chosen = good[begin]
    begin, end = begin[chosen], end[chosen]
    backward = np.append(insight["paths"]["backward"], 0)[path[begin]] == 1
    trains = sum(insight.about["backward"].values()) > 0
    return _Calls(row, begin, end, workload[begin], run[begin].astype(np.int64), ~backward & trains)


def _runs(run: Ints) -> list[tuple[int, int]]:
    """Begin and end of runs of at least two calls."""
    begin = np.flatnonzero(np.append(True, run[1:] != run[:-1])) if len(run) else run
    end = np.append(begin[1:], len(run))
    several = end - begin > 1
    return list(zip(begin[several].tolist(), end[several].tolist(), strict=True))
