"""The commands of the MCP server's tools in this process, and the rules by their titles."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from string import Formatter

from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.cli.agents.asking import in_terms_of_tools
from torch_tb_profiler.cli.hints import TOOLS
from torch_tb_profiler.cli.main import main as command_line
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.sources.places import Place


async def in_this_process(logdir: Place, command: str, *arguments: str, seconds: float = 0) -> str:
    """What ``asking.ask`` answers, without the second that each process takes to start.

    Raises:
        BadRequest: the command refused.
    """
    out, err = io.StringIO(), io.StringIO()
    before, tools = Path.cwd(), os.environ.get(TOOLS)
    os.chdir(logdir.path)
    os.environ[TOOLS] = "1"
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command_line([command, *arguments])
    finally:
        os.chdir(before)
        del os.environ[TOOLS]
        os.environ.update({} if tools is None else {TOOLS: tools})
    said = err.getvalue().strip()
    if code:
        words = said.splitlines()[-1] if said else ""
        raise BadRequest(in_terms_of_tools(words.removeprefix("torch-tb-profiler: ")))
    return out.getvalue() or said


def rule_of(title: str) -> str:
    """The rule of a finding, by its title as it is printed."""
    for key, rule in RULES.items():
        words = "".join(
            re.escape(text) + (".+" if field is not None else "")
            for text, field, *_ in Formatter().parse(" ".join(rule.title.split()))
        )
        if re.fullmatch(words, title, re.I):
            return key
    return ""
