"""Times of function events in microseconds, by the same floating-point steps in the same order as PyTorch's.

PyTorch divides integer nanoseconds by 1000 and then adds and subtracts floats; what it prints is rounded to three decimals, so that a figure in ms
that ends in exactly half a µs is rounded up or down by what those steps leave in the last bits. Python before 3.12 sums as done here, left to right;
later ones compensate, which may round one such figure in a thousand the other way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.nesting import depths
from torch_tb_profiler.store.columns import Array, Ints, Mask


@dataclass(frozen=True)
class DeviceTimes:
    """µs, float64 of shape (events,). Of a host event: what the operators at and beneath it launched, and what was launched at it itself."""

    total: Array
    own: Array


def microseconds(ns: Ints) -> Array:
    """ns → µs."""
    return np.asarray(ns / 1000.0)


def self_time(elapsed: Array, parent: Ints) -> Array:
    """Each event's length less the sum of those of its direct children, in the order in which they begin."""
    inside = np.flatnonzero(parent >= 0)
    return np.asarray(elapsed - np.bincount(parent[inside], weights=elapsed[inside], minlength=len(elapsed)))


def device_times(elapsed: Array, on_device: Mask, parent: Ints, operator: Ints) -> DeviceTimes:
    """``operator``: of work of a device the position of the host event that launched it; −1 unknown."""
    n = len(elapsed)
    work = np.flatnonzero(operator >= 0)
    own = np.bincount(operator[work], weights=elapsed[work], minlength=n)
    total, beneath = own.copy(), np.zeros(n)
    depth = depths(parent)
    busy = _with_callers(np.unique(operator[work]), parent)
    busy = busy[np.argsort(depth[busy], kind="stable")]
    bounds = np.searchsorted(depth[busy], np.arange(1, int(depth.max(initial=0)) + 1))
    for level in reversed(np.split(busy, bounds)):
        total[level] = own[level] + beneath[level]
        inner = level[parent[level] >= 0]
        np.add.at(beneath, parent[inner], total[inner])
    return DeviceTimes(np.where(on_device, elapsed, total), np.where(on_device, elapsed, total - beneath))


def _with_callers(positions: Ints, parent: Ints) -> Ints:
    """The positions and all above them, ascending."""
    seen = np.zeros(len(parent), np.bool_)
    at = positions
    while len(at):
        seen[at] = True
        at = parent[at]
        at = np.unique(at[at >= 0])
        at = at[~seen[at]]
    return np.flatnonzero(seen)
