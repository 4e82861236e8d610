"""The tables of steps, ranges, modules, source lines and compiled code."""

from __future__ import annotations

from torch_tb_profiler.analysis.compiled.calls import COMPILED, compiled_table
from torch_tb_profiler.analysis.compiled.compilations import compilation_table
from torch_tb_profiler.analysis.figures.iterations import ITERATIONS, iteration_table
from torch_tb_profiler.analysis.figures.source_lines import LineGroup
from torch_tb_profiler.analysis.figures.step_table import STEPS, step_table
from torch_tb_profiler.analysis.module.ladder import LADDER
from torch_tb_profiler.analysis.module.ladder import line_ladder as rungs_of
from torch_tb_profiler.analysis.module.modules import module_sums, module_tree
from torch_tb_profiler.analysis.module.own_lines import LINES, own_lines
from torch_tb_profiler.analysis.module.table import MODULES, module_table
from torch_tb_profiler.analysis.ranges.table import RANGES, range_table
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.tables.source import TableSource, computes
from torch_tb_profiler.views.overview.scalars import SCALARS, scalar_table


@computes(STEPS)
def steps(of: TableSource) -> DisplayTable:
    """Steps with their times by category."""
    return step_table(of.facts, of.selection).take(of.selection.steps)


@computes(SCALARS)
def scalars(of: TableSource) -> DisplayTable:
    """What a curve over the steps of a program shows, a row per step."""
    return scalar_table(of.trace, of.facts, of.insight, of.selection, of.peaks)


@computes(ITERATIONS)
def iterations(of: TableSource) -> DisplayTable:
    """Iterations of an inference server: phase, requests and tokens of each kind, batch, times, and the part of
    the recording (``ramp-up``, ``steady``, ``ramp-down``).
    """
    return iteration_table(of.facts, of.selection)


@computes(LINES)
def lines(of: TableSource, by: LineGroup = "own") -> DisplayTable:
    """Source lines of the user's own program, or by ``"package"`` of that and of packages: time on the critical path, in
    Python, in operators and on the device. Needs ``with_stack=True``.
    """
    return own_lines(of.trace, of.facts, of.insight, of.selection, by)


@computes(LADDER)
def line_ladder(of: TableSource) -> DisplayTable:
    """Time on the critical path by call chain: where it splits, a chain that keeps 95 % of its time being one row. Of Python
    lines; without ``with_stack=True`` of modules, annotations and operators.
    """
    return rungs_of(of.trace, of.facts, of.insight, of.selection)


@computes(RANGES)
def ranges(of: TableSource) -> DisplayTable:
    """Annotated ranges (``record_function``, NVTX, ``gpu_user_annotation``) by name, the busiest on the device first."""
    return range_table(of.facts, of.insight, of.selection)


@computes(COMPILED)
def compiled(of: TableSource) -> DisplayTable:
    """What torch.compile made and called: the operators that each kernel fuses, its graph and region.
    ``attrs["compilations"]``: what was compiled, and how long that took.
    """
    return compiled_table(of.trace, of.facts, of.selection).with_attributes(
        compilations=compilation_table(of.trace, of.facts, of.selection)
    )


@computes(MODULES)
def modules(of: TableSource) -> DisplayTable:
    """The tree of ``nn.Module``s with host and device time, forward and backward."""
    tree = module_tree(of.insight)
    return module_table(of.facts, of.insight, tree, module_sums(of.insight, tree, of.selection))
