"""The route of the Efficiency view."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.efficiency import efficiency_payload, peaks_version
from torch_tb_profiler.views.efficiency_wire import EfficiencyGroup
from torch_tb_profiler.web import parameters
from torch_tb_profiler.web.insight_host import Insights, opened_insight, selected, send_once
from torch_tb_profiler.web.replies import Handler

_GROUPS: tuple[EfficiencyGroup, ...] = ("operator", "kernel")


def handlers(insights: Insights, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    return {"/efficiency": lambda request: efficiency(insights, settings, request)}


def efficiency(insights: Insights, settings: Settings, request: Request) -> Response:
    """Rates and their shares of the device's peaks in the chosen steps. The user's own peaks count
    as they are now, not as when the trace was read.
    """
    found = opened_insight(insights, request)
    selection, key = selected(found, request)
    group = parameters.word(request.args, "group", _GROUPS, "operator")
    file, limit = settings.peaks, settings.max_table_rows
    return send_once(
        request,
        found,
        ("efficiency", group, key, peaks_version(file)),
        lambda: efficiency_payload(
            found.opened.facts, found.insight, selection, group, limit, file
        ),
    )
