"""One bar from opening to answer, in a browser, while a trace is imported and analysed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.e2e import timeline_traces as drawn
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import PATIENCE_MS
from tests.e2e.server import PLUGIN, Server

LOOKS = """
() => {
  window.__looks = [];
  window.setInterval(() => {
    const bars = [...document.querySelectorAll('[role="progressbar"]')];
    const headline = document.querySelector(".headline-first");
    window.__looks.push({
      bars: bars.map((bar) => Number(bar.getAttribute("aria-valuenow"))),
      words: document.querySelector(".waiting")?.textContent ?? "",
      first: headline?.classList.contains("muted") ?? null,
      top: headline?.getBoundingClientRect().top ?? null,
    });
  }, 20);
}
"""
ANSWERED = "() => document.querySelector('.headline-first:not(.muted)') !== null"


def test_the_bar_is_one_and_never_falls_and_the_answer_takes_the_place_of_the_first_look(
    tmp_path: Path, start: Callable[..., Server], open_tab: OpenTab
) -> None:
    traces.write(tmp_path / "run" / "worker.1.pt.trace.json", drawn.chain(12_000))
    server = start(tmp_path)
    tab = open_tab(server)
    tab.page.goto(f"{server.url}/data/plugin_entry.html?name={PLUGIN}")
    tab.page.evaluate(LOOKS)
    tab.page.wait_for_function(ANSWERED, timeout=PATIENCE_MS)
    tab.idle()
    looks = tab.page.evaluate("window.__looks")
    assert {len(look["bars"]) for look in looks} == {0, 1}
    shares = [share for look in looks for share in look["bars"]]
    assert shares == sorted(shares)
    assert shares[-1] < 100
    words = "".join(look["words"] for look in looks)
    assert "Analyse" in words
    assert "Finding what holds the step back" in words
    assert {True, False} <= {look["first"] for look in looks}, "first look, then the answer"
    assert len({look["top"] for look in looks if look["first"] is not None}) == 1, "it jumped"
