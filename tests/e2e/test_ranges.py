"""The ranges of a DeepSeek-like step in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.builders.drawn import events
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

Start = Callable[..., Server]
DRAWING = """
    main   (ProfilerStep#1                                )
    main    (attn       ) (dispatch      ) (attn       )
    main     <l #1>         <l #2>          <l #3>
    gpu 7         {x #1   }                     {z #3 }
    gpu 9                        {y #2    }
"""


def test_ranges_are_rows_that_lead_to_the_timeline(
    tmp_path: Path, start: Start, open_tab: OpenTab
) -> None:
    need_axe()
    names = {"attn": "attn(F)", "dispatch": "dispatch(F)"}
    content = {"traceEvents": events(DRAWING, names=names, scale=1000)}
    traces.write(tmp_path / "logs" / "run" / "rank0.1.pt.trace.json", content)
    server = start(tmp_path / "logs")
    server.settled()
    tab = open_tab(server).load("module", run="run")
    grid = tab.grid("Ranges")
    expect(grid.get_by_role("rowheader")).to_have_text(
        [re.compile(r"attn\(F\)"), re.compile(r"dispatch\(F\)")]
    )
    # x takes 9 ms, z 7 ms, y 10 ms of 26 ms in all.
    row = grid.get_by_role("row", name=re.compile(r"attn\(F\)"))
    expect(row).to_contain_text("16.0 ms")
    expect(row).to_contain_text("61.5 %")
    assert accessibility(tab.frame) == []
    row.get_by_role("link", name="longest").click()
    tab.idle()
    assert tab.state()["view"] == "trace"
