"""Attributes device work to calls, and a call's FLOPs and bytes to its kernels.

::

    [aten::linear                       ]        modelled, but only another modelled call launches
      [aten::addmm                     ]         modelled, launches: counted with all beneath it
        [aten::zero_] <launch> <launch>
    {fill} {gemm      } {splitK reduce}          0, all FLOPs and bytes of addmm, 0
    {winograd data} {sgemm} {winograd output}    convolution: shared in proportion to time
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of, sum_by
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.store.columns import Array, Ints, Mask

LARGEST = 1 << 62
"""Larger sums would not fit their column and count as unknown."""


def counted_calls(above: Array, modelled: Mask, launcher: Array) -> Ints:
    """The call that each piece of device work is attributed to (see ``workload_kernels``), −1 none;
    int64.

    above: for every operator the position of the one around it, −1 none.
    modelled: which operator calls have a performance model.
    launcher: for every piece of device work the operator that launched it, −1 none.
    """
    if not len(above):
        return np.full(len(launcher), -1, np.int64)
    innermost = nearest(above, modelled)
    owner = np.where(launcher >= 0, innermost[launcher], -1)
    owns = mask_of(len(above), owner[owner >= 0])
    # The outermost owner around each owner, by pointer doubling.
    inner = nearest(above, owns)
    own = np.flatnonzero(owns)
    outer = np.arange(len(above), dtype=np.int32)
    beyond = np.where(above[own] >= 0, inner[above[own]], -1)
    outer[own] = np.where(beyond >= 0, beyond, own)
    while (next_outer := outer[outer[own]]).tobytes() != outer[own].tobytes():
        outer[own] = next_outer
    return np.where(owner >= 0, outer[owner], launcher).astype(np.int64)


class Pieces(msgspec.Struct, frozen=True):
    """Device work, arrays of shape (device events,).

    call: the counted call that it is attributed to, −1 none.
    workload: that call's, −1 none.
    name: string number.
    dur: ns.
    kernel: neither copy nor memset.
    multiplies: by its name a kernel of the product, convolution or attention that the call does, or
        a transform that a fast convolution needs.
    fast: its call has kernels of a fast algorithm (Winograd or FFT).
    """

    call: Ints
    workload: Array
    name: Array
    dur: Ints
    kernel: Mask
    multiplies: Mask
    fast: Mask


def lost_calls(call: Ints, able: Mask, wanted: Mask) -> Ints:
    """Calls whose recorded device work cannot have done their arithmetic, ascending: that kernel
    was not recorded.

    call: of every piece of device work the counted call, −1 none.
    able: whether it can do arithmetic.
    wanted: whether the work of its call is arithmetic.
    """
    chosen = np.flatnonzero((call >= 0) & wanted)
    lost = mask_of(int(call.max(initial=-1)) + 1, call[chosen])
    lost[call[chosen[able[chosen]]]] = False
    return np.flatnonzero(lost)


def main_pieces(pieces: Pieces) -> Mask:
    """Which pieces of device work do the arithmetic of their call; bool of shape (device events,).

    Those that multiply; where a call has none, the kernels of the name that takes most time over
    all calls of the workload.
    """
    main = np.zeros(len(pieces.call), np.bool_)
    owned = np.flatnonzero(pieces.call >= 0)
    if not len(owned):
        return main
    _, call = group_rows((pieces.call[owned],))
    n = int(call.max()) + 1
    product = np.bincount(call, weights=pieces.multiplies[owned], minlength=n) > 0
    first, name = group_rows((pieces.workload[owned], pieces.name[owned]))
    total = sum_by(name, len(first), pieces.dur[owned])[name] + 1
    total[~pieces.kernel[owned]] = 0
    most = np.zeros(n, np.int64)
    np.maximum.at(most, call, total)
    main[owned] = np.where(product[call], pieces.multiplies[owned], total == most[call])
    return main


def attributed_amounts(pieces: Pieces, main: Mask, amount: Ints) -> Ints:
    """The part of its call's ``amount`` (per workload, −1 unknown) that each piece did; int64, −1
    unknown.

    Several main pieces of one call share in proportion to their time and add up to the amount
    exactly.
    """
    result = np.where(np.append(amount, -1)[pieces.workload] >= 0, 0, -1)
    main_rows = np.flatnonzero(main & (result >= 0))
    if not len(main_rows):
        return result.astype(np.int64)
    main_rows = main_rows[np.argsort(pieces.call[main_rows], kind="stable")]
    whole = amount[pieces.workload[main_rows]]
    length = np.maximum(pieces.dur[main_rows], 1)
    begin = np.flatnonzero(np.diff(pieces.call[main_rows], prepend=-1))
    call = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(main_rows)))
    until = np.cumsum(length)
    before = (until[begin] - length[begin])[call]
    total = np.add.reduceat(length, begin)[call]
    # For the last piece of a call the fraction is exactly 1.
    rest = np.floor(whole % total * ((until - before) / total)).astype(np.int64)
    earlier = np.concatenate(([0], rest[:-1]))
    earlier[begin] = 0
    result[main_rows] = whole // total * length + rest - earlier
    return result.astype(np.int64)


def bounded_sums(group: Array, groups: int, values: Ints) -> Ints:
    """Sums of ``values`` (−1 unknown) per group, int64; −1 if unknown or too large."""
    unknown = np.bincount(group[values < 0], minlength=groups) > 0
    known = np.maximum(values, 0)
    about = np.bincount(group, weights=known.astype(np.float64), minlength=groups)
    is_known = ~unknown & (about < LARGEST)
    fits = is_known[group]
    return np.where(is_known, sum_by(group[fits], groups, known[fits]), -1)
