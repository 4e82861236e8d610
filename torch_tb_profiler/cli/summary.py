"""``torch-tb-profiler summary --json``: the facts behind the page. Text says more (``summary_document.py``), and what makes it
takes longer to import than a small trace to read.
"""

from __future__ import annotations

import argparse
from typing import Any

from torch_tb_profiler.cli.document import Document
from torch_tb_profiler.cli.output import Report, identity
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.overview.summary import summary


def report(opened: Opened, settings: Settings, options: argparse.Namespace) -> Report:
    """The facts of one trace as JSON, which has no findings and needs no other trace of the run."""
    return Report(lambda: Document(opened.title), lambda: facts_object(opened))


def facts_object(opened: Opened) -> dict[str, Any]:
    """The object of ``--json`` for one trace."""
    return summary(opened.facts, identity(opened), opened.trace.entries, opened.span.lost or 0)
