"""Route ``/operator``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, places_in
from torch_tb_profiler.analysis.arrays.nesting import with_ancestors
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.operators import (
    OperatorGroup,
    operator_rows,
    operators_have_device_time,
)
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.steps import leading_part, summed_over
from torch_tb_profiler.views.wire import (
    FrameTree,
    OperatorPayload,
)
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary

_WANTED: dict[OperatorGroup, tuple[str, ...]] = {
    "name": ("host", "device", "operators_of_device"),
    "shape": ("host", "device", "operators_of_device", "shapes"),
    "stack": ("host", "device", "operators_of_device", "shapes", "stack"),
}


def operator_payload(
    facts: Facts, selection: Selection, group: OperatorGroup, limit: int
) -> OperatorPayload:
    """Operators of the selected steps; beyond ``limit`` pooled in the last row."""
    rows = operator_rows(facts, selection, group, of_calls=True)
    words, has_device = vocabulary(facts), operators_have_device_time(facts)
    stacks: list[int | None] = []
    tree = FrameTree(parent=[], frame=[])
    if group == "stack":
        tree, numbers = _frame_tree(facts, rows["stack"][:limit])
        stacks = [number if number >= 0 else None for number in numbers.tolist()]
    return OperatorPayload(
        group=group,
        sentences=_sentences(
            rows, words.device if has_device else "", summed_over(facts, selection)
        ),
        has_device=has_device,
        vocabulary=words,
        rows=wire_columns(rows.head(limit)),
        frames=tree,
        stacks=stacks,
        pooled=max(rows.n - limit, 0),
        missing=missing(absent(facts), _WANTED[group]),
    )


def _sentences(rows: DisplayTable, device: str, over: str) -> list[str]:
    """Which operator's own work takes most, of the accelerator's time, of the host's where ``device`` is empty."""
    time = rows["device_self_ns" if device else "host_self_ns"]
    if not rows.n:
        return []
    most = int(time.argmax())
    if not time[most]:
        return [over]
    [name] = rows.take(np.array([most])).texts("name")
    where = f"on the {device}" if device else "in operators on the host"
    return [leading_part(name or "", int(time[most]), int(time.sum()), where), over]


def _frame_tree(facts: Facts, used: Array) -> tuple[FrameTree, Array]:
    """The part of the stack tree that some stacks need, and their rows in it, −1 none."""
    stacks = facts["stacks"]
    wanted = mask_of(stacks.n, used[used >= 0])
    rows = np.flatnonzero(with_ancestors(stacks["parent"], wanted))
    number = places_in(stacks.n + 1, rows)
    parent, frame = number[stacks["parent"][rows]].tolist(), stacks["frame"][rows]
    return FrameTree(parent=parent, frame=facts.strings.many(frame)), number[used]
