"""The categories into which the wall time of a step is split."""

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
"""In order of priority: time that fits several belongs to the first."""
