"""What each step did, as its kind is judged by: what it launched, and the time spent on setting up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, places_in
from torch_tb_profiler.analysis.arrays.intervals import measure, union, window_at
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses
from torch_tb_profiler.analysis.facts.host_names import HostNames, spans_named
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.analysis.facts.workload_kind import BACKWARD, BACKWARD_KERNEL
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
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
SETUP_CALLS = regex(
    r"(?:cu|cuda|hip)(?:(?:Module|Library)(?:Load|GetFunction|GetKernel)"
    r"|(?:Mem)?(?:Host|Ext)?(?:Malloc|Alloc|Free|Create|Map|Unmap|Reserve|Address|SetAccess|Release|Init)(?!.*Async)"
    r"|Graph(?:Instantiate|ExecUpdate)|StreamBeginCapture|FuncGetAttributes)"
)
_CODE = regex(
    r"compile_inner|compile_fx|convert_frame|dynamo_timed|backend_compile|aot_autograd|inductor_compile|async_compile"
    r"|cpp_extension|cudagraphify|autotune|do_bench|_find_and_load\b|triton/compiler/|dlopen|PyInit_",
    re.IGNORECASE,
)
"""Calls that compile, load, allocate or tune. What is part of every step counts as none."""
OPTIMIZER = regex(
    r"Optimizer\.step#|aten::_fused_(?:adamw?|sgd|adagrad)_$|.*[\\/]torch[\\/]optim[\\/]\w+\.py\(\d+\): step$"
)
_OPTIMIZER_KERNEL = regex(r"multi_tensor_apply_kernel.*(?:Adam|SGD|Sgd|Lamb|LAMB|Adagrad)")


class StepWork(msgspec.Struct, frozen=True):
    """Of every step, in time order.

    wall: ns, float64 of shape (steps,).
    phase: a number, −1 without one, int64.
    setup: time within calls that compile, load, allocate or tune, ns, float64.
    calls: of operators and kernels, float64 of shape (steps, names).
    time: the same of self time (of communication 0), ns; host and device differ in ``device``.
    sized: calls with the input shapes and grids told apart, shape (steps, shapes).
    device: whether a name is a kernel's, bool of shape (names,).
    shaped: of ``sized`` the operators whose shapes were recorded, and the kernels whose grids were; two masks, bool of
        shape (shapes,).
    products: whether a name is an operator's that multiplies matrices, bool of shape (names,).
    graphs: graph launches, int64 of shape (steps,).
    backward, collectives: whether there are any, bool.
    optimizer: time of its device work, on a host alone of its calls, ns; −1 without one; int64.
    """

    wall: Floats
    phase: Ints
    setup: Floats
    calls: Floats
    time: Floats
    sized: Floats
    device: Array
    shaped: tuple[Mask, Mask]
    products: Mask
    graphs: Ints
    backward: Mask
    collectives: Mask
    optimizer: Ints

    def signs(self) -> tuple[Mask, ...]:
        """What tells steps apart whatever else they call: whether they launch graphs, step an optimizer, differentiate and
        communicate; four masks, bool of shape (steps,).
        """
        return self.graphs > 0, self.optimizer >= 0, self.backward, self.collectives

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
    trace: Trace,
    tables: Mapping[str, Table],
    windows: StepWindows,
    phase: Ints,
    caused: DeviceCauses,
    host_names: HostNames,
) -> StepWork:
    """What steps did; ``tables``: the facts' ``operators``, ``operator_steps``, ``kernels``, ``kernel_steps``."""
    steps = len(windows.start)
    host, device = tables["operator_steps"], tables["kernel_steps"]
    names, kernels = tables["operators"], tables["kernels"]
    called, calls, time = _matrices(
        steps,
        host["step"],
        names["name"][host["operator"]],
        host["calls"],
        host["host_self"] + host["runtime"],
    )
    communication = kernels["communication"][device["kernel"]] != 0
    ran_names, launched, ran = _matrices(
        steps,
        device["step"],
        kernels["name"][device["kernel"]],
        device["calls"],
        np.where(communication, 0, device["total"]),
    )
    first, shaped = group_rows((names["name"].astype(np.int64), names["dims"].astype(np.int64)))
    first_grid, grids = group_rows(
        (kernels["name"].astype(np.int64), kernels["grid"].astype(np.int64))
    )
    shapes, sized = _matrices(steps, host["step"], shaped[host["operator"]], host["calls"])
    on_grid, gridded = _matrices(steps, device["step"], grids[device["kernel"]], device["calls"])
    known = names["dims"][first][shapes] >= 0, kernels["grid"][first_grid][on_grid] >= 0
    eligible = names["matrix_eligible"] == Knowledge.YES
    on_host = np.arange(len(called) + len(ran_names)) < len(called)
    return StepWork(
        windows.length.astype(np.float64),
        phase,
        _setup(trace, windows.start, windows.end),
        np.hstack((calls, launched)),
        np.hstack((time, ran)),
        np.hstack((sized, gridded)),
        ~on_host,
        (
            np.append(known[0], np.zeros_like(known[1])),
            np.append(np.zeros_like(known[0]), known[1]),
        ),
        np.append(np.isin(called, names["name"][eligible]), np.zeros(len(ran_names), np.bool_)),
        *_launches(trace, tables, windows, caused, host_names),
    )


