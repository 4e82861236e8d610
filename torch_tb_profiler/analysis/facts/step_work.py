"""What each step did, as its kind is judged by: calls per name, what was new in it, and the time spent on setting up."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.host_names import spans_named
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

Floats = Array

LEAST_STEPS = 3
"""Fewer steps cannot tell which of them is cold."""
MOST_CELLS = 1_000_000
"""Steps × names that are looked at: of more names those with most calls."""
DOES_ALL = 0.8
"""A step does all that others do when it calls at least this share of it."""
OTHER_SIZE = 0.5
"""A step does work of another size when it calls less than this share of theirs with the same shapes."""
SETUP_CALLS = re.compile(
    r"(?:cu|cuda|hip)(?:(?:Module|Library)(?:Load|GetFunction|GetKernel)"
    r"|(?:Mem)?(?:Host|Ext)?(?:Malloc|Alloc|Free|Create|Map|Unmap|Reserve|Address|SetAccess|Release|Init)(?!.*Async)"
    r"|Graph(?:Instantiate|ExecUpdate)|StreamBeginCapture|FuncGetAttributes)"
)
_CODE = re.compile(
    r"compile_inner|compile_fx|convert_frame|dynamo_timed|backend_compile|aot_autograd|inductor_compile|async_compile"
    r"|cpp_extension|cudagraphify|autotune|do_bench|_find_and_load\b|triton/compiler/|dlopen|PyInit_",
    re.IGNORECASE,
)
"""Calls that compile, load, allocate or tune. What is part of every step counts as none."""


class StepWork(msgspec.Struct, frozen=True):
    """Of every step, in time order.

    wall: ns, float64 of shape (steps,).
    phase: a number, −1 without one, int64.
    setup: time within calls that compile, load, allocate or tune, ns, float64.
    calls: of operators and kernels, float64 of shape (steps, names).
    time: the same of self time (of communication 0), ns; host and device differ in ``device``.
    sized: calls with the input shapes and grids told apart, shape (steps, shapes).
    device: whether a name is a kernel's, bool of shape (names,).
    """

    wall: Floats
    phase: Ints
    setup: Floats
    calls: Floats
    time: Floats
    sized: Floats
    device: Array

    def does_all_of(self, step: int, usual: Ints) -> bool:
        """Whether a step does what some others do, and with the same shapes if those have them in common."""
        if _common(self.calls, step, usual) < DOES_ALL:
            return False
        alike = np.median([_common(self.sized, row, usual) for row in usual[:50].tolist()])
        return bool(alike < DOES_ALL or _common(self.sized, step, usual) >= OTHER_SIZE)

    def known_excess(self, step: int, usual: Ints) -> float:
        """ns by which a step does more than others of what they do too: calls beyond theirs at their pace on the host,
        more time in their kernels on the device; the larger of both.
        """
        usual_calls = np.median(self.calls[usual], axis=0)
        usual_time = np.median(self.time[usual], axis=0)
        pace = usual_time / np.maximum(usual_calls, 1)
        more = np.maximum(self.calls[step] - usual_calls, 0) * pace
        longer = np.where(usual_calls > 0, np.maximum(self.time[step] - usual_time, 0), 0)
        return float(max(more[~self.device].sum(), longer[self.device].sum()))


def _common(calls: Floats, step: int, usual: Ints) -> float:
    """Share of what some steps usually call that a step calls too; 1 where they call nothing."""
    typical = np.median(calls[usual], axis=0)
    total = float(typical.sum())
    return float(np.minimum(calls[step], typical).sum()) / total if total else 1.0


def step_work(
    trace: Trace, tables: Mapping[str, Table], windows: StepWindows, phase: Ints
) -> StepWork:
    """What steps did; ``tables``: the facts' ``operators``, ``operator_steps``, ``kernels``, ``kernel_steps``."""
    steps = len(windows.start)
    host, device = tables["operator_steps"], tables["kernel_steps"]
    names, kernels = tables["operators"], tables["kernels"]
    calls, time = _matrices(
        steps,
        host["step"],
        names["name"][host["operator"]],
        host["calls"],
        host["host_self"] + host["runtime"],
    )
    communication = kernels["communication"][device["kernel"]] != 0
    launched, ran = _matrices(
        steps,
        device["step"],
        kernels["name"][device["kernel"]],
        device["calls"],
        np.where(communication, 0, device["total"]),
    )
    _, shaped = group_rows((names["name"].astype(np.int64), names["dims"].astype(np.int64)))
    _, grids = group_rows((kernels["name"].astype(np.int64), kernels["grid"].astype(np.int64)))
    sized = [
        _matrices(steps, host["step"], shaped[host["operator"]], host["calls"])[0],
        _matrices(steps, device["step"], grids[device["kernel"]], device["calls"])[0],
    ]
    return StepWork(
        windows.length.astype(np.float64),
        phase,
        _setup(trace, windows.start, windows.end),
        np.hstack((calls, launched)),
        np.hstack((time, ran)),
        np.hstack(sized),
        np.arange(calls.shape[1] + launched.shape[1]) >= calls.shape[1],
    )


def _matrices(steps: int, step: Array, key: Array, *values: Array) -> list[Floats]:
    """Sums per step and key, float64 of shape (steps, keys); the keys with most of the first value."""
    inside = np.flatnonzero(step >= 0)
    keys, place = np.unique(key[inside], return_inverse=True)
    most = max(MOST_CELLS // max(steps, 1), 1)
    if len(keys) > most:
        total = np.bincount(place, weights=values[0][inside], minlength=len(keys))
        chosen = np.argsort(-total, kind="stable")[:most]
        position = np.full(len(keys), -1, np.int64)
        position[chosen] = np.arange(most)
        kept = position[place] >= 0
        inside, place, keys = inside[kept], position[place][kept], keys[chosen]
    cell = step[inside].astype(np.int64) * len(keys) + place
    shape = (steps, len(keys))
    return [
        np.bincount(cell, weights=value[inside], minlength=steps * len(keys)).reshape(shape)
        for value in values
    ]


def _setup(trace: Trace, start: Ints, end: Ints) -> Floats:
    """Time of each window in which a call that sets up was running on any thread, ns."""
    if len(start) < LEAST_STEPS:
        return np.zeros(len(start))
    spans = trace["spans"]
    role = spans["role"]
    runtime = role == Role.RUNTIME
    code = is_call(role) & ~runtime | (role == Role.PYTHON)
    chosen = spans_named(trace, runtime, SETUP_CALLS.match) | spans_named(trace, code, _CODE.search)
    row = np.flatnonzero(chosen)
    begin = spans["start"][row]
    return np.asarray(measure(union(begin, begin + spans["dur"][row]), start, end), np.float64)
