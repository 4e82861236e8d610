"""The routes of the Distributed view: all workers of a run."""

from __future__ import annotations

from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.insight_host import Handler, Insights


def handlers(insights: Insights, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    return {}
