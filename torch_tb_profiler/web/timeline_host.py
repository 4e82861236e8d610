"""What all routes of the timeline share: the asked trace in the asked content, and how a reply
about it may be kept.
"""

from __future__ import annotations

from typing import Protocol

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import Outdated
from torch_tb_profiler.runs.model import Opened, OpenedTimeline, Snapshot
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.web import parameters, replies
from torch_tb_profiler.web.parameters import Query

IMMUTABLE = "private, max-age=31536000, immutable"
"""For replies whose URL names the content: a browser never asks for them again."""
LARGEST_EVENT = (1 << 31) - 1


class Timelines(Protocol):
    """What the timeline's routes need of ``runs``."""

    def snapshot(self) -> Snapshot: ...
    def open(self, run: str, worker: str, span: str) -> Opened: ...
    def timeline(self, run: str, worker: str, span: str) -> OpenedTimeline: ...
    def made_timeline(self, run: str, worker: str, span: str) -> OpenedTimeline | None: ...


def opened_timeline(
    timelines: Timelines, request: Request, *, identified: bool = True
) -> OpenedTimeline:
    """The timeline that ``run``, ``worker`` and ``span`` name; with ``identified`` only in the
    content that ``id`` names.

    Raises:
        BadRequest: a parameter is missing.
        NotFound, NotReady, ImportFailed: there is no such trace, or not yet.
        Outdated: the file changed since.
    """
    run, worker, span = (parameters.text(request.args, name) for name in ("run", "worker", "span"))
    wanted = parameters.text(request.args, "id", longest=64) if identified else ""
    found = timelines.timeline(run, worker, span)
    if identified and found.id != wanted:
        raise Outdated("The trace changed since the page described it.", "Reload the page.")
    return found


def lanes(query: Query, found: OpenedTimeline) -> list[int]:
    """The lanes of the parameter ``lanes``, ascending; all when it is not given.

    Raises:
        BadRequest: a lane does not exist.
    """
    count = found.timeline["lanes"].n
    chosen = parameters.ranges(query, "lanes", count)
    return list(range(count)) if chosen is None else chosen


def event_number(query: Query, name: str) -> int:
    """The event that a parameter names; whether there is such a one is not known here.

    Raises:
        BadRequest: it is missing or no number.
    """
    return parameters.integer(query, name, 0, LARGEST_EVENT)


def immutable(request: Request, payload: Wire) -> Response:
    """JSON that belongs to one content of a trace."""
    return replies.send(request, replies.encode(payload), cache=IMMUTABLE)
