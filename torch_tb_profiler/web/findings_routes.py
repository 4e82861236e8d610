"""The routes of the findings: what costs time that could be had back."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.findings import Source, findings_payload
from torch_tb_profiler.web.insight_host import Handler, Insights, opened_insight, send_once


def handlers(insights: Insights, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""

    def findings(request: Request) -> Response:
        """What costs time that could be had back."""
        found = opened_insight(insights, request)
        return send_once(request, found, "findings", lambda: findings_payload(_source(found), found.insight))

    return {"/findings": findings}


def _source(found: OpenedInsight) -> Source:
    opened = found.opened
    return Source(opened.trace, opened.facts, opened.worker.name, opened.span.name)
