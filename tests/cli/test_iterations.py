"""The command ``iterations`` and the route of the page say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.drawn import text_of
from tests.builders.server_trace import server_trace
from tests.web.test_iterations import asked
from torch_tb_profiler.cli import main


@pytest.mark.parametrize("count", [0, 40])
def test_the_headline_is_that_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int
) -> None:
    events, _ = server_trace(40, ())
    if not count:
        events = [event for event in events if event.get("cat") != "user_annotation"]
    path = tmp_path / "server.pt.trace.json"
    path.write_text(text_of(events), encoding="utf-8")
    assert main.main(["iterations", str(path), "--no-cache"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert " ".join(asked(events)["headline"].split()) in said
