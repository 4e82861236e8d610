"""The causes of the critical path in seven groups, which the page draws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight_schema import PathCause

GROUPS: Mapping[str, tuple[PathCause, ...]] = {
    "compute": (PathCause.KERNEL,),
    "copies": (PathCause.MEMCPY, PathCause.MEMSET),
    "data_loading": (PathCause.DATALOADER,),
    "communication": (PathCause.COMMUNICATION,),
    "waiting": (PathCause.WAITING,),
    "host_code": (
        PathCause.OPERATOR,
        PathCause.PYTHON,
        PathCause.RUNTIME,
        PathCause.LAUNCH,
        PathCause.SYNCHRONIZATION,
        PathCause.ANNOTATION,
    ),
    "not_recorded": (PathCause.NOT_RECORDED, PathCause.BEFORE_RECORDING),
}
"""Key of each group and its causes; each cause is in one."""


def groups_of_causes(has_device: bool) -> Ints:
    """The group of each ``PathCause``, int64 of shape (causes,). Without a device the operators are what computes."""
    found = np.full(len(PathCause), -1, np.int64)
    for number, causes in enumerate(GROUPS.values()):
        found[list(causes)] = number
    if not has_device:
        found[PathCause.OPERATOR] = list(GROUPS).index("compute")
    return found
