"""How to record what is missing stands on one line that can be typed, whoever wrote the trace."""

from __future__ import annotations

import pytest

from torch_tb_profiler.cli.hints import recording_line
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.views.words.texts import profile_call


@pytest.mark.parametrize("writer", Writer)
@pytest.mark.parametrize("missing", ["stack", "shapes", "memory", "device"])
def test_it_is_the_call_alone(writer: Writer, missing: str) -> None:
    call = profile_call(missing, writer)
    line = recording_line(call)
    assert bool(line) == bool(call)
    assert "\n" not in line
    assert not line.startswith(("#", "with "))
    assert line.count("(") == line.count(")")
