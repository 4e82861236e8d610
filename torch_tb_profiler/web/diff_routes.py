"""The routes of the Diff view: two traces beside each other."""

from __future__ import annotations

from collections.abc import Callable

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.diff import Recording, compared, diff_payload
from torch_tb_profiler.views.diff_file import DiffFormat, diff_csv, diff_markdown
from torch_tb_profiler.views.diff_wire import DiffPayload
from torch_tb_profiler.views.steps import choose
from torch_tb_profiler.web import parameters, replies
from torch_tb_profiler.web.insight_host import Insights
from torch_tb_profiler.web.replies import Body, Handler

SECOND = "2"
"""Stands behind the names of the parameters of side B."""
_FORMATS: tuple[DiffFormat, ...] = ("csv", "markdown")
_FILES: dict[DiffFormat, tuple[str, str, Callable[[DiffPayload], str]]] = {
    "csv": ("csv", "text/csv; charset=utf-8", diff_csv),
    "markdown": ("md", "text/markdown; charset=utf-8", diff_markdown),
}


def handlers(insights: Insights, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    return {
        "/diff": lambda request: diff(insights, request),
        "/diff/file": lambda request: diff_file(insights, request),
    }


def diff(insights: Insights, request: Request) -> Response:
    """B compared with A."""
    a, key, payload = _asked(insights, request)
    return replies.send(request, a.opened.memoise((a.id, *key), lambda: replies.encode(payload())))


def diff_file(insights: Insights, request: Request) -> Response:
    """The same as a file."""
    chosen = parameters.word(request.args, "format", _FORMATS, "csv")
    a, key, payload = _asked(insights, request)
    ending, kind, write = _FILES[chosen]
    body = a.opened.memoise(
        (a.id, chosen, *key), lambda: Body(write(payload()).encode("utf-8", "replace"))
    )
    return replies.send(request, body, kind, headers=parameters.headers_of(f"diff.{ending}"))


def _asked(
    insights: Insights, request: Request
) -> tuple[OpenedInsight, tuple[str, ...], Callable[[], DiffPayload]]:
    """Side A, what tells this comparison from others of it, and how it is made.

    Raises:
        BadRequest: a parameter is missing or wrong.
        NotFound, NotReady, ImportFailed: one of the traces does not exist or is not there yet.
    """
    args = request.args
    names = [
        [parameters.text(args, name + suffix) for name in ("run", "worker", "span")]
        for suffix in ("", SECOND)
    ]
    steps = [parameters.step_range(args, suffix) for suffix in ("", SECOND)]
    # Both are asked for before the first is waited for, so that they are made side by side.
    for name in names:
        insights.ask_insight(*name)
    a, b = (insights.insight(*name) for name in names)
    selections = [
        choose(one.opened.facts, s.first, s.last, s.skip_cold, f"steps{suffix}")
        for one, s, suffix in zip((a, b), steps, ("", SECOND), strict=True)
    ]

    def payload() -> DiffPayload:
        found = compared(
            (a.opened.facts, a.insight, selections[0]), (b.opened.facts, b.insight, selections[1])
        )
        return diff_payload(found, _recording(a), _recording(b))

    return a, ("diff", steps[0].key, b.id, *names[1], steps[1].key), payload


def _recording(found: OpenedInsight) -> Recording:
    opened = found.opened
    label = " · ".join(
        part for part in (opened.run.name, opened.worker.name, opened.span.label) if part
    )
    return Recording(
        opened.run.name, opened.worker.name, opened.span.name, label, opened.trace.header
    )
