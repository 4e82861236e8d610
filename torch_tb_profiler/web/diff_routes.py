"""The routes of the Diff view: two traces beside each other."""

from __future__ import annotations

from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.insight_host import Handler, Insights


def handlers(insights: Insights, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    return {}
