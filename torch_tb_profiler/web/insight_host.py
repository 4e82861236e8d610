"""What all routes over insights share: the asked trace with its insight, and payloads of it that
are made once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.model import Opened, OpenedInsight, Snapshot
from torch_tb_profiler.views.steps import Selection, choose
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.web import parameters, replies


class Insights(Protocol):
    """What these routes need of ``runs``."""

    def snapshot(self) -> Snapshot: ...
    def open(self, run: str, worker: str, span: str) -> Opened: ...
    def insight(self, run: str, worker: str, span: str) -> OpenedInsight: ...
    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float: ...


def opened_insight(insights: Insights, request: Request) -> OpenedInsight:
    """The insight of the trace that ``run``, ``worker`` and ``span`` name.

    Raises:
        BadRequest: a parameter is missing.
        NotFound, NotReady, ImportFailed: there is no such trace, or not yet.
    """
    run, worker, span = (parameters.text(request.args, name) for name in ("run", "worker", "span"))
    return insights.insight(run, worker, span)


def selected(found: OpenedInsight, request: Request) -> tuple[Selection, str]:
    """The chosen steps of the request, and a text that differs for every other choice."""
    steps = parameters.step_range(request.args)
    return choose(found.opened.facts, steps.first, steps.last, steps.skip_cold), steps.key


def send_once(
    request: Request, found: OpenedInsight, key: Hashable, payload: Callable[[], Wire]
) -> Response:
    """A payload of one trace, made once per ``key``."""
    body = found.opened.memoise((found.id, key), lambda: replies.encode(payload()))
    return replies.send(request, body)
