"""Route ``/trace``: what the Trace page offers."""

from __future__ import annotations

from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.steps import step_columns
from torch_tb_profiler.views.wire import TracePayload


def trace_payload(
    facts: Facts,
    selection: Selection,
    file: str,
    size: int,
    events: int,
    origin_ns: int,
    perfetto_url: str,
) -> TracePayload:
    """``file``: its name without folders; ``size`` in bytes as stored; ``origin_ns``: the file's
    own time of the first event.
    """
    return TracePayload(
        file=file,
        bytes=size,
        events=events,
        span_ns=facts.summary["span_ns"],
        origin_ns=str(origin_ns),
        perfetto_url=perfetto_url,
        steps=step_columns(facts, selection),
    )
