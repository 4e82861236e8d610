"""The table of modules."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import depths
from torch_tb_profiler.analysis.module.modules import DIRECTIONS, ModuleSums, ModuleTree
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.display import (
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    display_columns,
    known,
)
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

_C = DisplayColumn
_PARTS = {"total": ("including", ""), "self": ("excluding", " self")}


def _time(direction: str, side: str, part: str) -> DisplayColumn:
    how, suffix = _PARTS[part]
    where = "{device}" if side == "device" else "host"
    return _C(
        f"{direction}_{side}_{part}_ns",
        "time",
        f"{direction.capitalize()} {where}{suffix}",
        f"{side.capitalize()} time of its {direction}, {how} the modules inside it.",
        f"module_{direction}_{side}_{part}",
        optional=side == "device",
        bar=True,
    )


_ALLOCATED = "Allocated by itself."
_INCREASE = "Allocated minus released by itself."
MODULES = DisplaySpec(
    "modules",
    "One row per `nn.Module`, parents before children.",
    (
        *display_columns("""
    module     id     -          unsent                                 Number of the row.
    parent     row    -          unit=row                               The module around it.
    depth      count  -          unit=modules unsent                    How many modules are around it.
    path       code   -          unsent                                 Names from the outermost module to it, with `/` between.
    name       code   Module     term=module_name width=210             The instance, e.g. `Linear_0`.
    kind       code   Class      term=module_class width=120 hidden     Its class.
    calls      count  Calls      term=module_calls optional unit=calls  Calls of its forward.
    operators  count  Operators  term=module_operators unit=calls       Calls of operators that it makes itself, forward.
"""),
        *(
            _time(direction, side, part)
            for direction in DIRECTIONS
            for side in ("device", "host")
            for part in _PARTS
        ),
        _C("allocated_bytes", "bytes", "Allocated", _ALLOCATED, "module_allocated", True),
        _C("increase_bytes", "delta bytes", "Memory increase", _INCREASE, "module_increase", True),
        _C("event", "row", "", "Its longest forward call."),
    ),
)
"""Sums over the selected steps. Self time is that of the module's own code and of the operators that it calls. Backward is
what undoes the module's operators, and the module's reruns within the backward pass.
"""
OTHERS = "other modules"
"""The name of what stands for modules that were left out."""
_INSTANCE = regex(r"(?P<kind>.+)_\d+")
_WRITTEN = regex(r"(?P<name>.*)\((?P<kind>[^()]+)\)")


def module_table(
    facts: Facts, insight: Insight, tree: ModuleTree, sums: ModuleSums
) -> DisplayTable:
    """One row per module of ``tree``; unknown is what the recording does not hold."""
    n = len(tree.parent)
    named = zip(insight.strings.many(tree.name), tree.name.tolist(), strict=True)
    names = [instance_and_class(name) if text >= 0 else (OTHERS, "") for name, text in named]
    device, memory = facts.summary.has_device, facts.summary.has_memory
    paths: list[str] = []
    for above, (name, _) in zip(tree.parent.tolist(), names, strict=True):
        paths.append(f"{paths[above]}/{name}" if above >= 0 else name)
    times = {
        f"{direction}_{side}_{part}_ns": known(values, side == "host" or device)
        for part, by in (("total", sums.total), ("self", sums.own))
        for (direction, side), values in by.items()
    }
    return MODULES.build(
        insight.strings,
        module=np.arange(n),
        parent=tree.parent,
        depth=depths(tree.parent),
        path=paths,
        name=[name for name, _ in names],
        kind=[kind for _, kind in names],
        # Texts name the modules that an operator is in, not when one was called.
        calls=known(sums.calls, insight.about["module_source"] != "hierarchy"),
        operators=sums.operators,
        **times,
        allocated_bytes=known(sums.allocated, memory),
        increase_bytes=sums.increase if memory else [None] * n,
        event=tree.event,
    )


def instance_and_class(name: str) -> tuple[str, str]:
    """What the page calls a module, and its class: ``Linear_0`` is a Linear, ``fc(Linear)`` is
    ``fc``, a Linear. An unknown class is empty.
    """
    if written := _WRITTEN.fullmatch(name):
        return written["name"], written["kind"]
    instance = _INSTANCE.fullmatch(name)
    return name, instance["kind"] if instance else ""
