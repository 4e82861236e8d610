"""The routes of the Memory view: curve, blocks, statistics, what is alive."""

from __future__ import annotations

from typing import get_args

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.memory import memory_curve_payload, memory_payload, whole_window
from torch_tb_profiler.views.memory_devices import chosen_device
from torch_tb_profiler.views.memory_tables import (
    memory_alive_payload,
    memory_blocks_payload,
    memory_statistics_payload,
)
from torch_tb_profiler.views.memory_wire import MemoryGroup
from torch_tb_profiler.web import parameters
from torch_tb_profiler.web.insight_host import Insights, opened_insight, send_once
from torch_tb_profiler.web.replies import Handler

MOST_BLOCKS = 20_000
"""Blocks of one reply, the largest ones: two megabytes by gzip. A narrower window lists the smaller
ones, too.
"""
MOST_POINTS = 4096
DEFAULT_POINTS = 2048
_MOST_DEVICES = 1 << 16
_GROUPS: tuple[MemoryGroup, ...] = get_args(MemoryGroup)


def handlers(insights: Insights, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    limit = settings.max_table_rows

    def memory(request: Request) -> Response:
        found = opened_insight(insights, request)
        opened = found.opened
        return send_once(
            request,
            found,
            "memory",
            lambda: memory_payload(opened.trace, opened.facts, found.insight),
        )

    def curve(request: Request) -> Response:
        found, device = _asked(insights, request)
        window = parameters.time_window(request.args) or whole_window(
            found.opened.trace, found.opened.facts
        )
        points = parameters.integer(request.args, "n", 8, MOST_POINTS, DEFAULT_POINTS)
        return send_once(
            request,
            found,
            ("memory curve", device, window, points),
            lambda: memory_curve_payload(found.insight, device, window, points),
        )

    def blocks(request: Request) -> Response:
        found, device = _asked(insights, request)
        window = parameters.time_window(request.args)
        most = min(limit, MOST_BLOCKS)
        return send_once(
            request,
            found,
            ("memory blocks", device, window),
            lambda: memory_blocks_payload(found.insight, device, window, most),
        )

    def statistics(request: Request) -> Response:
        found, device = _asked(insights, request)
        window = parameters.time_window(request.args)
        group = parameters.word(request.args, "group", _GROUPS, "operator")
        opened = found.opened
        return send_once(
            request,
            found,
            ("memory statistics", device, window, group),
            lambda: memory_statistics_payload(
                opened.trace, opened.facts, found.insight, device, window, group, limit
            ),
        )

    def alive(request: Request) -> Response:
        found, device = _asked(insights, request)
        given = parameters.optional_text(request.args, "t") is not None
        time = parameters.integer(request.args, "t", 0, parameters.LARGEST_NS) if given else None
        return send_once(
            request,
            found,
            ("memory alive", device, time),
            lambda: memory_alive_payload(found.insight, device, time, limit),
        )

    return {
        "/memory": memory,
        "/memory/curve": curve,
        "/memory/blocks": blocks,
        "/memory/statistics": statistics,
        "/memory/alive": alive,
    }


def _asked(insights: Insights, request: Request) -> tuple[OpenedInsight, int]:
    """The asked trace, and the row of the asked device.

    Raises:
        NotFound: the trace has no such device, or no allocator record.
    """
    given = parameters.optional_text(request.args, "device") is not None
    key = parameters.integer(request.args, "device", 0, _MOST_DEVICES) if given else None
    found = opened_insight(insights, request)
    return found, chosen_device(found.insight, key)
