"""The route of the one field that answers."""

from __future__ import annotations

from typing import Annotated

from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.tables.ask import ask as asked
from torch_tb_profiler.tables.source import TableSource
from torch_tb_profiler.views.ask.payload import LONGEST_QUESTION, AskPayload
from torch_tb_profiler.web.parameters import Steps, Text
from torch_tb_profiler.web.route import chosen, route


@route("/ask", kept=False)
def ask(
    insight: OpenedInsight,
    catalogue: Catalogue,
    fleets: Fleets,
    settings: Settings,
    steps: Steps,
    q: Annotated[str, Text("Words of names, or a command.", longest=LONGEST_QUESTION)] = "",
) -> AskPayload:
    """What the recording has under some words: what to change, then what costs most on the critical path (lines, operators, kernels,
    calls, modules, ranges, memory), what-ifs, steps, ranks, runs, sections and definitions, with times of the step that
    `/findings` speaks of. Commands: `why 7`, `step 7`, `rank 2`, `vs NAME`, `line 410`, `train.py:410`, `what if …`.
    """
    opened = insight.opened
    fleet = fleets.of(opened) if len(opened.beside) > 1 else None
    read = fleet is None or fleet.complete
    source = TableSource(
        opened.trace,
        opened.facts,
        lambda: insight.insight,
        chosen(opened, steps),
        settings.peaks,
        opened,
        (fleet, fleet.rank_of(opened)) if fleet and read else None,
    )
    return asked(source, q, catalogue.snapshot().runs, reading=not read).payload
