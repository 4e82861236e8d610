"""Route ``/diff``."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from torch_tb_profiler.analysis.diff.compare import ChangeTable, compare
from torch_tb_profiler.analysis.diff.compare import Comparison as Comparison
from torch_tb_profiler.analysis.diff.kinds import compared_sides
from torch_tb_profiler.analysis.diff.side import Side, with_repeats
from torch_tb_profiler.analysis.diff.table import DIFF_TREE, change_table, tree_table
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.views.diff import wire
from torch_tb_profiler.views.diff.causes import because, causes_of
from torch_tb_profiler.views.diff.headline import headline
from torch_tb_profiler.views.diff.memory import memory_diff, with_memory
from torch_tb_profiler.views.diff.notes import notes
from torch_tb_profiler.views.diff.verdict import verdict
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.steps import step_columns, subject_of
from torch_tb_profiler.views.words.texts import CATEGORY_LABELS, missing
from torch_tb_profiler.views.words.vocabulary import vocabulary

MOST_ROWS = 500
"""Rows of each table that stand for themselves."""

NO_TREE = wire_columns(DIFF_TREE.build(NO_STRINGS))


class Recording(msgspec.Struct, frozen=True):
    """Where a side comes from, and what its file says of itself (``header``)."""

    run: str
    worker: str
    span: str
    label: str
    header: dict[str, Any]


def compared(
    a: tuple[Facts, Insight, Selection],
    b: tuple[Facts, Insight, Selection],
    traces: tuple[Trace, Trace] | None = None,
) -> Comparison:
    """B compared with A, each with its chosen steps; without steps per unit of work, if ``traces`` show one."""
    before, after, kinds = compared_sides(a, b)
    if traces is not None:
        before, after = with_repeats(before, traces[0]), with_repeats(after, traces[1])
    return compare(before, after, kinds)


def diff_payload(
    both: Comparison, a: Recording, b: Recording, most_rows: int = MOST_ROWS, tree: bool = True
) -> wire.DiffPayload:
    """Everything of the page about two recordings; without ``tree`` that is empty."""
    tables = [(key, both.tables[key]) for key in get_args(wire.ChangeTable) if key in both.tables]
    columns = wire_columns(change_table(both, most_rows, CATEGORY_LABELS))
    judgement = verdict(both)
    has_device = both.a.facts.summary.has_device, both.b.facts.summary.has_device
    wanted = [key for side in (both.a, both.b) for key in absent(side.facts)]
    payload = wire.DiffPayload(
        a=_side(both.a, a, judgement.unit),
        b=_side(both.b, b, judgement.unit),
        headline=headline(both, judgement, _beside(a, b)),
        verdict=msgspec.structs.replace(judgement, because=because(judgement, columns)),
        device_time=both.device,
        causes=causes_of(judgement, columns),
        changes=columns,
        wholes=[_whole(key, table, most_rows) for key, table in tables],
        tree=wire_columns(tree_table(both.tree, has_device)) if tree else NO_TREE,
        tree_pooled=both.tree.pooled if tree else 0,
        notes=notes(both, a.header, b.header),
        missing=missing(wanted, ("device", "host", "steps")),
    )
    return with_memory(payload, memory_diff(both, most_rows))


def _beside(a: Recording, b: Recording) -> tuple[str, str]:
    """The workers of both sides, where one run has both."""
    return (a.worker, b.worker) if a.run == b.run and a.worker != b.worker else ("", "")


def _side(side: Side, recording: Recording, unit: wire.Unit | None) -> wire.DiffSide:
    walls, table = side.walls, side.facts["devices"]
    names = dict.fromkeys(name for name in side.facts.strings.many(table["name"]) if name)
    whose = {"job": recording.run, "recording": recording.span, "ranks": recording.worker}
    subject = subject_of(side.facts, side.steps, **whose)
    return wire.DiffSide(
        subject=msgspec.structs.replace(subject, kind=unit.name) if unit else subject,
        run=recording.run,
        worker=recording.worker,
        span=recording.span,
        label=recording.label,
        device=", ".join(names)
        or (vocabulary(side.facts).device if side.facts.summary.has_device else None),
        step_source=side.facts.summary.step_source,
        steps=step_columns(side.facts, Selection(side.steps, False)),
        selected=side.count,
        mean_ns=round(float(walls.mean())) if len(walls) else None,
        spread_ns=round(float(walls.std(ddof=1))) if len(walls) > 1 else None,
    )


def _whole(key: wire.ChangeTable, table: ChangeTable, most: int) -> wire.ChangeWhole:
    rows = table.changes
    return wire.ChangeWhole(
        table=key,
        time_a_ns=int(rows.time_a.sum()),
        time_b_ns=int(rows.time_b.sum()),
        pooled=max(0, len(rows.a) - most),
    )
