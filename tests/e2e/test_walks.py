"""Six questions of the first minutes, each answered in two actions from the opened page: a click,
a key or a choice is one. What is read at the end is what the Python interface says, in the first
window without scrolling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from pandas import DataFrame
from playwright.sync_api import Locator, expect

import torch_tb_profiler
from tests.builders.drawn import text_of
from tests.builders.pairs import CHANGES, NO_CHANGE, recording
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.views.findings.claims import printed_by
from torch_tb_profiler.units import format_about, format_bytes, format_ns, format_share

JOB = "synthetic_ddp8"
PAIR = {"yesterday": CHANGES[NO_CHANGE], "today": CHANGES["slower_kernel"]}
WAITS = "waits"
WIDTH, HEIGHT = 1440, 900
MOST_ACTIONS = 2
MOST_TABS = 60
FOCUS_SHOWS = """
(one) => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
  return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
}
"""
FIRST_NS, DAY_NS = 1_760_000_000 * 10**9, 86_400 * 10**9
"""When the first of the recordings was made; each other one is a day later."""
UNCOVERED = """
(place, [width, height]) => {
  const { left, top, right, bottom } = place.getBoundingClientRect();
  if (right <= left || left < 0 || top < 0 || right > width || bottom > height) return false;
  const tips = [...document.querySelectorAll(".tooltip")].map((tip) => tip.getBoundingClientRect());
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return (
    hit !== null &&
    (place.contains(hit) || hit.contains(place)) &&
    !tips.some((t) => t.left < right && left < t.right && t.top < bottom && top < t.bottom)
  );
}
"""
"""A text's box lies in the window, and nothing lies on it."""


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    folder = tmp_path_factory.mktemp("walks")
    (folder / JOB).symlink_to(samples / JOB)
    for seed, (name, change) in enumerate({**PAIR, WAITS: CHANGES["new_sync"]}.items()):
        path = folder / name / "worker0.pt.trace.json"
        path.parent.mkdir()
        made = text_of(recording(change, seed, 8), baseTimeNanoseconds=FIRST_NS + seed * DAY_NS)
        path.write_text(made, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def server(logdir: Path, cache: Path) -> Iterator[Server]:
    with Server(logdir, cache) as started:
        started.settled()
        yield started


class Walk:
    """Actions from the opened page, counted."""

    def __init__(self, tab: Tab, run: str) -> None:
        self.tab = tab.load("overview", run=run)
        self.actions = 0

    def click(self, place: Locator) -> None:
        self.actions += 1
        place.click()
        self.tab.idle()

    def open(self, view: str) -> None:
        """Go to a section that stands beside the one shown, or that its place opens at first."""
        section = self.tab.tab(view)
        self.click(section if section.count() else self.tab.place_of(view))
        self.tab.holds(view=view)

    def ask(self, question: str) -> Locator:
        """Type a question into the field that every page has; its answer."""
        self.actions += 1
        self.tab.page.keyboard.press("/")
        field = self.tab.frame.get_by_role("combobox", name="Ask")
        field.fill(question)
        expect(self.tab.frame.get_by_role("listbox", name="Answers")).to_have_attribute(
            "aria-busy", "false"
        )
        return self.tab.frame.get_by_role("dialog", name="Ask")

    def go(self) -> None:
        """Where the first row of the answer leads."""
        self.actions += 1
        self.tab.page.keyboard.press("Enter")
        self.tab.idle()

    def reach(self, place: Locator) -> None:
        """Tab to it, so that the focus can be seen there, and press Enter."""
        self.actions += 1
        expect(place.first).to_be_visible()
        for _ in range(MOST_TABS):
            if place.first.evaluate("(one) => one === document.activeElement"):
                assert place.first.evaluate(FOCUS_SHOWS)
                self.tab.page.keyboard.press("Enter")
                self.tab.idle()
                return
            self.tab.page.keyboard.press("Tab")
        raise AssertionError(f"not reached in {MOST_TABS} tabs: {place}")

    def hears(self, role: str, *words: str) -> None:
        """What a screen reader is given has each of these in a line of that role."""
        for word in words:
            self.tab.becomes(partial(self._told, role, word), True)

    def _told(self, role: str, word: str) -> bool:
        tree = self.tab.frame.locator("body").aria_snapshot()
        lines = [" ".join(line.split()) for line in tree.splitlines()]
        wanted = " ".join(word.split())
        # A name with a colon is quoted.
        return any(line.lstrip("-' ").startswith(role) and wanted in line for line in lines)

    def reads(self, *words: str) -> None:
        """All of these stand in the first window, in as many actions as are allowed."""
        assert self.actions <= MOST_ACTIONS
        for word in words:
            self.tab.becomes(partial(self._stands, word), True)
        assert self.tab.frame.evaluate("scrollY") == 0

    def _stands(self, word: str) -> bool:
        found = self.tab.frame.locator("main").get_by_text(word)
        return any(one.evaluate(UNCOVERED, [WIDTH, HEIGHT]) for one in found.all())


Walker = Callable[[str], Walk]


@pytest.fixture
def walk(open_tab: OpenTab, server: Server) -> Walker:
    return lambda run: Walk(open_tab(server, width=WIDTH, height=HEIGHT), run)


@pytest.fixture(scope="module")
def job(samples: Path) -> torch_tb_profiler.RunFrames:
    opened = torch_tb_profiler.open(samples / JOB)
    assert isinstance(opened, torch_tb_profiler.RunFrames)
    return opened


def of_rank(findings: DataFrame, worker: str, rule: str) -> DataFrame:
    found: DataFrame = findings[(findings["worker"] == worker) & (findings["rule"] == rule)]
    return found


def test_what_costs_the_time_and_what_is_gained(walk: Walker, logdir: Path) -> None:
    [answer] = printed_by("findings", str(logdir / WAITS), "--json")
    first = answer["findings"][0]
    walked = walk(WAITS)
    walked.reads(answer["headline"], first["action"], f"−{format_about(first['recoverable_ns'])}")
    assert walked.actions == 0


def test_which_line_makes_the_gpu_wait(walk: Walker, logdir: Path) -> None:
    findings = torch_tb_profiler.open(logdir / WAITS).findings
    waits = findings[findings["rule"] == "host_synchronisation"].iloc[0]
    walked = walk(WAITS)
    finding = walked.tab.frame.locator(".finding", has_text=waits["action"])
    walked.click(finding.locator("summary").first)
    walked.reads(waits["action"], waits["line"], format_ns(waits["recoverable_ns"]))


def test_which_kernel_of_which_module_costs_most_and_how_far_from_the_peak(
    walk: Walker, server: Server, job: torch_tb_profiler.RunFrames
) -> None:
    rows = job["rank0"].efficiency(by="kernel")
    costliest = rows[rows["of_roof"].notna()].sort_values("time_ns").iloc[-1]
    callers = server.answer(
        "callers", JOB, of="operator", name=costliest["name"], shapes=costliest["input_shapes"]
    )
    layers = next(found for found in callers["rows"]["layers"] if found)
    walked = walk(JOB)
    walked.open("efficiency")
    row = walked.tab.grid("Efficiency of operators").locator(".body-row")
    walked.click(row.filter(has_text=format_share(costliest["of_roof"])).first)
    walked.reads(
        costliest["short_name"],
        format_share(costliest["of_roof"]),
        format_ns(costliest["time_ns"]),
        layers,
    )


def test_why_is_step_7_slow(walk: Walker) -> None:
    walked = walk(JOB)
    walked.click(walked.tab.frame.get_by_role("button", name="Why is step 7 slow?"))
    told = "Step 7 takes 9.82 ms longer: rank 2 loads data at dataloader.py:1482."
    expect(walked.tab.frame.get_by_role("heading", name=told)).to_be_in_viewport()
    assert walked.actions == 1


def test_who_holds_rank_0_back(walk: Walker, job: torch_tb_profiler.RunFrames) -> None:
    waits = of_rank(job.findings, "rank0", "straggler")
    walked = walk(JOB)
    walked.reads(*waits["action"])
    walked.open("distributed")
    ranks = [
        action.removeprefix("Make r").removesuffix(" as fast as the others")
        for action in waits["action"]
    ]
    walked.reads(*(f"R{rank} holds all others back" for rank in ranks))


def test_what_grew_since_yesterdays_run(walk: Walker) -> None:
    walked = walk("today")
    frame = walked.tab.frame
    walked.click(frame.get_by_role("button", name="Comparison: "))
    walked.click(frame.get_by_role("link", name="The recording before it yesterday"))
    walked.reads("more than before.", "GPU compute")


def test_what_holds_the_memory_at_the_peak(walk: Walker, job: torch_tb_profiler.RunFrames) -> None:
    trace = job["rank0"]
    held = trace.memory_alive().groupby("operator")["bytes"].sum().sort_values()
    peak = trace.memory["allocated_bytes"].max()
    walked = walk(JOB)
    walked.open("memory")
    walked.reads(
        format_bytes(peak), "Alive at the peak", held.index[-1], format_bytes(held.iloc[-1])
    )


def test_one_field_answers_each_of_them(
    walk: Walker, logdir: Path, job: torch_tb_profiler.RunFrames
) -> None:
    [answer] = printed_by("findings", str(logdir / WAITS), "--json")
    walked = walk(WAITS)
    expect(walked.ask("").get_by_role("status")).to_have_text(answer["headline"])

    walked = walk(JOB)
    [line, *_] = job["rank0"].ask("line")["label"]
    expect(walked.ask("which line").get_by_role("option").first).to_contain_text(line)
    walked.go()
    walked.tab.holds(view="lines")
    walked.reads(line.partition(":")[0])

    walked = walk(JOB)
    first = walked.ask("why is step 7 slow").get_by_role("option").first
    expect(first).to_contain_text("Step 7 takes 9.82 ms longer: rank 2 loads data")
    walked.go()
    walked.tab.holds(view="steps")
    walked.reads("Step 7 takes 9.82 ms longer: rank 2 loads data at dataloader.py:1482.")

    walked = walk(JOB)
    first = walked.ask("which rank").get_by_role("option").first
    expect(first).to_contain_text("Rank 5 holds all others back")
    walked.go()
    walked.tab.holds(worker="rank5", all=None)

    walked = walk("today")
    walked.ask("what changed since yesterday")
    walked.go()
    walked.reads("more than before.", "GPU compute")

    walked = walk(JOB)
    alive = job["rank0"].memory_alive()
    first = walked.ask("what held the memory").get_by_role("option").first
    held = job["rank0"].ask("memory").iloc[0]
    expect(first).to_contain_text(format_bytes(held["bytes"]))
    assert held["bytes"] <= alive["bytes"].sum()
    walked.go()
    walked.reads("Alive at the peak")


def test_each_of_them_by_keys_alone_and_in_the_tree_of_a_screen_reader(
    walk: Walker, logdir: Path, job: torch_tb_profiler.RunFrames
) -> None:
    [answer] = printed_by("findings", str(logdir / WAITS), "--json")
    walked = walk(WAITS)
    walked.hears("heading", answer["headline"])
    waits = next(one for one in answer["findings"] if one["rule"] == "host_synchronisation")
    finding = walked.tab.frame.locator(".finding", has_text=waits["action"])
    walked.reach(finding.locator("summary"))
    walked.hears("code", waits["line"])

    walked = walk(JOB)
    walked.reach(walked.tab.frame.get_by_role("button", name="Why is step 7 slow?"))
    walked.hears("heading", "Step 7 takes 9.82 ms longer: rank 2 loads data")

    walked = walk(JOB)
    walked.reach(walked.tab.place("Steps"))
    walked.hears("heading", "Rank 5 holds all others back")

    walked = walk("today")
    frame = walked.tab.frame
    walked.reach(frame.get_by_role("button", name="Comparison: "))
    walked.reach(frame.get_by_role("link", name="The recording before it yesterday"))
    walked.hears("heading", "more than before.")

    walked = walk(JOB)
    walked.reach(walked.tab.place("Memory"))
    peak = job["rank0"].memory["allocated_bytes"].max()
    walked.hears("heading", format_bytes(peak))
