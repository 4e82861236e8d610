"""The routes of figures of selected steps: overview, operators, kernels, efficiency, counters, modules."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Annotated

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.runs.model import Opened, OpenedInsight
from torch_tb_profiler.runs.program_files import ProgramFiles
from torch_tb_profiler.runs.simulations import Simulations
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.tables.registry import OF_A_TRACE, TABLES
from torch_tb_profiler.tables.source import TableSource
from torch_tb_profiler.views import wire
from torch_tb_profiler.views.critical_path.glyph import LaneWork, lane_work
from torch_tb_profiler.views.critical_path.payload import (
    CriticalPathPayload,
    PathGroup,
    PathRowsPayload,
    critical_path_payload,
    path_rows_payload,
)
from torch_tb_profiler.views.critical_path.what_if import WhatIfPayload, what_if_payload
from torch_tb_profiler.views.overview.payload import PROVISIONAL, RankInJob, overview_payload
from torch_tb_profiler.views.source import SourcePayload, path_source
from torch_tb_profiler.views.steps import counted, steps_payload
from torch_tb_profiler.views.table_wire import TablePayload, table_payload
from torch_tb_profiler.views.work import efficiency_wire, module_wire
from torch_tb_profiler.views.work.api_calls import (
    ApiCallsPayload,
    api_calls_payload,
)
from torch_tb_profiler.views.work.callers import callers_payload
from torch_tb_profiler.views.work.counters import (
    CountersTablePayload,
    counters_table_payload,
    measured_counters,
    no_counters,
)
from torch_tb_profiler.views.work.efficiency import efficiency_of, peaks_version
from torch_tb_profiler.views.work.flame import FileFormat, Metric, flame_file, flame_payload
from torch_tb_profiler.views.work.iterations import IterationsPayload, iterations_payload
from torch_tb_profiler.views.work.kernels import kernel_payload
from torch_tb_profiler.views.work.lines import LineGroup, LinesPayload, lines_payload
from torch_tb_profiler.views.work.module import module_payload, module_tree
from torch_tb_profiler.views.work.operators import operator_payload
from torch_tb_profiler.views.work.ranges import RangesPayload, ranges_payload
from torch_tb_profiler.web.downloads import Download, Pieces, stem
from torch_tb_profiler.web.parameters import OneOf, Steps, Switch, Text, Whole, Window, shown
from torch_tb_profiler.web.route import Backend, chosen, route

SERVED = tuple(name for name in OF_A_TRACE if TABLES[name].module)
GROUPED = ("event", "operator", "module", "line", "track")
TREE = OneOf("Frames: modules and operators, or Python source lines.")
_ENDINGS: dict[FileFormat, tuple[str, str]] = {
    "folded": ("ns.folded.txt", "text/plain; charset=utf-8"),
    "speedscope": ("speedscope.json", "application/json"),
}


def _workers(backend: Backend, opened: Opened) -> Hashable:
    """What is known of the others may change while the trace stays the same."""
    return len(opened.beside), opened.worker, opened.run.remarks, opened.run.provisional


def _peaks(backend: Backend, opened: Opened | OpenedInsight) -> Hashable:
    """The user's own peaks as they are now."""
    return peaks_version(backend.settings.peaks)


@route("/steps", report="trace")
def steps_of(opened: Opened, steps: Steps) -> wire.StepsPayload:
    """The steps of a trace."""
    facts = opened.facts
    return steps_payload(facts, chosen(opened, steps), no_counters(opened.trace, facts))


@route("/iterations", report="steps")
def iterations(opened: Opened, steps: Steps) -> IterationsPayload:
    """Iterations of an inference server, their phases compared, and how servers record them."""
    return iterations_payload(opened.facts, chosen(opened, steps))


@route("/overview", also=_workers, report="steps")
def overview(opened: Opened, steps: Steps) -> wire.OverviewPayload:
    """Configuration, steps with their eight categories, the average of the selected steps, the
    figures of each device, defects, and what was not recorded with the call that records it.
    """
    worker, run = opened.worker, opened.run
    remarks = (*run.remarks, *((PROVISIONAL,) if run.provisional else ()))
    known = worker.rank, worker.rank_source, worker.world_size
    place = RankInJob(len(opened.beside), *known, remarks)
    return overview_payload(opened.facts, chosen(opened, steps), place)


@route("/operator", report="steps")
def operator(
    opened: Opened,
    settings: Settings,
    steps: Steps,
    group: Annotated[
        wire.OperatorGroup, OneOf("What a row is one of.", whole_only=("shape", "stack"))
    ] = "name",
) -> wire.OperatorPayload:
    """Operators as columns, the most expensive first, at most ``max_table_rows`` (a setting).
    ``frames``: the tree of the rows' call stacks.
    """
    limit = settings.max_table_rows
    return operator_payload(opened.facts, chosen(opened, steps), group, limit)


