"""The routes of the Module view: the module tree and its flame graphs."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.flame import FileFormat, Metric, flame_file, flame_payload
from torch_tb_profiler.views.module import module_payload, module_tree
from torch_tb_profiler.views.module_wire import FlameTree
from torch_tb_profiler.web import parameters, replies
from torch_tb_profiler.web.downloads import Pieces
from torch_tb_profiler.web.insight_host import Insights, opened_insight, selected, send_once
from torch_tb_profiler.web.replies import Handler

_TREES: tuple[FlameTree, ...] = ("module", "line")
_METRICS: tuple[Metric, ...] = ("host", "device")
_FORMATS: tuple[FileFormat, ...] = ("folded", "speedscope")
_ENDING: dict[FileFormat, tuple[str, str]] = {
    "folded": ("ns.folded.txt", "text/plain; charset=utf-8"),
    "speedscope": ("speedscope.json", "application/json"),
}


def handlers(insights: Insights, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    return {
        "/module": lambda request: module(insights, request),
        "/module/flame": lambda request: flame(insights, request),
        "/module/flame/file": lambda request: flame_download(insights, request),
    }


def module(insights: Insights, request: Request) -> Response:
    """The modules of the chosen steps."""
    found = opened_insight(insights, request)
    selection, key = selected(found, request)
    tree = found.opened.memoise((found.id, "module tree"), lambda: module_tree(found.insight))
    return send_once(
        request,
        found,
        ("module", key),
        lambda: module_payload(found.opened.facts, found.insight, tree, selection),
    )


def flame(insights: Insights, request: Request) -> Response:
    """The frames of a flame graph."""
    found = opened_insight(insights, request)
    selection, key = selected(found, request)
    tree = parameters.word(request.args, "tree", _TREES, "module")
    return send_once(
        request,
        found,
        ("flame", tree, key),
        lambda: flame_payload(found.opened.facts, found.insight, selection, tree),
    )


def flame_download(insights: Insights, request: Request) -> Response:
    """The same frames as a file."""
    found = opened_insight(insights, request)
    selection, _ = selected(found, request)
    tree = parameters.word(request.args, "tree", _TREES, "module")
    metric = parameters.word(request.args, "metric", _METRICS, "host")
    file_format = parameters.word(request.args, "format", _FORMATS, "folded")
    ending, kind = _ENDING[file_format]
    pieces = Pieces(
        flame_file(found.opened.facts, found.insight, selection, tree, metric, file_format)
    )
    return replies.stream(
        pieces, kind, parameters.headers_of(f"{_stem(found)}.{tree}.{metric}.{ending}")
    )


def _stem(found: OpenedInsight) -> str:
    return (
        found.opened.span.path.replace("\\", "/")
        .rpartition("/")[2]
        .partition(".json")[0]
        .removesuffix(".pt.trace")
    )
