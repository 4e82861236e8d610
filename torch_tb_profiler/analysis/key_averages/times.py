"""Times of function events in microseconds, bit by bit as PyTorch computes them.

PyTorch divides integer nanoseconds by 1000, then adds and subtracts floats and prints three
decimals, so the order of operations decides how ties are rounded. Its ``sum`` is lossless since
Python 3.12; the recording does not say which version wrote it, so the reader's is assumed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import depths, with_ancestors
from torch_tb_profiler.store.columns import Array, Ints, Mask

LOSSLESS = sys.version_info >= (3, 12)
"""Whether Python's ``sum`` compensates rounding errors."""


@dataclass(frozen=True)
class DeviceTimes:
    """µs, float64 of shape (events,): device time of a host event, total and self."""

    total: Array
    own: Array


def self_time(elapsed: Array, parent: Ints) -> Array:
    """The duration of each event without its direct children, subtracted in time order."""
    inside = np.flatnonzero(parent >= 0)
    return np.asarray(
        elapsed - _add(_zeros(len(elapsed)), parent[inside], elapsed[inside]).astype(np.float64)
    )


def device_times(elapsed: Array, on_device: Mask, parent: Ints, operator: Ints) -> DeviceTimes:
    """``operator``: for device work the position of the host event that launched it; −1 unknown."""
    n = len(elapsed)
    work = np.flatnonzero(operator >= 0)
    own = _add(_zeros(n), operator[work], elapsed[work]).astype(np.float64)
    total, beneath = own.copy(), _zeros(n)
    depth = depths(parent)
    busy = _with_callers(np.unique(operator[work]), parent)
    busy = busy[np.argsort(depth[busy], kind="stable")]
    bounds = np.searchsorted(depth[busy], np.arange(1, int(depth.max(initial=0)) + 1))
    for level in reversed(np.split(busy, bounds)):
        total[level] = own[level] + beneath[level].astype(np.float64)
        inner = level[parent[level] >= 0]
        _add(beneath, parent[inner], total[inner])
    return DeviceTimes(
        np.where(on_device, elapsed, total),
        np.where(on_device, elapsed, total - beneath.astype(np.float64)),
    )


def _zeros(n: int) -> Array:
    """Accumulators; extended precision holds what a lossless ``sum`` keeps."""
    return np.zeros(n, np.longdouble if LOSSLESS else np.float64)


def _add(sums: Array, position: Ints, values: Array) -> Array:
    """Add the values one after the other."""
    np.add.at(sums, position, values)
    return sums


def _with_callers(positions: Ints, parent: Ints) -> Ints:
    """The positions and all their ancestors, ascending."""
    wanted = np.zeros(len(parent), np.bool_)
    wanted[positions] = True
    return np.flatnonzero(with_ancestors(parent, wanted))
