"""The table of the traces that were opened."""

from __future__ import annotations

from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec

_C = DisplayColumn
WORKERS = DisplaySpec(
    "workers",
    "One row per trace that was opened.",
    (
        _C("run", "text", "", "Name of the run."),
        _C("worker", "text", "", "Name of the worker."),
        _C("span", "text", "", "Name of the span."),
        _C("rank", "id", "", "Its rank.", optional=True, unit="rank"),
        _C("world_size", "count", "", "Ranks of the job.", optional=True, unit="ranks"),
        _C("events", "count", "", "Entries of `traceEvents`.", unit="events"),
        _C("steps", "count", "", "Steps.", unit="steps"),
        _C("mean_step_ns", "mean time", "", "Mean wall time of complete steps."),
        _C("path", "text", "", "The file."),
    ),
)
