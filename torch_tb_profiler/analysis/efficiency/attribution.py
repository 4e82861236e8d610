"""Where device work is laid: at which call, and at which of the call's kernels the call's FLOPs and
bytes are.

::

    [aten::linear                       ]        modelled, launches nothing without another modelled call between
      [aten::addmm                     ]         modelled, launches: counted, takes all that is beneath
        [aten::zero_] <launch> <launch>
    {fill} {gemm      } {splitK reduce}          0, all FLOPs and bytes of the addmm, 0
    {winograd data} {sgemm} {winograd output}    of a convolution: to each in proportion to its time
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.store.columns import Array, Ints, Mask

LARGEST = 1 << 62
"""A sum beyond it is not told: it would not fit its column."""


def counted_calls(above: Array, modelled: Mask, launcher: Array) -> Ints:
    """For every piece of device work the call that it is laid at (see the table
    ``workload_kernels``), −1 none; int64 of the shape of ``launcher``.

    Args:
        above: for every operator the position of the one around it, −1 none.
        modelled: which calls of operators a performance model knows.
        launcher: for every piece of device work the operator that launched it, −1 none.
    """
    if not len(above):
        return np.full(len(launcher), -1, np.int64)
    near = nearest(above, modelled)
    owner = np.where(launcher >= 0, near[launcher], -1)
    owns = np.zeros(len(above), np.bool_)
    owns[owner[owner >= 0]] = True
    # The outermost of the owners around each owner, by doubling.
    inner = nearest(above, owns)
    own = np.flatnonzero(owns)
    outer = np.arange(len(above), dtype=np.int32)
    beyond = np.where(above[own] >= 0, inner[above[own]], -1)
    outer[own] = np.where(beyond >= 0, beyond, own)
    while (further := outer[outer[own]]).tobytes() != outer[own].tobytes():
        outer[own] = further
    return np.where(owner >= 0, outer[owner], launcher).astype(np.int64)


@dataclass(frozen=True)
class Pieces:
    """Device work, arrays of shape (device events,).

    call: the counted call that it is laid at, −1 none. workload: that call's, −1 none. name: number
        of its name. dur: ns. kernel: not a copy or memset.
    multiplies: a kernel whose name shows a matrix product, a convolution or attention, of a call
        whose work is one; also the transforms of a fast convolution,
    without which its products are none.
    fast: of a call that has kernels of such an algorithm (Winograd's, or by Fourier transforms).
    """

    call: Ints
    workload: Array
    name: Array
    dur: Ints
    kernel: Mask
    multiplies: Mask
    fast: Mask


def lost_calls(call: Ints, able: Mask, wanted: Mask) -> Ints:
    """Calls whose recorded device work cannot have done their arithmetic: the kernel that did was
    not recorded. Ascending.

    Args:
        call: of every piece of device work the counted call, −1 none.
        able: whether it can do arithmetic.
        wanted: whether the work of its call is arithmetic.
    """
    at = np.flatnonzero((call >= 0) & wanted)
    lost = np.zeros(int(call.max(initial=-1)) + 1, np.bool_)
    lost[call[at]] = True
    lost[call[at[able[at]]]] = False
    return np.flatnonzero(lost)


def main_pieces(pieces: Pieces) -> Mask:
    """Which pieces of device work do the arithmetic of their call; bool of shape (device events,).

    Those that multiply; where a call has none, the kernels of that name which takes most time in
    all calls of the workload.
    """
    main = np.zeros(len(pieces.call), np.bool_)
    at = np.flatnonzero(pieces.call >= 0)
    if not len(at):
        return main
    _, of = group_rows((pieces.call[at],))
    n = int(of.max()) + 1
    product = np.bincount(of, weights=pieces.multiplies[at], minlength=n) > 0
    first, name = group_rows((pieces.workload[at], pieces.name[at]))
    total = sum_by(name, len(first), pieces.dur[at])[name] + 1
    total[~pieces.kernel[at]] = 0
    most = np.zeros(n, np.int64)
    np.maximum.at(most, of, total)
    main[at] = np.where(product[of], pieces.multiplies[at], total == most[of])
    return main


def attributed_amounts(pieces: Pieces, main: Mask, amount: Ints) -> Ints:
    """What each piece of device work did of its call's ``amount`` (by workload, −1 unknown): int64
    of shape (device events,), −1 unknown.

    Several main pieces of one call share in proportion to their time, so that they add up to the
    call's amount exactly.
    """
    result = (
        np.where(pieces.workload >= 0, np.where(amount[pieces.workload] >= 0, 0, -1), -1)
        if len(amount)
        else np.full(len(pieces.call), -1)
    )
    at = np.flatnonzero(main & (result >= 0))
    if not len(at):
        return result.astype(np.int64)
    at = at[np.argsort(pieces.call[at], kind="stable")]
    whole = amount[pieces.workload[at]]
    length = np.maximum(pieces.dur[at], 1)
    begin = np.flatnonzero(np.diff(pieces.call[at], prepend=-1))
    of = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(at)))
    until = np.cumsum(length)
    before = (until[begin] - length[begin])[of]
    total = np.add.reduceat(length, begin)[of]
    # Of the last piece the fraction is 1 exactly.
    rest = np.floor(whole % total * ((until - before) / total)).astype(np.int64)
    earlier = np.concatenate(([0], rest[:-1]))
    earlier[begin] = 0
    result[at] = whole // total * length + rest - earlier
    return result.astype(np.int64)


def bounded_sums(group: Array, groups: int, values: Ints) -> Ints:
    """Sums of ``values`` (−1 unknown) per group, int64 of shape (groups,): −1 where any is unknown,
    or the sum too large to be told.
    """
    unknown = np.bincount(group[values < 0], minlength=groups) > 0
    known = np.maximum(values, 0)
    about = np.bincount(group, weights=known.astype(np.float64), minlength=groups)
    told = ~unknown & (about < LARGEST)
    fits = told[group]
    return np.where(told, sum_by(group[fits], groups, known[fits]), -1)
