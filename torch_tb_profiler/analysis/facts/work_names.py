"""What names each piece of device work, and what is known of work without an operator."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of, picked, sum_by
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses
from torch_tb_profiler.analysis.facts.flags import Attribution
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.facts.replay_calls import ReplayedCalls, joined
from torch_tb_profiler.analysis.facts.replay_matching import Replays
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

_COMPILED = regex(
    r"triton_|(?:graph_\d+_)?cpp_fused_|CompiledF|Torch-Compiled Region|## Call CompiledFxGraph"
)
"""Kernels that inductor makes are recorded as operators of their name; regions are annotations."""


class WorkNames(msgspec.Struct, frozen=True):
    """``of_node``: uint8 ``Attribution`` of the calls of the call tree, then of replayed calls;
    ``operator``: string number of the operator of every device event, −1 none;
    ``unnamed_steps``: that table; ``counts``: ``{"events", "ns"}`` of all device events by the name of
    their ``Attribution``.
    """

    of_node: Array
    operator: Array
    unnamed_steps: Table
    counts: dict[str, dict[str, int]]


def attribute(
    trace: Trace,
    tree: CallTree,
    caused: DeviceCauses,
    windows: StepWindows,
    replays: Replays,
    replayed: ReplayedCalls,
    texts: StringBuilder,
) -> WorkNames:
    """What names each piece of device work; ``texts`` gets what the page calls work without an
    operator.
    """
    spans, calls = trace["spans"], trace["captured_calls"]
    name = spans["name"][tree.row]
    compiled = name_mask(trace.strings, name, _COMPILED.match)
    of_node = np.where(compiled[name], Attribution.COMPILED, Attribution.LAUNCH).astype(np.uint8)
    operator = np.full(len(caused.row), -1, np.int32)
    how = np.full(len(caused.row), Attribution.NONE, np.uint8)
    launched = np.flatnonzero(caused.operator >= 0)
    operator[launched] = name[caused.operator[launched]]
    how[launched] = of_node[caused.operator[launched]]
    region = _region(trace, tree, caused, windows)
    outside = np.flatnonzero(region >= 0)
    how[outside] = np.where(compiled[region[outside]], Attribution.COMPILED, Attribution.ANNOTATION)
    is_replay = np.flatnonzero((replays.replay >= 0) & (caused.operator < 0))
    how[is_replay], region[is_replay] = Attribution.REPLAY, -1
    captured = np.flatnonzero(replays.captured >= 0)
    how[captured], region[captured] = Attribution.CAPTURE, -1
    scope = nearest(calls["parent"], calls["role"] == Role.ANNOTATION)
    annotated = picked(scope, trace["captured_launches"]["call"][replays.captured[captured]])
    captured, annotated = captured[annotated >= 0], annotated[annotated >= 0]
    how[captured], region[captured] = Attribution.ANNOTATION, calls["name"][annotated]
    within = replayed.around(caused.row)
    again = np.flatnonzero(within >= 0)
    operator[again] = calls["name"][replayed.call[within[again]]]
    how[again] = Attribution.CAPTURE
    return WorkNames(
        joined(of_node, np.full(len(replayed), Attribution.CAPTURE, np.uint8)),
        operator,
        _unnamed(trace, caused, windows, operator, how, _named_rest(how, region, caused, texts)),
        _counts(how, spans["dur"][caused.row]),
    )


def _region(trace: Trace, tree: CallTree, caused: DeviceCauses, windows: StepWindows) -> Array:
    """Name of the innermost annotation around the launch of every device event without an operator,
    −1 none; steps name nothing.
    """
    region = np.full(len(caused.row), -1, np.int32)
    work = np.flatnonzero((caused.launch >= 0) & (caused.operator < 0))
    if not len(work):
        return region
    name = trace["spans"]["name"][tree.row]
    steps = mask_of(len(trace.strings) + 1, windows.name)
    role = trace["spans"]["role"][tree.row]
    annotation = tree.kept & ~tree.is_operator & (role != Role.RUNTIME) & ~steps[name]
    annotation &= tree.names.step[name] < 0
    around = climb(tree.parent, tree.node[caused.launch[work]], annotation)
    region[work] = picked(name, around)
    return region


def _named_rest(how: Array, region: Array, caused: DeviceCauses, texts: StringBuilder) -> Array:
    """What the page calls each piece of device work that has no operator: the region around its
    launch, else what is missing; numbers of strings.
    """
    rest = {
        Attribution.CAPTURE: "captured outside operators",
        Attribution.REPLAY: "graph replay",
        Attribution.NONE: "launched outside operators",
    }
    name: Array = region.copy()
    for kind, text in rest.items():
        chosen = (how == kind) & (region < 0)
        if chosen.any():
            name[chosen] = texts.intern(text)
    unlaunched = (how == Attribution.NONE) & (caused.launch < 0)
    if unlaunched.any():
        name[unlaunched] = texts.intern("no launch recorded")
    return name


def _unnamed(
    trace: Trace,
    caused: DeviceCauses,
    windows: StepWindows,
    operator: Array,
    how: Array,
    region: Array,
) -> Table:
    work = np.flatnonzero(operator < 0)
    step = windows.device_step[work]
    first, group = group_rows((step, how[work], region[work]))
    n = len(first)
    return fact_schema.UNNAMED_STEPS.build(
        attribution=how[work][first],
        name=region[work][first],
        step=step[first],
        events=np.bincount(group, minlength=n),
        device=sum_by(group, n, trace["spans"]["dur"][caused.row[work]]),
    )


def _counts(how: Array, dur: Ints) -> dict[str, dict[str, int]]:
    events = np.bincount(how, minlength=len(Attribution))
    total = sum_by(how.astype(np.int64), len(Attribution), dur)
    return {
        kind.name.lower(): {"events": int(events[kind]), "ns": int(total[kind])}
        for kind in Attribution
    }
