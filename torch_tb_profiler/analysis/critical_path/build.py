"""The tables ``critical_path`` and ``critical_path_steps``: what the end of each step waited for, moment by moment, back to its begin.

::

    thread     [op][launch]··[ op ][ synchronize         ]   ◀─ the step ends here
    stream 7              [  kernel a  ][ kernel b ]
    path       [op][launch][  kernel a  ][ kernel b ][sync.]

The walk stands at the end of a step and asks what ended last and let this go on. On a host thread that
is what the thread did before, back to a call that device work released or to another thread that it
waited for; on the device it is the work before, the launch, or work on another stream. Each answer
charges the time between to one cause, so the causes add up to the wall time of the step by construction.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, picked, sum_by
from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.critical_path.evidence import Evidence
from torch_tb_profiler.analysis.critical_path.origins import (
    lines_of,
    modules_of,
    names_of,
    operators_of,
)
from torch_tb_profiler.analysis.critical_path.walk import NO_CAUSE, Walk
from torch_tb_profiler.analysis.facts.earlier_work import stretches
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, StepRow, Table, is_one_of
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace

LEAST_SHARE = 0.002
"""Work of a name that takes less of all work of a step is not told apart."""


class Walked(msgspec.Struct, frozen=True):
    """The paths of all steps, arrays of shape (segments,) as in the table ``critical_path``; and ``Walk.work``."""

    step: Ints
    start: Ints
    end: Ints
    cause: Array
    event: Ints
    work: tuple[Array, Ints]


def walk_steps(trace: Trace, facts: Facts, evidence: Evidence) -> Walked:
    """The paths of all steps."""
    walk = Walk(trace, facts, evidence)
    paths = [walk.path(StepRow(step)) for step in range(facts["steps"].n)]
    counts = [len(path[0]) for path in paths]
    none = np.zeros(0, np.int64)
    start, end, cause, event = (
        np.concatenate(column) for column in zip((none,) * 4, *paths, strict=True)
    )
    step = np.repeat(np.arange(len(paths)), counts)
    # What the device did there is missing from the trace, so nothing tells what was waited for.
    idle = is_one_of(
        cause, (PathCause.LAUNCH, PathCause.SYNCHRONIZATION, PathCause.BEFORE_RECORDING)
    )
    missing = measure(stretches(facts["unrecorded_work"]), start, end)
    cause = np.where(idle & (2 * missing > end - start), np.uint8(PathCause.NOT_RECORDED), cause)
    return Walked(step, start, end, cause, event, walk.work(trace, facts))


def build_critical_path(
    trace: Trace, facts: Facts, tables: Mapping[str, Table], walked: Walked
) -> dict[str, Table]:
    """The tables ``critical_path``, ``critical_path_steps`` and ``step_work``; ``tables`` has those of paths."""
    segments = (walked.step, walked.start, walked.end, walked.cause, walked.event)
    made = path_tables(trace, facts, tables, *segments)
    return made | {"step_work": _work(trace, facts, *walked.work, made["critical_path"])}


def path_tables(
    trace: Trace,
    facts: Facts,
    tables: Mapping[str, Table],
    step: Array,
    start: Ints,
    end: Ints,
    cause: Array,
    event: Array,
) -> dict[str, Table]:
    """The tables ``critical_path`` and ``critical_path_steps`` of the segments of all steps; ``tables`` has those of
    paths.
    """
    event = event.astype(np.int64)
    keys = {
        "step": step,
        "cause": cause,
        "name": names_of(trace, event),
        "line": lines_of(trace, facts, tables, event),
        "operator": operators_of(trace, facts, event),
        "module": modules_of(tables, event),
        "track": picked(trace["spans"]["track"], event),
    }
    first, group = group_rows(tuple(keys.values()))
    n, time = len(first), end - start
    path = schema.CRITICAL_PATH.build(
        step=step, start=start, end=end, cause=cause, event=event, group=group
    )
    sums = schema.CRITICAL_PATH_STEPS.build(
        **{key: column[first] for key, column in keys.items()},
        time=sum_by(group, n, time),
        segments=np.bincount(group, minlength=n),
        event=event[largest_by(group, n, time)],
    )
    return {"critical_path": path, "critical_path_steps": sums}


def _work(trace: Trace, facts: Facts, cause: Array, time: Ints, path: Table) -> Table:
    event = np.flatnonzero((cause != NO_CAUSE) & (facts["span_links"]["step"] >= 0))
    cause, time = cause[event], time[event]
    step = facts["span_links"]["step"][event]
    on_device = is_one_of(cause, (PathCause.KERNEL, PathCause.MEMCPY, PathCause.MEMSET))
    known = np.flatnonzero(on_device | (cause == PathCause.OPERATOR))
    name = np.full(len(event), -1, np.int32)
    name[known] = operators_of(trace, facts, event[known])
    name = np.where(on_device & (name < 0), names_of(trace, event), name)
    idle = is_one_of(path["cause"], (PathCause.LAUNCH, PathCause.NOT_RECORDED))
    step = np.concatenate((step, path["step"][idle]))
    cause = np.concatenate((cause, path["cause"][idle]))
    time = np.concatenate((time, (path["end"] - path["start"])[idle]))
    name = np.concatenate((name, np.full(int(idle.sum()), -1, np.int32)))
    total = sum_by(step, facts["steps"].n, time)
    first, group = group_rows((step, cause, name))
    time = sum_by(group, len(first), time)
    small = time < LEAST_SHARE * total[step[first]]
    name[first[small]] = -1
    step, cause, name = (column[first] for column in (step, cause, name))
    first, group = group_rows((step, cause, name))
    return schema.STEP_WORK.build(
        step=step[first],
        cause=cause[first],
        name=name[first],
        time=sum_by(group, len(first), time),
    )
