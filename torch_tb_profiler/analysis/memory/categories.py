"""What blocks are for, by their lives: ``CATEGORY_RULES`` of ``store/block_categories.py``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.memory.blocks import Blocks
from torch_tb_profiler.analysis.memory.phases import Phase, Phases
from torch_tb_profiler.store.block_categories import BLOCK_CATEGORIES, CATEGORY_RULES
from torch_tb_profiler.store.columns import Array, Mask


def inferred(phases: Phases, blocks: Blocks) -> tuple[Array, Array]:
    """``(category, rule)`` per block, positions in ``BLOCK_CATEGORIES`` and ``CATEGORY_RULES``; −1
    unknown. Blocks whose allocation or release was lost stay unknown::

        forward  backward  optimizer  zero_grad        rule
        +      -                                       temporary
             +   -                                     activation
                  +                   -                gradient
                           +                           optimizer state
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
        # One run is no phase: a recording without marks or steps does not tell one from another.
        (phase >= 0) & released & (until == run) & (len(phases.of_run) > 1),
    )
    rule = np.select([whole & life for life in lives], range(len(lives)), -1).astype(np.int8)
    category_of = [BLOCK_CATEGORIES.index(category) for category, _ in CATEGORY_RULES]
    return np.array([*category_of, -1], np.int8)[rule], rule
