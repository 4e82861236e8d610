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

from torch_tb_profiler.analysis.distributed.collectives import find_collectives
from torch_tb_profiler.analysis.facts.header import unix_begin
from torch_tb_profiler.store.columns import Array
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


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mixed(key: Array) -> Array:
    """Numbers spread over 0 to 2⁵³ − 1 (the finalizer of splitmix64), which JSON keeps."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((key ^ (key >> np.uint64(31))) >> np.uint64(11))
