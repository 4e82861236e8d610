"""High contrast: what is told by a coloured area alone keeps its colour where the system sets all others."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server

JOB = {"run": "synthetic_ddp8", "worker": "rank5"}
VIEWS = (
    ("overview", JOB | {"why": "4"}),
    ("distributed", JOB),
    ("efficiency", JOB),
    ("operator", JOB),
    ("api_calls", JOB),
    ("memory", JOB),
    ("diff", JOB | {"run2": "synthetic_ddp8", "worker2": "rank0"}),
)
MARKS = """
() => {
  const plain = ["--surface", "--sunken", "--raised", "--hover", "--line", "--line-strong"];
  const probe = document.body.appendChild(document.createElement("i"));
  const grounds = ["rgba(0, 0, 0, 0)", ...plain.map((name) => {
    probe.style.background = `var(${name})`;
    return getComputedStyle(probe).backgroundColor;
  })];
  probe.remove();
  window.__marks = [...document.querySelectorAll("main *")].filter((e) => {
    const { backgroundColor, backgroundImage } = getComputedStyle(e);
    return e.checkVisibility() && e.clientWidth > 1 && !e.textContent.trim() && !e.closest("canvas, button, input")
      && (!grounds.includes(backgroundColor) || backgroundImage !== "none");
  });
  return window.__marks.length;
}
"""
"""Elements without words that differ from the grounds they lie on."""
LOST = """
() => [...new Set(window.__marks.filter((e) => getComputedStyle(e).forcedColorAdjust !== "none").map((e) => e.className || e.parentElement.className))]
"""


def test_marks_keep_their_colours(open_tab: OpenTab, sample_server: Server) -> None:
    tab, lost, marks = open_tab(sample_server, width=1280, height=800), {}, 0
    for view, address in VIEWS:
        tab.page.emulate_media(forced_colors="none")
        tab.load(view, **address)
        marks += tab.frame.evaluate(MARKS)
        tab.page.emulate_media(forced_colors="active")
        lost[view] = tab.frame.evaluate(LOST)
    assert marks > 50
    assert {view: names for view, names in lost.items() if names} == {}


def test_what_has_the_focus_is_framed(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server, forced_colors="active").load("trace", **JOB)
    canvas = tab.frame.get_by_role("application", name="Timeline")
    canvas.focus()
    expect(canvas).to_be_focused()
    ring = "(e) => getComputedStyle(e.closest('.timeline-stage'), '::after').outlineStyle"
    assert canvas.evaluate(ring) == "solid"