# Shapes of operators with thousands of tensors are as long as the longest URLs of browsers.
@route("/callers")
def callers(
    opened: Opened,
    steps: Steps,
    name: Annotated[str, Text("The operator or the full name of the kernel.", longest=1 << 16)],
    of: Annotated[efficiency_wire.EfficiencyGroup, OneOf("What `name` names.")] = "operator",
    shapes: Annotated[
        str | None, Text("Only an operator's calls with these shapes.", longest=1 << 20)
    ] = None,
    library: Annotated[bool, Switch("Also frames of libraries.")] = False,
) -> wire.CallersPayload:
    """Who calls an operator or launches a kernel, as a tree: lines of the program with the modules
    that they call, which are merged where they are alike.
    """
    return callers_payload(opened.facts, chosen(opened, steps), of, name, shapes, library)


@route("/kernel", report="steps")
def kernel(
    opened: Opened,
    settings: Settings,
    steps: Steps,
    group: Annotated[
        wire.KernelGroup,
        OneOf("`operator`: also by operator; `properties`: by operator, grid and block."),
    ] = "name",
) -> wire.KernelPayload:
    """Kernels as columns. ``no_operator`` is a key of ``reasons``. ``attribution`` counts the kernels of the whole trace that
    could be traced to the host.
    """
    facts, selection = opened.facts, chosen(opened, steps)
    measured = measured_counters(opened.trace, facts, selection)
    return kernel_payload(facts, selection, group, settings.max_table_rows, measured)


def _other_ranks(backend: Backend, insight: OpenedInsight) -> Hashable:
    fleet = backend.fleets.already_read(insight.opened)
    return tuple(member.id for member in fleet.members) if fleet else ()


@route("/critical_path", also=_other_ranks, report="steps")
def critical_path(insight: OpenedInsight, fleets: Fleets, steps: Steps) -> CriticalPathPayload:
    """What the ends of the selected steps that means are of (not cold, of one kind, whole) waited for: by kind and by step;
    ``strips`` draw the paths of up to three steps. Once the other ranks of the run are read, waiting for a rank is a kind of its own.
    """
    opened, told = insight.opened, fleets.with_waiting(insight).insight
    selection = counted(opened.facts, chosen(opened, steps))
    return critical_path_payload(opened.facts, told, selection, lambda: lanes_of(insight))


def lanes_of(insight: OpenedInsight) -> LaneWork:
    """What a trace shows of its lanes, kept while it is open."""
    opened = insight.opened
    return opened.memoise(
        (insight.id, "lanes"), lambda: lane_work(opened.trace, opened.facts, insight.insight)
    )


@route("/critical_path/rows", also=_other_ranks, report="steps")
def critical_path_rows(
    insight: OpenedInsight,
    fleets: Fleets,
    settings: Settings,
    steps: Steps,
    by: Annotated[PathGroup, OneOf("What a row is one of.", whole_only=GROUPED)] = "place",
    window: Window | None = None,
) -> PathRowsPayload:
    """The path of those steps, or what of it lies in a window, as a table, the most first. In a
    window ``work_ns`` and ``work_share`` are unknown.
    """
    opened = insight.opened
    selection = counted(opened.facts, chosen(opened, steps))
    return path_rows_payload(
        opened.trace,
        opened.facts,
        fleets.with_waiting(insight).insight,
        selection,
        by,
        window,
        settings.max_table_rows,
    )


def _peaks_and_others(backend: Backend, insight: OpenedInsight) -> Hashable:
    fleet = backend.fleets.already_read(insight.opened)
    return _peaks(backend, insight), fleet and fleet.id


@route("/what_if", also=_peaks_and_others, report="steps")
def what_if(
    insight: OpenedInsight,
    simulations: Simulations,
    fleets: Fleets,
    steps: Steps,
    change: Annotated[
        str,
        Text("Changes as `whatif --change` takes them, separated by semicolons.", longest=1 << 14),
    ] = "",
) -> WhatIfPayload:
    """What a step would take if something in it were different. ``presets``: the usual changes that
    save time, one by one, from what was simulated before; ``catalogue``: every change that there is;
    ``prediction``: all of ``change`` at once, null without any.
    """
    opened, selection = insight.opened, chosen(insight.opened, steps)
    told = fleets.with_waiting(insight)
    simulation = partial(simulations.of, told)
    return what_if_payload(
        opened.span.path,
        opened.facts,
        told.insight,
        selection,
        change,
        simulation,
        lambda: lanes_of(insight),
    )


@route("/efficiency", also=_peaks, report="steps")
def efficiency(
    insight: OpenedInsight,
    settings: Settings,
    steps: Steps,
    group: Annotated[efficiency_wire.EfficiencyGroup, OneOf("What a row is one of.")] = "operator",
) -> efficiency_wire.EfficiencyPayload:
    """FLOPs, bytes, rates and shares of the device's peaks, the largest time first. ``device``: the
    peaks and their sources; ``steps``: the model FLOPs utilization of each step.
    """
    selection, limit = chosen(insight.opened, steps), settings.max_table_rows
    facts = insight.opened.facts
    return efficiency_of(facts, insight.insight, selection, group, limit, settings.peaks)[0]


