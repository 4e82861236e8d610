"""A route is a function under ``@route``; its signature is its declaration. The types of its first
arguments say what must be open (``Opened``, ``OpenedInsight``, ``OpenedTimeline``, ``Pair``) and what
else it needs (any field of ``Backend``); every other argument is a parameter of its kind (``parameters.py``); what it
returns is the payload: a wire type, bytes, or a ``Download``.

``ROUTES`` is the table of all. The dispatcher below, the errors of parameters, the page's types and
limits, ``docs/http_api.md``, the report's questions and the contract test follow from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import NotReady, Outdated, SidecarError
from torch_tb_profiler.runs.alignments import Alignments
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.experiments import Experiments
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.runs.memo import expect_readable
from torch_tb_profiler.runs.model import Opened, OpenedInsight, OpenedTimeline
from torch_tb_profiler.runs.simulations import Simulations
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sql.process import Statements
from torch_tb_profiler.views.steps import Selection, choose, of_whom
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.web import replies
from torch_tb_profiler.web.downloads import Download
from torch_tb_profiler.web.parameters import REQUIRED, Entry, Kind, OfTrace, StepRange, Text
from torch_tb_profiler.web.replies import Body

IMMUTABLE = "private, max-age=31536000, immutable"
"""For replies whose URL names the content."""
BYTES_TYPE = "application/octet-stream"

Report = Literal["", "logdir", "trace", "steps", "device"]
"""What a report asks a route for: nothing, once, each trace, each step, each memory device."""
Function = TypeVar("Function", bound=Callable[..., Any])


class Pair(NamedTuple):
    """Two traces with their insights, to be compared."""

    a: OpenedInsight
    b: OpenedInsight

    def is_later_first(self) -> bool:
        """Whether B was recorded before A; false where that is not known."""
        begin, end = self.a.opened.span.begin, self.b.opened.span.end
        return begin is not None and end is not None and end <= begin


class Backend(msgspec.Struct, frozen=True):
    """What routes are answered from."""

    catalogue: Catalogue
    settings: Settings
    fleets: Fleets
    texts: EventTexts
    simulations: Simulations
    statements: Statements
    experiments: Experiments
    alignments: Alignments


TRACE = {
    "run": Text("The run's name in `/runs`."),
    "worker": Text("The worker's name in the run."),
    "span": Text("The span's name at the worker."),
}
SECOND = {f"{name}2": Text(f"The {name} of side B.") for name in TRACE}
CONTENT = {"id": Text("The content of the file, from `/trace/timeline`.", longest=64)}


class Parameter(NamedTuple):
    """An argument of a route's function that is read from the query."""

    kind: Kind
    default: object = REQUIRED


class Route(msgspec.Struct, frozen=True):
    """One route. ``opens``: the type of what must be open; ``places``: the parameters that name it.
    ``kept``: answers may be reused. ``also``: what an answer depends on besides content and parameters,
    None: it may not be reused. ``limits``: limits for the page beyond those of single parameters.
    """

    path: str
    function: Callable[..., Any]
    parameters: Mapping[str, Parameter]
    opens: type | None
    places: Mapping[str, Text]
    answers: type
    kept: bool
    also: Callable[[Backend, Any], Hashable]
    report: Report
    limits: Mapping[str, int]
    handed: Mapping[str, type]

    @property
    def immutable(self) -> bool:
        """Whether browsers may cache answers for ever."""
        return self.kept and "id" in self.places

    def entries(self) -> list[tuple[Entry, object]]:
        """Every name of the query with its default."""
        places = {name: Parameter(kind) for name, kind in self.places.items()}
        return [
            (entry, parameter.default)
            for name, parameter in {**places, **self.parameters}.items()
            for entry in parameter.kind.entries(name)
        ]


ROUTES: dict[str, Route] = {}
"""All routes by path; complete when ``route_table.py`` is imported."""
_HANDED = {kind: name for name, kind in get_type_hints(Backend).items()}
_OPENED = (Opened, OpenedInsight, OpenedTimeline, Pair)


def route(
    path: str,
    *,
    identified: bool = True,
    kept: bool = True,
    also: Callable[[Backend, Any], Hashable] = lambda backend, opened: (),
    report: Report = "",
    limits: Mapping[str, int] | None = None,
) -> Callable[[Function], Function]:
    """Add a function to the table. ``identified``: a timeline is requested with its ``id``.

    Raises:
        TypeError: an argument is neither open, nor handed in, nor of a kind.
    """

    def put(function: Function) -> Function:
        hints = get_type_hints(function, include_extras=True)
        answers = hints.pop("return")
        parameters, handed, opens = {}, {}, None
        for name, argument in inspect.signature(function).parameters.items():
            hint = hints[name]
            if hint in _HANDED or hint in _OPENED:
                handed[name] = hint
                opens = hint if hint in _OPENED else opens
            else:
                default = REQUIRED if argument.default is argument.empty else argument.default
                parameters[name] = Parameter(_kind(hint, f"{path}: {name}"), default)
        places = {} if opens is None else {**TRACE, **(SECOND if opens is Pair else {})}
        if opens is OpenedTimeline and identified:
            places |= CONTENT
        kept_here = kept and opens is not None
        what = (path, function, parameters, opens, places, answers)
        ROUTES[path] = Route(*what, kept_here, also, report, limits or {}, handed)
        return function

    return put


