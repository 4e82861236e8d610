"""The route of the Counters view."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.counter_tables import counters_table_payload
from torch_tb_profiler.views.efficiency import peaks_version
from torch_tb_profiler.web.insight_host import Insights, opened_insight, selected, send_once
from torch_tb_profiler.web.replies import Handler


def handlers(insights: Insights, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    return {"/counters": lambda request: counters(insights, settings, request)}


def counters(insights: Insights, settings: Settings, request: Request) -> Response:
    """Hardware counters of the chosen steps, and the device's peaks as they are known now."""
    found = opened_insight(insights, request)
    selection, key = selected(found, request)
    trace, facts, limit, file = (
        found.opened.trace,
        found.opened.facts,
        settings.max_table_rows,
        settings.peaks,
    )
    return send_once(
        request,
        found,
        ("counters", key, peaks_version(file)),
        lambda: counters_table_payload(trace, facts, found.insight, selection, limit, file),
    )
