"""What a text says to ask next: a command, or a tool where an assistant asks (``agents/``)."""

from __future__ import annotations

import os
import re

from torch_tb_profiler.patterns import regex

_RECORDER = regex(r"with ([\w.]+\(.*?\))(?: as \w+)?:", re.DOTALL)
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
    """Of the example that records something the call that makes the difference, on one line."""
    said = "\n".join(line for line in (call or "").splitlines() if not line.startswith("#"))
    recorder = _RECORDER.search(said)
    line = " ".join((recorder[1] if recorder else said.replace("\\\n", " ")).split())
    return line.replace("( ", "(").replace(", )", ")")
