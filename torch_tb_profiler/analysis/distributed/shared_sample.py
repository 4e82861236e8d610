"""A few collectives of a trace, chosen so that two ranks of one job choose the same ones: those whose identity has the
smallest hashes.

::

    rank 0   seq  7  8  9 10 11 12          smallest hashes of both: 9, 11
    rank 1         8  9 10 11 12 13         they overlap in time: one job

Only collectives with a sequence number have an identity that needs no other rank.
"""

from __future__ import annotations

import hashlib

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mixed
from torch_tb_profiler.analysis.distributed.collectives import kind_of, nearest
from torch_tb_profiler.analysis.distributed.communication import find_collectives
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.header import unix_begin
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.hardware.kernel_names import communication_library
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.file_processes import OWNERS, stated_processes
from torch_tb_profiler.store.model import Facts, Trace

MOST = 24
"""Collectives of a sample: of ranks that share a quarter of theirs, six are expected in both."""


def shared_sample(trace: Trace, facts: Facts) -> tuple[tuple[int, ...], ...]:
    """Hash of what a collective is, Unix time of its begin, of its end (ns), of at most ``MOST`` collectives; empty without
    sequence numbers or a clock.
    """
    begin = unix_begin(trace)
    if begin is None or not (trace["collective_args"]["sequence"] >= 0).any():
        return ()
    found = find_collectives(trace, facts)
    row = np.flatnonzero(found.sequence >= 0)
    seeds = np.array([_hash(f"{label.group}\0{label.kind}") for label in found.labels], np.uint64)
    key = _mixed(seeds[found.label[row]] + found.sequence[row].astype(np.uint64))
    _, first = np.unique(key, return_index=True)
    chosen = first[:MOST]
    return tuple(
        (int(key[i]), begin + int(found.start[row[i]]), begin + int(found.end[row[i]]))
        for i in chosen.tolist()
    )


def samples_of_processes(trace: Trace) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Such samples of each process that the trace of a file states, by its name, without sequence numbers. By the clock that they
    share, collectives run together begin before any of them ends, and end at about one time. Empty of a file of one process.
    """
    spans, owners = trace["spans"], trace.header.get(OWNERS)
    processes = stated_processes(trace.header, trace["tracks"].n) or []
    if len(processes) < 2:
        return {}
    row = device_rows(trace)
    row = row[named(trace, row, lambda text: bool(communication_library(text) and kind_of(text)))]
    process = np.array(owners, np.int64)[spans["track"][row]]
    kind, of_kind = np.unique(spans["name"][row], return_inverse=True)
    start = spans["start"][row]
    end = start + spans["dur"][row]
    source = trace.source.identity if trace.source else ""
    found: list[list[tuple[int, ...]]] = [[] for _ in processes]
    for number, name in enumerate(kind.tolist()):
        rounds: list[tuple[Ints, int]] = []
        for own in range(len(found)):
            at = np.flatnonzero((of_kind == number) & (process == own))
            if not len(at):
                continue
            place, first = _round(rounds, at, start, end)
            key = _mixed(_hash(f"{source}\0{name}\0{first}") + place.astype(np.uint64))
            times = (
                start[at] + trace.base_ns + trace.origin_ns,
                end[at] + trace.base_ns + trace.origin_ns,
            )
            found[own] += zip(key.tolist(), *(time.tolist() for time in times), strict=True)
    return {
        process.name: tuple(sorted(own)[:MOST])
        for process, own in zip(processes, found, strict=True)
    }


def _round(rounds: list[tuple[Ints, int]], at: Ints, start: Ints, end: Ints) -> tuple[Ints, int]:
    """The places of the collectives ``at`` among those of the first process that they are run together with, and its number."""
    for rows, first in rounds:
        near, apart, overlap = nearest(start[rows], end[rows], start[at], end[at])
        period = int(np.median(np.diff(end[rows]))) if len(rows) > 1 else int(end[rows[0]])
        if 2 * overlap.sum() >= min(len(rows), len(at)) and np.median(apart[overlap]) <= period / 8:
            return np.where(overlap, near, len(rows) + np.arange(len(at))), first
    rounds.append((at, len(rounds)))
    return np.arange(len(at)), len(rounds) - 1


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mixed(key: Array) -> Array:
    """Numbers spread over 0 to 2⁵³ − 1, which JSON keeps."""
    return np.asarray(mixed(key) >> np.uint64(11))
