"""The routes of the timeline: its description, names and tiles. Search, areas, arrows and single
events have rooms beside this one.
"""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.tiles import encode_tiles, last_tile, top_level
from torch_tb_profiler.views.timeline import names_payload, timeline_payload
from torch_tb_profiler.web import parameters, question_routes, replies
from torch_tb_profiler.web.replies import Body, Handler
from torch_tb_profiler.web.timeline_host import (
    IMMUTABLE,
    Timelines,
    immutable,
    lanes,
    opened_timeline,
)

MOST_TILES = 64
MOST_CELLS = 1 << 14
"""Tiles times lanes of one request: a page of 1,600 px and a thousand rows needs half of them."""
TILES_TYPE = "application/octet-stream"


def handlers(timelines: Timelines, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""

    def timeline(request: Request) -> Response:
        found = opened_timeline(timelines, request, identified=False)
        body = found.opened.memoise(
            ("timeline", found.id),
            lambda: replies.encode(
                timeline_payload(found.opened.trace, found.opened.facts, found.timeline, found.id)
            ),
        )
        return replies.send(request, body)

    def names(request: Request) -> Response:
        found = opened_timeline(timelines, request)
        first = parameters.integer(
            request.args, "first", 0, max(0, found.timeline["names"].n - 1), 0
        )
        return immutable(request, names_payload(found.opened.trace, found.timeline, first))

    return {
        "/trace/timeline": timeline,
        "/trace/names": names,
        "/trace/tiles": lambda request: _tiles(timelines, request),
        **question_routes.handlers(timelines, settings),
    }


def _tiles(timelines: Timelines, request: Request) -> Response:
    """Binary tiles of one level; ``views/tiles.py`` describes them."""
    found = opened_timeline(timelines, request)
    level = parameters.integer(request.args, "level", 0, top_level(found.timeline))
    numbers = parameters.integers(
        request.args, "k", 0, last_tile(found.timeline, level), MOST_TILES
    )
    chosen = lanes(request.args, found)
    if len(numbers) * len(chosen) > MOST_CELLS:
        raise BadRequest(
            f"{len(numbers)} tiles of {len(chosen)} lanes are asked for, at most {MOST_CELLS} of"
            " one lane are given at once.",
            "Ask for fewer.",
        )
    return replies.send(
        request, Body(encode_tiles(found.timeline, level, numbers, chosen)), TILES_TYPE, IMMUTABLE
    )
