"""The route of the Efficiency view."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.views.efficiency import efficiency_payload
from torch_tb_profiler.views.efficiency_wire import EfficiencyGroup
from torch_tb_profiler.web import parameters
from torch_tb_profiler.web.insight_host import Insights, opened_insight, selected, send_once
from torch_tb_profiler.web.replies import Handler

_GROUPS: tuple[EfficiencyGroup, ...] = ("operator", "kernel")


def handlers(insights: Insights) -> dict[str, Handler]:
    """Path → handler."""
    return {"/efficiency": lambda request: efficiency(insights, request)}


def efficiency(insights: Insights, request: Request) -> Response:
    """Rates and their shares of the device's peaks in the chosen steps."""
    found = opened_insight(insights, request)
    selection, key = selected(found, request)
    group = parameters.word(request.args, "group", _GROUPS, "operator")
    return send_once(request, found, ("efficiency", group, key), lambda: efficiency_payload(found.opened.facts, found.insight, selection, group))
