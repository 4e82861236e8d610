"""The table of routes, complete: ``route.py`` says how one is declared."""

from __future__ import annotations

from torch_tb_profiler.runs.alignments import Alignments
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.experiments import Experiments
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.runs.simulations import Simulations
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sql.process import Statements
from torch_tb_profiler.web import (
    ask_routes,
    catalogue_routes,
    diff_routes,
    event_routes,
    figure_routes,
    memory_routes,
    question_routes,
    run_routes,
    sql_routes,
    trace_routes,
)
from torch_tb_profiler.web.replies import Handler
from torch_tb_profiler.web.route import ROUTES, Backend, handler

__all__ = ["ROUTES", "handlers"]
MODULES = (
    catalogue_routes,
    figure_routes,
    memory_routes,
    run_routes,
    ask_routes,
    diff_routes,
    trace_routes,
    question_routes,
    event_routes,
    sql_routes,
)
"""Importing one adds its routes to the table."""


def handlers(catalogue: Catalogue, settings: Settings) -> dict[str, Handler]:
    """What answers each path, over one catalogue."""
    backend = Backend(
        catalogue,
        settings,
        Fleets(catalogue),
        EventTexts(),
        Simulations(settings),
        Statements(),
        Experiments(catalogue),
        Alignments(),
    )
    return {path: handler(route, backend) for path, route in ROUTES.items()}
