"""The routes of the timeline: its description, names and tiles. Search, areas, arrows and single events have rooms beside this one."""

from __future__ import annotations

from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.timeline_host import Handler, Timelines


def handlers(timelines: Timelines, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    return {}
