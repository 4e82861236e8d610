"""The categories that the wall time of a step is split into."""

from __future__ import annotations

CATEGORIES = (
    "kernel",
    "memcpy",
    "memset",
    "communication",
    "runtime",
    "dataloader",
    "cpu_exec",
    "other",
)
"""In order of priority: time that could be laid at several belongs to the first."""
