"""Route ``/module``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.figures.absent import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.module.modules import (
    ModuleSums,
    ModuleTree,
    module_sums,
    module_tree,
)
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_count
from torch_tb_profiler.views.module_wire import ModuleColumns, ModulePayload, ModuleTotals
from torch_tb_profiler.views.texts import missing, profile_call
from torch_tb_profiler.views.vocabulary import vocabulary
from torch_tb_profiler.views.wire import Missing

MODULES = Missing(
    key="modules",
    what="nn.Modules",
    why=(
        "The trace names no nn.Module: Python frames were not recorded, or what ran is in no"
        " module."
    ),
    call=profile_call("with_stack=True"),
)
_INSTANCE = re.compile(r"(?P<kind>.+)_\d+")
_WRITTEN = re.compile(r"(?P<name>.*)\((?P<kind>[^()]+)\)")


def module_payload(
    facts: Facts, insight: Insight, tree: ModuleTree, selection: Selection
) -> ModulePayload:
    """The modules in the selected steps; ``tree`` is ``module_tree(insight)``."""
    about, paths = insight.about, insight["paths"]
    sums = module_sums(insight, tree, selection)
    has_device = bool(facts.summary["has_device"])
    source = about["module_source"]
    return ModulePayload(
        source=source,
        has_device=has_device,
        has_backward=bool((paths["backward"] == 1).any()),
        has_memory=bool(facts.summary["has_memory"]),
        vocabulary=vocabulary(facts),
        steps=len(selection.steps),
        rows=_columns(facts, insight, tree, sums, has_device),
        totals=_totals(sums, about["backward"]),
        notes=_notes(insight),
        missing=[*missing(absent(facts), ("host", "device")), *([] if source else [MODULES])],
    )


def instance_and_class(name: str) -> tuple[str, str]:
    """What the page calls a module, and its class: ``Linear_0`` is a Linear, ``fc(Linear)`` is
    ``fc``, a Linear. An unknown class is empty.
    """
    if found := _WRITTEN.fullmatch(name):
        return found["name"], found["kind"]
    found = _INSTANCE.fullmatch(name)
    return name, found["kind"] if found else ""


def _columns(
    facts: Facts, insight: Insight, tree: ModuleTree, sums: ModuleSums, has_device: bool
) -> ModuleColumns:
    names = [instance_and_class(name) for name in insight.strings.many(tree.name)]
    nothing: list[Any] = [None] * len(names)

    def known(values: NDArray[np.int64], when: bool) -> list[Any]:
        return values.tolist() if when else nothing

    times = {}
    for (direction, key), values in sums.total.items():
        times[f"{direction}_{key}_total_ns"] = known(values, key == "host" or has_device)
        times[f"{direction}_{key}_self_ns"] = known(
            sums.own[direction, key], key == "host" or has_device
        )
    memory = bool(facts.summary["has_memory"])
    return ModuleColumns(
        parent=tree.parent.tolist(),
        name=[name for name, _ in names],
        kind=[kind for _, kind in names],
        # Texts name the modules that an operator is in, not when one was called.
        calls=known(sums.calls, insight.about["module_source"] != "hierarchy"),
        operators=sums.operators.tolist(),
        allocated_bytes=known(sums.allocated, memory),
        increase_bytes=known(sums.increase, memory),
        event=tree.event.tolist(),
        **times,
    )


def _totals(sums: ModuleSums, backward: dict[str, int]) -> ModuleTotals:
    def inside(key: str) -> int:
        return sum(int(values.sum()) for (_, of), values in sums.own.items() if of == key)

    return ModuleTotals(
        module_host_ns=inside("host"),
        outside_host_ns=sums.outside["host"],
        module_device_ns=inside("device"),
        outside_device_ns=sums.outside["device"],
        unattributed_device_ns=sums.launched_by_none,
        backward_tied=backward["tied"],
        backward_untied=backward["untied"],
        backward_outside=backward["outside"],
    )


def _notes(insight: Insight) -> list[str]:
    about, paths = insight.about, insight["paths"]
    source = about["module_source"]
    backward = paths["backward"] == 1
    notes = []
    if source == "hierarchy":
        notes.append(
            "The modules are those that the operators name (Module Hierarchy); how often a module"
            " was called is not recorded."
        )
    if source == "lightning":
        notes.append("The modules are those that Lightning's profiler recorded.")
    if source and not backward.any():
        notes.append("No backward pass was recorded.")
    if (backward & (paths["kind"] == PathKind.MODULE)).any():
        notes.append(
            "Modules that ran again within the backward pass (activation checkpoints) count as"
            " backward there."
        )
    if about["paths_pooled"]:
        notes.append(
            f"{format_count(about['paths_pooled'])} calls lie too deep or have too many different names; they"
            " count for a call around them."
        )
    return notes


__all__ = ["MODULES", "instance_and_class", "module_payload", "module_tree"]
