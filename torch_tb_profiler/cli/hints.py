"""What a text says to ask next: a command, or a tool where an assistant asks (``agents/``)."""

from __future__ import annotations

import os

TOOLS = "TORCH_TB_PROFILER_TOOLS"
"""Set in the processes of ``agents/asking.py``."""


def hint(command: str, tool: str) -> str:
    """One of two texts of the same sense, by who reads it."""
    return tool if os.environ.get(TOOLS) else command


def event_hint() -> str:
    """How to see an event."""
    return hint(
        "Show an event: torch-tb-profiler event PATH ID",
        "The tool event tells more of an event by its number",
    )


def recording_line(call: str) -> str:
    """Of the example that records something the line that makes the difference."""
    lines = [line for line in (call or "").splitlines() if "record(" in line]
    return lines[0].removeprefix("with ").partition(" as ")[0] if lines else call or ""
