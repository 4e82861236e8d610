"""Every event of a trace as a DataFrame, sharing memory with the trace where possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.operators import operator_arguments
from torch_tb_profiler.analysis.figures.selection import mask
from torch_tb_profiler.api.frame import coded, table_frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec
from torch_tb_profiler.store.roles import Role

if TYPE_CHECKING:
    from pandas import DataFrame


_C = DisplayColumn
EVENTS = DisplaySpec(
    "events",
    "One row per event with a duration, in time order.",
    (
        _C("event", "id", "", "Event id, as on the page and in other frames."),
        _C("name", "category", "", "Name."),
        _C("category", "category", "", "Category as written."),
        _C(
            "role",
            "category",
            "",
            "`operator`, `runtime`, `kernel`, `memcpy`, `annotation`, `python` …",
        ),
        _C("start_ns", "time", "", "Start, after the first event of the trace."),
        _C("dur_ns", "time", "", "Length."),
        _C("process", "category", "", "Process id as written."),
        _C("thread", "category", "", "Thread or stream as written."),
        _C("device", "id", "", "Device of a kernel, copy or memset.", optional=True),
        _C("stream", "id", "", "Its stream.", optional=True),
        _C("step", "id", "", "The step.", optional=True, unit="step"),
        _C("parent", "row", "", "Innermost host event around it."),
        _C("launch", "row", "", "The runtime call that launched it."),
        _C("operator", "row", "", "The operator that launched or contains it."),
        _C("correlation", "id", "", "Id that ties a launch to its work.", optional=True),
        _C("external_id", "id", "", "`External id`.", optional=True),
        _C("sequence", "id", "", "`Sequence number` of an operator.", optional=True),
        _C("input_shapes", "category", "", "`Input Dims` of an operator as JSON text."),
        _C("input_dtypes", "category", "", "`Input type` of an operator as JSON text."),
    ),
)


def events(context: TraceContext) -> DataFrame:
    """See ``EVENTS``."""
    trace, links = context.trace, context.facts["span_links"]
    spans, tracks = trace["spans"], trace["tracks"]
    table = EVENTS.build(
        trace.strings,
        event=np.arange(spans.n),
        name=spans["name"],
        category=spans["category"],
        role=coded(spans["role"].astype(np.int8), [role.name.lower() for role in Role]),
        start_ns=spans["start"],
        dur_ns=spans["dur"],
        process=tracks["pid"][spans["track"]],
        thread=tracks["tid"][spans["track"]],
        **device_arguments(trace, np.arange(spans.n), ("device", "stream")),
        **{name: links[name] for name in ("step", "parent", "launch", "operator")},
        correlation=spans["correlation"],
        external_id=spans["external"],
        sequence=operator_arguments(trace, "sequence")[:-1],
        input_shapes=operator_arguments(trace, "dims")[:-1],
        input_dtypes=operator_arguments(trace, "types")[:-1],
    )
    frame = table_frame(table, share=True)
    if context.steps is None and not context.skip_cold:
        return frame
    chosen = np.flatnonzero(mask(context.selection(), links["step"]))
    selected: DataFrame = frame.take(chosen).reset_index(drop=True)
    return selected
