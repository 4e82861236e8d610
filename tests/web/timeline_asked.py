"""How every route of the timeline is asked, and a small trace that has something to answer to each."""

from __future__ import annotations

from msgspec.structs import replace

from tests.builders.drawn import Event, events, trace_of
from tests.views import hand_made
from tests.web.served import TIMELINE_ID, WHERE, WrittenCatalogue
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.views.critical_path.payload import EventPathPayload, PathOverlayPayload
from torch_tb_profiler.views.timeline import wire
from torch_tb_profiler.views.wire import Wire

DRAWING = """
main    /train.py(1): step                                                     /
main     /model.py(7): forward                          /
main    [ProfilerStep#1                                                        ]
main     [aten::mm             ]    [aten::mm           ]
main       <cudaLaunchKernel #7>      <cudaLaunchKernel #8>
gpu 7                {gemm #7          }        {gemm #8        }
gpu 7                             {late #9           }
"""

TYPES: dict[str, type[Wire] | None] = {
    "/trace/timeline": wire.TimelinePayload,
    "/trace/names": wire.NamesPayload,
    "/trace/tiles": None,
    "/trace/counters": wire.CountersPayload,
    "/trace/arrows": wire.ArrowsPayload,
    "/trace/search": wire.SearchPayload,
    "/trace/search/heat": wire.HeatPayload,
    "/trace/search/next": wire.NextHitPayload,
    "/trace/area": wire.AreaPayload,
    "/trace/area/flame": wire.AreaFlamePayload,
    "/trace/event": wire.EventPayload,
    "/trace/event/args": wire.EventArgsPayload,
    "/trace/event/path": EventPathPayload,
    "/trace/path": PathOverlayPayload,
    "/trace/alignment": wire.AlignmentPayload,
    "/trace/collective": wire.CollectivePayload,
}
"""What each route answers; None: binary tiles."""

PARAMETERS: dict[str, dict[str, str]] = {
    "/trace/timeline": {},
    "/trace/names": {"first": "0"},
    "/trace/tiles": {"level": "0", "k": "0,1", "lanes": "0-2"},
    "/trace/counters": {"series": "0", "t0": "0", "t1": "50000", "n": "10"},
    "/trace/arrows": {"t0": "0", "t1": "100000", "kinds": "launch", "lanes": "0-2", "cap": "10"},
    "/trace/search": {"q": "gemm", "re": "0", "args": "0", "case": "0", "kind": "first"},
    "/trace/search/heat": {"q": "gemm", "t0": "0", "t1": "100000", "n": "10"},
    "/trace/search/next": {"q": "gemm", "after": "0"},
    "/trace/area": {"t0": "0", "t1": "100000", "lanes": "0-2", "kind": "first"},
    "/trace/area/flame": {"t0": "0", "t1": "100000", "lanes": "0-2", "kind": "device"},
    "/trace/event": {"event": "0"},
    "/trace/event/args": {"event": "0"},
    "/trace/event/path": {"event": "0"},
    "/trace/path": {"t0": "0", "t1": "100000", "n": "100", "cap": "10", "arrows": "10"},
    "/trace/alignment": {},
    "/trace/collective": {"event": "0"},
}
"""A right request of each route, without what names the trace and its content."""

WITHOUT_ID = ("/trace/timeline", "/trace/alignment")
NOT_KEPT = ("/trace/collective", "/trace/event/path", "/trace/path")
"""What other workers have changes as they are imported, what an analysis finds with its version."""
OF_A_CONTENT = tuple(route for route in TYPES if route not in (*WITHOUT_ID, *NOT_KEPT))
"""Routes whose replies may be kept for ever."""


def listed() -> list[Event]:
    """The entries of the trace: a drawing, two counters, and an instant."""
    counter = {"ph": "C", "name": "queue", "cat": "counter", "pid": 100, "tid": 0}
    return [
        *events(DRAWING),
        {**counter, "ts": 1, "args": {"length": 3}},
        {**counter, "ts": 40, "args": {"length": 5}},
        {
            "ph": "i",
            "name": "here",
            "cat": "cpu_instant_event",
            "pid": 100,
            "tid": 1,
            "ts": 5,
            "s": "t",
            "args": {},
        },
    ]


def opened(extra: list[Event] | None = None) -> Opened:
    """The trace as the catalogue opens it."""
    trace = trace_of([*listed(), *(extra or [])])
    return replace(hand_made.opened(derive(trace)), trace=trace)


def catalogue(extra: list[Event] | None = None) -> WrittenCatalogue:
    """A catalogue of that trace."""
    return WrittenCatalogue(opened(extra))


def query(route: str, **changed: str | None) -> dict[str, str]:
    """A right request's parameters; ``None`` leaves one out."""
    identified = {} if route in WITHOUT_ID else {"id": TIMELINE_ID}
    values = {
        **dict(part.split("=") for part in WHERE.split("&")),
        **identified,
        **PARAMETERS[route],
        **changed,
    }
    return {name: value for name, value in values.items() if value is not None}