def _kind(hint: Any, where: str) -> Kind:
    """The kind in an annotation; an optional one is inside a union."""
    for part in (hint, *get_args(hint)):
        for kind in getattr(part, "__metadata__", ()):
            if isinstance(kind, Kind):
                literal = get_origin(part.__origin__) is Literal
                return replace(kind, words=get_args(part.__origin__)) if literal else kind
    raise TypeError(f"{where} is of no kind of web/parameters.py")


def handler(route: Route, backend: Backend) -> replies.Handler:
    """What answers requests for a route."""
    content_type = BYTES_TYPE if route.answers is bytes else "application/json"

    def answer(request: Request) -> Response:
        try:
            with expect_readable():
                return answered(request)
        except SidecarError as damage:
            raise NotReady(
                f"What was kept of the trace is made again: {damage.message}",
                "Wait a moment.",
                progress=0.0,
            ) from damage

    def answered(request: Request) -> Response:
        names = [kind.read(request.args, name) for name, kind in route.places.items()]
        values = _read(route, request.args, {})
        opened = _open(route, backend, names)
        values = _read(route, request.args, values, opened)
        handed = {
            name: opened if hint in _OPENED else getattr(backend, _HANDED[hint])
            for name, hint in route.handed.items()
        }

        def make() -> Body | Download:
            payload = route.function(**handed, **values)
            # Of two traces each side has a subject of its own.
            if route.places.keys() >= TRACE.keys() and not isinstance(opened, Pair):
                run, worker, span = names[:3]
                payload = of_whom(payload, run, span, worker)
            return _encoded(payload)

        also = route.also(backend, opened) if route.kept and not route.immutable else None
        if also is None:
            result = make()
        else:
            traces: tuple[Any, ...] = opened if isinstance(opened, Pair) else (opened,)
            content = tuple(getattr(side, "id", "") for side in traces)
            first: Opened = getattr(traces[0], "opened", traces[0])
            result = first.memoise((route.path, content, *names, *values.values(), also), make)
        if isinstance(result, Download):
            return result.response(request)
        cache = IMMUTABLE if route.immutable else "no-cache"
        return replies.send(request, result, content_type, cache=cache)

    return answer


def _read(
    route: Route, query: MultiDict[str, str], values: dict[str, Any], opened: Any = None
) -> dict[str, Any]:
    """Values of parameters whose limits need no trace; with a trace the others, too."""
    for name, parameter in route.parameters.items():
        kind, limit = parameter.kind, parameter.kind.highest
        if isinstance(limit, OfTrace):
            if opened is None:
                continue
            kind = replace(kind, highest=limit.limit(opened, values))
        elif opened is not None:
            continue
        values[name] = kind.read(query, name, parameter.default)
    return values


def _open(route: Route, backend: Backend, names: list[str]) -> Any:
    """What must be open.

    Raises:
        NotFound, NotReady, ImportFailed: there is no such trace, or not yet.
        Outdated: the file changed since.
    """
    catalogue, place = backend.catalogue, (*names[:3],)
    if route.opens is Opened:
        return catalogue.open(*place)
    if route.opens is OpenedInsight:
        return catalogue.insight(*place)
    if route.opens is Pair:
        # Both are requested before waiting, so that they are made in parallel.
        places = (place, (*names[3:],))
        for trace in places:
            catalogue.ask_insight(*trace)
        return Pair(*(catalogue.insight(*trace) for trace in places))
    if route.opens is OpenedTimeline:
        opened = catalogue.timeline(*place)
        if "id" in route.places and opened.id != names[3]:
            raise Outdated("The trace changed since the page described it.", "Reload the page.")
        return opened
    return None


def _encoded(payload: Wire | bytes | Body | Download) -> Body | Download:
    if isinstance(payload, Wire):
        return replies.encode(payload)
    return Body(payload) if isinstance(payload, bytes) else payload


def chosen(opened: Opened, steps: StepRange) -> Selection:
    """The steps of a request.

    Raises:
        BadRequest: the trace has no such steps.
    """
    return choose(opened.facts, steps.first, steps.last, steps.skip_cold, steps.name, steps.kind)