def _launches(
    trace: Trace,
    tables: Mapping[str, Table],
    windows: StepWindows,
    caused: DeviceCauses,
    names: HostNames,
) -> tuple[Ints, Mask, Mask, Ints]:
    """``graphs``, ``backward``, ``collectives`` and ``optimizer`` of ``StepWork``."""
    spans, kernels, steps = trace["spans"], tables["kernel_steps"], len(windows.start)
    role, name = spans["role"], spans["name"]

    def step_of(rows: Ints) -> Array:
        return window_at(windows.host_start, windows.host_end, spans["start"][rows])

    def count(step: Array) -> Ints:
        return np.bincount(step[step >= 0], minlength=steps).astype(np.int64)

    host = role == Role.OPERATOR
    if host.any():
        backward = step_of(np.flatnonzero(spans_named(trace, host, BACKWARD.match)))
    else:
        back = spans_named(trace, role == Role.KERNEL, BACKWARD_KERNEL.search)
        backward = windows.device_step[back[caused.row]]
    collective = step_of(np.flatnonzero(host & names.collective[name]))
    communicates = tables["kernels"]["communication"][kernels["kernel"]] != 0
    return (
        count(step_of(np.flatnonzero((role == Role.RUNTIME) & names.graph_launch[name]))),
        count(backward) > 0,
        count(collective) + count(kernels["step"][communicates]) > 0,
        _optimizer(trace, windows, caused, step_of),
    )


def _optimizer(
    trace: Trace, windows: StepWindows, caused: DeviceCauses, step_of: Callable[[Ints], Array]
) -> Ints:
    spans, steps = trace["spans"], len(windows.start)
    role = spans["role"]
    said = (role == Role.OPERATOR) | (role == Role.ANNOTATION) | (role == Role.PYTHON)
    calls = np.flatnonzero(spans_named(trace, said, OPTIMIZER.match))
    begin = spans["start"][calls]
    when = union(begin, begin + spans["dur"][calls])
    own = spans_named(trace, role == Role.KERNEL, _OPTIMIZER_KERNEL.search)[caused.row]
    own |= window_at(when.start, when.end, caused.time) >= 0
    step = step_of(calls)
    there = np.zeros(steps, np.bool_)
    there[step[step >= 0]] = True
    there[windows.device_step[own & (windows.device_step >= 0)]] = True
    if len(caused.row):
        begin = spans["start"][caused.row[own]]
        when = union(begin, begin + spans["dur"][caused.row[own]])
    return np.where(there, measure(when, windows.start, windows.end), -1)


def _matrices(steps: int, step: Array, key: Array, *values: Array) -> list[Array]:
    """The keys with most of the first value, and sums per step and key, float64 of shape (steps, keys)."""
    inside = np.flatnonzero(step >= 0)
    keys, place = np.unique(key[inside], return_inverse=True)
    most = max(MOST_CELLS // max(steps, 1), 1)
    if len(keys) > most:
        total = np.bincount(place, weights=values[0][inside], minlength=len(keys))
        chosen = np.argsort(-total, kind="stable")[:most]
        position = places_in(len(keys), chosen)
        kept = position[place] >= 0
        inside, place, keys = inside[kept], position[place][kept], keys[chosen]
    cell = step[inside].astype(np.int64) * len(keys) + place
    shape = (steps, len(keys))
    return [
        keys,
        *(
            np.bincount(cell, weights=value[inside], minlength=steps * len(keys)).reshape(shape)
            for value in values
        ),
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
