"""``torch-tb-profiler summary``: the facts behind the page, for people, tests and CI."""

from __future__ import annotations

import argparse
from typing import Any

from torch_tb_profiler.cli.findings import found_in
from torch_tb_profiler.cli.output import Told, tell
from torch_tb_profiler.cli.summary_document import summary_document
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.overview import Place, overview_payload
from torch_tb_profiler.views.steps import choose
from torch_tb_profiler.views.summary import Identity, summary


def run(options: argparse.Namespace) -> int:
    """Print every trace at a path; the exit code. Raises as ``output.tell`` does."""
    return tell(options, about)


def about(opened: Opened, settings: Settings) -> Told:
    """The facts of one trace."""
    worker = opened.worker
    place = Place(len(opened.run.beside(worker)), worker.rank, worker.rank_source, worker.world_size)
    return Told(
        lambda: summary_document(opened, facts_object(opened), overview_payload(opened.facts, choose(opened.facts), place), found_in(opened, settings)),
        lambda: facts_object(opened),
    )


def facts_object(opened: Opened) -> dict[str, Any]:
    """The object of ``--json`` for one trace."""
    lost = opened.span.lost or 0
    return summary(opened.facts, Identity(opened.run.name, opened.worker.name, opened.span.name, opened.span.path, opened.trace.entries, lost))