@route("/counters", also=_peaks, report="steps")
def counters(insight: OpenedInsight, settings: Settings, steps: Steps) -> CountersTablePayload:
    """Hardware counters: ``profiled`` has a row per profiled range, with its launch and the operators
    around it; ``sampled`` the means of counters sampled over time.
    """
    opened, limit = insight.opened, settings.max_table_rows
    return counters_table_payload(
        opened.trace, opened.facts, insight.insight, chosen(opened, steps), limit, settings.peaks
    )


@route("/module", report="steps")
def module(insight: OpenedInsight, steps: Steps) -> module_wire.ModulePayload:
    """The tree of ``nn.Module``s (parents before children) with forward and backward times; ``totals``
    adds up to all device time. ``source``: where the modules are from.
    """
    opened = insight.opened
    tree = opened.memoise((insight.id, "module tree"), lambda: module_tree(insight.insight))
    return module_payload(opened.facts, insight.insight, tree, chosen(opened, steps))


@route("/table", also=_peaks)
def table(
    opened: Opened,
    catalogue: Catalogue,
    settings: Settings,
    steps: Steps,
    name: Annotated[str, OneOf("The table.", words=SERVED)],
    by: Annotated[str, Text("What a row is one of, as in Python; empty: as it is there.")] = "",
) -> TablePayload:
    """A table as Python has it, its columns described, at most ``max_table_rows`` (a setting)."""
    listed = TABLES[name]
    if by and by not in listed.groups:
        expected = ", ".join(listed.groups) or "none"
        raise BadRequest(f"Parameter by is {shown(by)}, expected of {name}: {expected}.")
    source = TableSource(
        opened.trace,
        opened.facts,
        lambda: catalogue.insight(*opened.key).insight,
        chosen(opened, steps),
        settings.peaks,
        opened,
    )
    made = listed.computed(source, **({"by": by} if by else {}))
    return table_payload(made, settings.max_table_rows)


@route("/lines", report="steps")
def lines(
    insight: OpenedInsight,
    settings: Settings,
    steps: Steps,
    group: Annotated[LineGroup, OneOf("Lines of the program alone, or of packages too.")] = "own",
) -> LinesPayload:
    """The line ladder: time on the critical path by call chain; and source lines of the user's own program, those that the steps
    waited for longest first, at most ``max_table_rows`` (a setting).
    """
    opened, limit = insight.opened, settings.max_table_rows
    selection = chosen(opened, steps)
    return lines_payload(opened.trace, opened.facts, insight.insight, selection, group, limit)


@route("/source", kept=False)
def source(insight: OpenedInsight, settings: Settings, steps: Steps) -> SourcePayload:
    """Functions of the line ladder as they stand in the folders of the setting ``SOURCE_FOLDERS``, with their time; nothing is read
    without it.
    """
    opened, selection = insight.opened, chosen(insight.opened, steps)
    read = ProgramFiles.of(settings.source_folders).reader
    return path_source(opened.trace, opened.facts, insight.insight, selection, read)


@route("/ranges", report="steps")
def ranges(insight: OpenedInsight, settings: Settings, steps: Steps) -> RangesPayload:
    """Annotated ranges by name, the busiest on the device first, at most ``max_table_rows`` (a setting)."""
    opened, limit = insight.opened, settings.max_table_rows
    return ranges_payload(opened.facts, insight.insight, chosen(opened, steps), limit)


@route("/api_calls", report="steps")
def api_calls(
    opened: Opened,
    settings: Settings,
    steps: Steps,
    short_ns: Annotated[int, Whole("Kernels below it are short, ns.", 1, 10**9)] = 10_000,
) -> ApiCallsPayload:
    """Calls of the accelerator's runtime and driver by name, the longest ones with their reasons, launch delays and
    short kernels, copies by kind and size.
    """
    return api_calls_payload(
        opened.trace,
        opened.facts,
        chosen(opened, steps),
        settings.max_table_rows,
        short_ns,
        opened.memoise,
    )


@route("/module/flame", report="steps")
def flame(
    insight: OpenedInsight, steps: Steps, tree: Annotated[module_wire.FlameTree, TREE] = "module"
) -> module_wire.FlamePayload:
    """A tree of frames for a flame graph."""
    selection = chosen(insight.opened, steps)
    return flame_payload(insight.opened.facts, insight.insight, selection, tree)


@route("/module/flame/file", kept=False)
def flame_download(
    insight: OpenedInsight,
    steps: Steps,
    tree: Annotated[module_wire.FlameTree, TREE] = "module",
    metric: Annotated[Metric, OneOf("Whose time the values are.")] = "host",
    format: Annotated[FileFormat, OneOf("`folded` is for flamegraph.pl and others.")] = "folded",
) -> Download:
    """All frames as a download, in ns. Device work that no frame launched has a frame of its own."""
    opened, (ending, content_type) = insight.opened, _ENDINGS[format]
    selection = chosen(opened, steps)
    pieces = Pieces(flame_file(opened.facts, insight.insight, selection, tree, metric, format))
    return Download(f"{stem(opened.span.path)}.{tree}.{metric}.{ending}", content_type, pieces)
