"""Route ``/module``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.module.modules import (
    ModuleSums,
    ModuleTree,
    largest,
    module_sums,
    module_tree,
)
from torch_tb_profiler.analysis.module.named_modules import GRAPH
from torch_tb_profiler.analysis.module.table import module_table
from torch_tb_profiler.store.columns import unique_values
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_count, format_ns
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.steps import leading_part, summed_over
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary
from torch_tb_profiler.views.work.module_wire import ModulePayload, ModuleTotals

MOST_MODULES = 10_000
"""Modules of a reply; those with the least time are summed."""


def module_payload(
    facts: Facts, insight: Insight, tree: ModuleTree, selection: Selection
) -> ModulePayload:
    """The modules in the selected steps; ``tree`` is ``module_tree(insight)``."""
    about, paths = insight.about, insight["paths"]
    sums = module_sums(insight, tree, selection)
    cut = largest(tree, sums, MOST_MODULES)
    if cut is not tree:
        tree, sums = cut, module_sums(insight, cut, selection)
    has_device = facts.summary.has_device
    source = about["module_source"]
    words, totals = vocabulary(facts), _totals(sums, about["backward"])
    rows = module_table(facts, insight, tree, sums)
    return ModulePayload(
        source=source,
        has_device=has_device,
        has_backward=bool((paths["backward"] == 1).any()),
        vocabulary=words,
        sentences=[
            *_leading_class(rows, totals, words.device if has_device else ""),
            summed_over(facts, selection),
        ]
        if rows.n
        else [],
        rows=wire_columns(rows),
        totals=totals,
        notes=_notes(insight),
        missing=missing(
            (*absent(facts), *(() if source else ("modules",))), ("host", "device", "modules")
        ),
    )


def _leading_class(rows: DisplayTable, totals: ModuleTotals, device: str) -> Iterator[str]:
    """Modules of which class take most themselves, of the accelerator's time, of the host's where ``device`` is empty."""
    side = "device" if device else "host"
    whole = totals.module_device_ns + totals.outside_device_ns + totals.unattributed_device_ns
    if not device:
        whole = totals.module_host_ns + totals.outside_host_ns
    own = rows[f"forward_{side}_self_ns"] + rows[f"backward_{side}_self_ns"]
    time: Counter[str] = Counter()
    # A class that is not known is like no other.
    kinds = [
        kind or name or "" for kind, name in zip(*map(rows.texts, ("kind", "name")), strict=True)
    ]
    for kind, taken in zip(kinds, own.tolist(), strict=True):
        time[kind] += taken
    [(kind, most)] = time.most_common(1)
    count, where = kinds.count(kind), f"on the {device or 'host'}"
    if not most:
        yield f"No module is known for the {format_ns(whole)} {where}."
    elif count == 1:
        name = rows.texts("name")[kinds.index(kind)]
        yield leading_part(f"{name} itself", most, whole, where)
    else:
        of_class = f"The {format_count(count)} {kind} modules themselves take"
        yield f"{of_class} {format_ns(most)} of {format_ns(whole)} {where}."


def _totals(sums: ModuleSums, backward: dict[str, int]) -> ModuleTotals:
    def inside(key: str) -> int:
        return sum(int(values.sum()) for (_, sum_key), values in sums.own.items() if sum_key == key)

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


def _reruns(insight: Insight) -> bool:
    """Whether modules ran again in the backward pass; the graphs of torch.compile run only there."""
    paths = insight["paths"]
    again = (paths["backward"] == 1) & (paths["kind"] == PathKind.MODULE)
    names = insight.strings.many(unique_values(paths["name"][again]))
    return any(not name.startswith(GRAPH) for name in names)


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
    if source == "compiled":
        notes.append(
            "The modules are the regions and graphs of torch.compile; no module of the program was"
            " recorded."
        )
    if _reruns(insight):
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


__all__ = ["module_payload", "module_tree"]
