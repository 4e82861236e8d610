"""Everything that is derived from a trace when a view beyond its tables is first requested.

::

    Trace, Facts ─┬─▶ paths (modules, forward and backward) ─┬─▶ device work ────┐
                  │                                          ├─▶ memory ─────────┼─▶ critical path, ranges ─┐
                  │                                          ├─▶ workloads ──────┤                          ├─▶ findings ─▶ Insight
                  │                                          └─▶ counter samples ┘  ┌─▶ what-ifs, slack ────┘
                  └─▶ communication ─▶ who waited for whom ─────────────────────────┘

Two threads work beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from torch_tb_profiler.analysis.arrays.beside import beside
from torch_tb_profiler.analysis.counters.sampled import build_sampled
from torch_tb_profiler.analysis.critical_path.build import Walked, build_critical_path, walk_steps
from torch_tb_profiler.analysis.critical_path.evidence import Evidence, gather
from torch_tb_profiler.analysis.diff.name_sums import build_work
from torch_tb_profiler.analysis.distributed.communication import build_communication
from torch_tb_profiler.analysis.efficiency.device import usable
from torch_tb_profiler.analysis.efficiency.workloads import build_workloads
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.findings.engine import find_findings
from torch_tb_profiler.analysis.memory.build import build_memory
from torch_tb_profiler.analysis.module.paths import build_paths
from torch_tb_profiler.analysis.ranges.build import build_ranges
from torch_tb_profiler.analysis.what_if.changes import PRESETS
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import preset_steps
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.memory import give_back_memory
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder

Report = Callable[[int, "int | None"], None]
Part = Callable[
    [Trace, Facts, dict[str, Table], StringBuilder], tuple[dict[str, Table], dict[str, object]]
]
PARTS = 8


def build_insight(
    trace: Trace, facts: Facts, report: Report | None = None, peaks_file: str = ""
) -> Insight:
    """The insight of a trace; any trace has one, an empty one too.

    report: called with (parts done, total).
    peaks_file: path of the user's own device peaks; an unusable file counts as none, which the
        Efficiency view reports.
    """
    progress = report or (lambda done, total: None)
    texts = StringBuilder()
    tables: dict[str, Table] = {}
    about: dict[str, object] = {}
    tree = call_tree(trace)
    # Each part sees the tables of those before it.
    parts: tuple[Part, ...] = (
        build_communication,
        partial(build_paths, tree=tree),
        build_work,
        partial(build_memory, tree=tree),
        partial(build_workloads, tree=tree),
        build_sampled,
    )
    with beside(trace["spans"].n) as start:
        for done, part in enumerate(parts):
            part_tables, part_about = part(trace, facts, tables, texts)
            tables |= part_tables
            about |= part_about
            if part is build_communication:
                waits = start(_waits, trace, facts, tables["collectives"])
            progress(done + 1, PARTS)
        del tree, parts, part
        evidence, walked = waits()
        give_back_memory()
        presets = texts.intern_all(PRESETS)
        insight = Insight(texts.table(), tables, about)
        simulated = start(_simulated, trace, facts, insight, usable(peaks_file), evidence, presets)
        tables |= build_critical_path(trace, facts, tables, walked)
        tables |= build_ranges(trace, facts, tables["critical_path"])
        del waits, walked
        give_back_memory()
        progress(PARTS - 1, PARTS)
        simulation, what_ifs = simulated()
    tables |= what_ifs
    about["findings"], tables["finding_steps"] = find_findings(simulation)
    progress(PARTS, PARTS)
    return insight


def _waits(trace: Trace, facts: Facts, collectives: Table) -> tuple[Evidence, Walked]:
    evidence = gather(trace, facts, collectives)
    return evidence, walk_steps(trace, facts, evidence)


def _simulated(
    trace: Trace,
    facts: Facts,
    insight: Insight,
    peaks_file: str,
    evidence: Evidence,
    presets: Sequence[int],
) -> tuple[Simulation, dict[str, Table]]:
    simulation = Simulation(trace, facts, insight, peaks_file, evidence)
    return simulation, {
        "what_if_steps": preset_steps(simulation, presets),
        "slack": simulation.slack_table(),
    }
