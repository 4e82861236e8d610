"""Kinds of events, by which a search and the tables of an area are divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nest
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.timeline_schema import Look

Kind = Literal["device", "operator", "runtime", "annotation", "python", "other"]
ChosenKind = Literal[
    "first", "all", "device", "operator", "runtime", "annotation", "python", "other"
]
KINDS: tuple[Kind, ...] = ("device", "operator", "runtime", "annotation", "python", "other")
"""What people look for first comes first."""
_LOOKS: dict[Kind, tuple[Look, ...]] = {
    "device": (Look.KERNEL, Look.MEMCPY, Look.MEMSET, Look.COMMUNICATION),
    "operator": (Look.OPERATOR,),
    "runtime": (Look.RUNTIME,),
    "annotation": (Look.ANNOTATION, Look.DEVICE_ANNOTATION),
    "python": (Look.PYTHON,),
}


def _kind_of_look() -> Array:
    kinds = np.full(max(Look) + 1, KINDS.index("other"), np.uint8)
    for kind, looks in _LOOKS.items():
        kinds[list(looks)] = KINDS.index(kind)
    return kinds


KIND_OF_LOOK = _kind_of_look()
"""Place in ``KINDS`` of every ``Look``; uint8 of shape (looks,)."""


def chosen_kind(chosen: ChosenKind, known: Sequence[Kind]) -> Kind | Literal["all"]:
    """``first`` is the first one that is known, in the order of ``KINDS``."""
    return next(iter(known), "all") if chosen == "first" else chosen


def around(spans: Table, group: Array, look: Array) -> Array:
    """The innermost event of the same group and kind around each event, −1 none; int32 of shape
    (events,).

    ::

        operator   [aten::linear          ]     of aten::mm: aten::linear
        annotation   [forward          ]        of forward:  −1
        operator       [aten::mm  ]

    group: row of groups of every event, −1 of counter samples. look: of every event.
    """
    nearest = np.full(len(look), -1, np.int32)
    kind = KIND_OF_LOOK[look[: spans.n]]
    row = np.flatnonzero(kind != KINDS.index("device"))
    start = spans["start"][row]
    track = group[row].astype(np.int32) * len(KINDS) + kind[row]
    parent = nest(track, start, start + spans["dur"][row]).parent
    inner = parent >= 0
    nearest[row[inner]] = row[parent[inner]]
    return nearest
