"""Sums of device work, runtime calls and modules per name and step, which comparisons read."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder


def build_work(
    trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder
) -> tuple[dict[str, Table], dict[str, object]]:
    """The tables ``work``, ``work_steps``, ``work_name_steps``, ``runtime_steps`` and
    ``module_steps``.

    ``tables`` contains those of paths.
    """
    spans, step = trace["spans"], facts["span_links"]["step"]
    row = device_rows(trace)
    path, name, dur = tables["span_paths"]["path"][row], spans["name"][row], spans["dur"][row]
    first, group = group_rows((path, name))
    n = len(first)
    work = schema.WORK.build(
        path=path[first],
        name=name[first],
        calls=np.bincount(group, minlength=n),
        total=sum_by(group, n, dur),
    )
    work_steps = schema.WORK_STEPS.build(**_counted(trace, row, {"step": step[row], "work": group}))
    row = np.flatnonzero(spans["role"] == Role.RUNTIME)
    calls = _counted(trace, row, {"step": step[row], "name": spans["name"][row]})
    return {
        "work": work,
        "work_steps": work_steps,
        "work_name_steps": _work_by_name(work, work_steps),
        "runtime_steps": schema.RUNTIME_STEPS.build(**calls),
        "module_steps": _by_module(tables["paths"], tables["path_steps"]),
    }, {}


def _counted(trace: Trace, row: Ints, keys: dict[str, Array]) -> dict[str, Array]:
    """Count, total and longest event of the given spans for every distinct tuple of the keys."""
    dur = trace["spans"]["dur"][row]
    first, group = group_rows(tuple(keys.values()))
    n = len(first)
    return {
        **{key: values[first] for key, values in keys.items()},
        "calls": np.bincount(group, minlength=n),
        "total": sum_by(group, n, dur),
        "event": row[largest_by(group, n, dur)],
    }


def _work_by_name(work: Table, steps: Table) -> Table:
    name = work["name"][steps["work"]]
    first, group = group_rows((steps["step"], name))
    n = len(first)
    most = largest_by(group, n, steps["total"])
    return schema.WORK_NAME_STEPS.build(
        name=name[first],
        step=steps["step"][first],
        calls=sum_by(group, n, steps["calls"]),
        total=sum_by(group, n, steps["total"]),
        most=steps["total"][most],
        event=steps["event"][most],
    )


def _by_module(paths: Table, steps: Table) -> Table:
    path = steps["path"]
    module = modules_of_paths(paths)[path]
    first, group = group_rows((steps["step"], module))
    n = len(first)
    return schema.MODULE_STEPS.build(
        module=module[first],
        step=steps["step"][first],
        calls=sum_by(group, n, np.where((path >= 0) & (path == module), steps["calls"], 0)),
        host=sum_by(group, n, steps["host_self"] + steps["runtime"]),
        device_self=sum_by(group, n, steps["device_self"]),
    )
