"""Every event of a trace as a DataFrame, sharing memory with the trace where possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.figures.selection import mask
from torch_tb_profiler.api.frame import category, coded, frame
from torch_tb_profiler.api.frame_columns import EVENTS
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

if TYPE_CHECKING:
    from pandas import DataFrame


def events(context: TraceContext) -> DataFrame:
    """See ``frame_columns.EVENTS``."""
    trace, links = context.trace, context.facts["span_links"]
    spans, tracks = trace["spans"], trace["tracks"]
    on_device = device_arguments(trace, np.arange(spans.n), ("device", "stream"))
    values: dict[str, Any] = {
        "event": np.arange(spans.n),
        "name": category(spans["name"], trace.strings),
        "category": category(spans["category"], trace.strings),
        "role": coded(spans["role"].astype(np.int8), [role.name.lower() for role in Role]),
        "start_ns": spans["start"],
        "dur_ns": spans["dur"],
        "process": category(tracks["pid"][spans["track"]], trace.strings),
        "thread": category(tracks["tid"][spans["track"]], trace.strings),
        "device": on_device["device"],
        "stream": on_device["stream"],
        **{name: links[name] for name in ("step", "parent", "launch", "operator")},
        "correlation": spans["correlation"],
        "external_id": spans["external"],
        "sequence": _operator_column(trace, "sequence"),
        "input_shapes": category(_operator_column(trace, "dims"), trace.strings),
        "input_dtypes": category(_operator_column(trace, "types"), trace.strings),
    }
    if context.steps is not None or context.skip_cold:
        selected = np.flatnonzero(mask(context.selection(), links["step"]))
        return frame(EVENTS, {name: column[selected] for name, column in values.items()})
    return frame(EVENTS, values, share=True)


def _operator_column(trace: Trace, name: str) -> Array:
    """A column of ``operator_args`` for every row of spans; −1 where it has none."""
    arguments = trace["operator_args"]
    column = np.full(trace["spans"].n, -1, arguments[name].dtype)
    column[arguments["span"]] = arguments[name]
    return column
