"""What blocks are for, by their lives: ``CATEGORY_RULES`` of ``store/block_categories.py``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.memory.blocks import Blocks
from torch_tb_profiler.analysis.memory.phases import Phase, Phases
from torch_tb_profiler.store.block_categories import BLOCK_CATEGORIES, CATEGORY_RULES
from torch_tb_profiler.store.columns import Array, Ints, Mask


def inferred(phases: Phases, blocks: Blocks, device: Ints) -> tuple[Array, Array]:
    """``(category, rule)`` per block, positions in ``BLOCK_CATEGORIES`` and ``CATEGORY_RULES``; −1
    unknown. ``device``: of each record. Blocks whose allocation or release was lost stay unknown::

        forward  backward  optimizer  zero_grad        rule
        +      -                                       temporary
             +   -                                     activation
                  +                   -                gradient
                           +                           optimizer state
        + +-+- -                                       kept, temporary between
    """
    released = blocks.end >= 0
    whole = (blocks.allocation >= 0) & (blocks.releases | ~released)
    allocation = np.where(whole, blocks.allocation, 0)
    release = np.where(whole & released, blocks.end, allocation)
    run, last = phases.run[allocation], phases.last[allocation]
    until = np.where(released, phases.run[release], last + 1)

    def between(*wanted: Phase) -> Mask:
        """Whether a run of these phases begins in the block's life after its own run."""
        count = np.append(0, np.cumsum(np.isin(phases.of_run, wanted)))
        return np.asarray(count[np.minimum(until, last) + 1] > count[run + 1])

    phase = phases.phase[allocation]
    forward = phase == Phase.FORWARD
    again = np.select([phase == one for one in Phase], [between(one) for one in Phase], False)
    ends_in_backward = np.append(phases.of_run, -1)[np.minimum(until, last)] == Phase.BACKWARD
    lives = (
        (phase == Phase.MODULE) & ~released,
        (phase == Phase.OPTIMIZER) & ~released & (last > run),
        (phase == Phase.BACKWARD) & between(Phase.OPTIMIZER, Phase.ZERO_GRAD),
        (phase == Phase.DATA) & (until > run),
        forward
        & released
        & ~phases.in_module[allocation]
        & phases.ahead[allocation]
        & ((until > run) | ~phases.ahead[release]),
        forward & released & (until > run) & ends_in_backward,
        forward & released & phases.in_module[allocation] & between(Phase.BACKWARD),
        forward & released & (until == run) & _to_the_end(blocks, run, forward & whole, device),
        (phase >= 0) & ~released & again,
        # One run is no phase: a recording without marks or steps does not tell one from another.
        (phase >= 0) & released & (until == run) & (len(phases.of_run) > 1),
    )
    rule = np.select([whole & life for life in lives], range(len(lives)), -1).astype(np.int8)
    category_of = [BLOCK_CATEGORIES.index(category) for category, _ in CATEGORY_RULES]
    return np.array([*category_of, -1], np.int8)[rule], rule


def _to_the_end(blocks: Blocks, run: Ints, own: Mask, device: Ints) -> Mask:
    """Which blocks outlive the last allocation of their run, and a whole life of another block of it.

    ``own``: the blocks of the phase that have both ends, or none; ``device``: of each record.
    """
    allocation, release = blocks.allocation, blocks.end
    _, group = np.unique(
        np.stack((run, np.append(device, -1)[allocation])), axis=1, return_inverse=True
    )
    group = group.reshape(-1)
    last = np.full(int(group.max(initial=-1)) + 1, -1, np.int64)
    np.maximum.at(last, group[own], allocation[own])
    late = own & (release > last[group])
    between = own & (release >= 0) & ~late
    begun = np.full(len(last), -1, np.int64)
    np.maximum.at(begun, group[between], allocation[between])
    return np.asarray(late & (allocation < begun[group]))
