"""A run with a recording of graph captures beside its trace, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.builders.captured_graphs import Execution, Graph, Node, Recording
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

Start = Callable[..., Server]
GRAPH = Graph(tuple(Node(f"aten::op{i}", 8, f"k{i}") for i in range(6)), "Model_0")


def test_replayed_kernels_have_the_operators_of_their_capture(
    tmp_path: Path, start: Start, open_tab: OpenTab
) -> None:
    need_axe()
    run = tmp_path / "logs" / "run"
    execution = Execution().add("step[DECODE bs=8]", [GRAPH])
    traces.write(run / "rank0.1.pt.trace.json", {"traceEvents": execution.events()})
    captures = run / "capture_traces"
    traces.write(captures / "bs_8.json", {"traceEvents": Recording([GRAPH]).events()})
    details = [{"file": "bs_8.json", "batch_size": 8, "mode": "FULL"}]
    (captures / "execution_details.json").write_text(json.dumps(details))
    server = start(tmp_path / "logs")
    server.settled()
    tab = open_tab(server).load("operator", run="run")
    grid = tab.grid("Operators")
    expect(grid.get_by_role("rowheader")).to_have_text(
        [re.compile(rf"aten::op{i}") for i in range(6)]
    )
    assert accessibility(tab.frame) == []
    tab = open_tab(server).load("module", run="run")
    expect(tab.frame.get_by_text("Model_0").first).to_be_visible()
    trace = execution.trace()
    kernel = trace.strings.many(trace["spans"]["name"]).index("k3")
    tab = open_tab(server).load("trace", run="run", sel=str(kernel))
    panel = tab.frame.get_by_role("heading", name="Captured").locator("xpath=..")
    expect(panel).to_contain_text("aten::op3")
    expect(panel).to_contain_text("bs_8.json")
    assert accessibility(tab.frame) == []
    tab = open_tab(server).load("diagnosis", run="run")
    expect(tab.frame.get_by_text("A recording of graph captures").first).to_be_visible()
