"""The table of files that the catalogue saw."""

from __future__ import annotations

from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec

_C = DisplayColumn
FILES = DisplaySpec(
    "files",
    "One row per file that was seen: what became of it, and why.",
    (
        _C("path", "code", "File", "", "diagnosis_path", width=360),
        _C("state", "text", "State", "", "diagnosis_state", width=140),
        _C("reason", "text", "Why", "", "diagnosis_reason", width=440),
        _C("bytes", "bytes", "Size", "", "diagnosis_bytes"),
        _C("events", "count", "Events", "", "events", optional=True),
        _C("lost", "count", "Events lost", "", "diagnosis_lost", optional=True),
        _C("run", "text", "Run", "", "run", width=160, hidden=True),
        _C("worker", "text", "Worker", "", "worker", width=160, hidden=True),
        _C("span", "text", "Span", "", "span", hidden=True),
    ),
)
