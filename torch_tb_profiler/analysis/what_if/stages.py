"""In which order changes are applied, however they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum

import msgspec

from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations

Apply = Callable[[Scene, Durations], None]


class Stage(IntEnum):
    """When a change is applied: after those of lower stages. Changes of one stage may come in any order.

    REMOVE: takes measured time away. SCALE: multiplies. LIMIT: nothing lasts longer than some time.
    JOIN: several pieces become one, as long as what they have become says. HIDE: looks at all that is left.
    """

    REMOVE = 0
    SCALE = 1
    LIMIT = 2
    JOIN = 3
    HIDE = 4


class StagedEdit(msgspec.Struct, frozen=True):
    """An edit that has a stage; ``key``: tells it from others of its stage, so that rounding does not depend on the
    order either.
    """

    stage: Stage
    apply: Apply
    key: str = ""

    def __call__(self, scene: Scene, durations: Durations) -> None:
        self.apply(scene, durations)


def stage_of(edit: Apply) -> Stage:
    """When an edit is applied; one without a stage takes time away."""
    return edit.stage if isinstance(edit, StagedEdit) else Stage.REMOVE


def in_order(edits: Iterable[Apply]) -> list[Apply]:
    """The edits in the order in which they are applied."""
    return sorted(edits, key=lambda edit: (stage_of(edit), getattr(edit, "key", "")))
