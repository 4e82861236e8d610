"""Times of function events in microseconds, by the same floating-point steps in the same order as
PyTorch's.

PyTorch divides integer nanoseconds by 1000 and then adds and subtracts floats; what it prints is
rounded to three decimals, so that a figure in ms that ends in exactly half a µs is rounded up or
down by what those steps leave in the last bits. Where PyTorch calls ``sum``, the version of Python
decides: before 3.12 it adds left to right, since then without loss. The recording does not tell it,
    so that of the reader is taken.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import depths
from torch_tb_profiler.store.columns import Array, Ints, Mask

LOSSLESS = sys.version_info >= (3, 12)
"""Whether Python's ``sum`` carries what rounding takes away."""


@dataclass(frozen=True)
class DeviceTimes:
    """µs, float64 of shape (events,). Of a host event: what the operators at and beneath it
    launched, and what was launched at it itself.
    """

    total: Array
    own: Array


def microseconds(ns: Ints) -> Array:
    """ns → µs."""
    return np.asarray(ns / 1000.0)


def self_time(elapsed: Array, parent: Ints) -> Array:
    """Each event's length less the sum of those of its direct children, in the order in which they
    begin.
    """
    inside = np.flatnonzero(parent >= 0)
    return np.asarray(
        elapsed - _add(_zeros(len(elapsed)), parent[inside], elapsed[inside]).astype(np.float64)
    )


def device_times(elapsed: Array, on_device: Mask, parent: Ints, operator: Ints) -> DeviceTimes:
    """``operator``: of work of a device the position of the host event that launched it; −1
    unknown.
    """
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
    """Sums to be. Extended precision holds what ``sum`` carries along: lengths are multiples of
    2⁻³³ µs or so.
    """
    return np.zeros(n, np.longdouble if LOSSLESS else np.float64)


def _add(sums: Array, place: Ints, values: Array) -> Array:
    """Add the values one after the other."""
    np.add.at(sums, place, values)
    return sums


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
