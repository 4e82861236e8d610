"""How far somebody's wait is: laws over drawn histories of jobs, and what is learned from earlier imports."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs.conftest import Start, spans, states, until, write
from tests.runs.targets import content
from torch_tb_profiler.errors import ImportFailed, NotFound
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.runs.products import INSIGHT
from torch_tb_profiler.runs.speeds import FIRST, MOST, NAME, Speeds
from torch_tb_profiler.runs.waits import FIRST_SECONDS, NEARLY, Awaited, Waits, by_clock
from torch_tb_profiler.runs.work_queue import News

OUTCOME = News(outcome={"events": 1000})
DONE = News(outcome={})
PRODUCTS = ("insight", "timeline")


class Clock:
    """Seconds that a test lets pass."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def nowhere() -> Path:
    raise OSError("there is no folder")


amounts = st.floats(1e-9, 1e9)
sizes = st.one_of(st.just(0.0), st.floats(1, 1e14))
news = st.one_of(
    st.just(News(begun=True)),
    st.builds(lambda share: News(progress=share), st.floats(0, 1)),
    st.builds(lambda events: News(outcome={"events": events}), st.integers(0, 10**9)),
    st.just(News(error="It was killed.", code="killed")),
)
events = st.one_of(
    st.tuples(st.just("pass"), st.floats(0, 1e5)),
    st.tuples(
        st.just("hear"), st.tuples(st.integers(0, 2), st.sampled_from(("import", *PRODUCTS)), news)
    ),
    st.tuples(st.just("ask"), st.integers(0, 7)),
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(sizes, min_size=1, max_size=3),
    st.sampled_from(PRODUCTS),
    st.dictionaries(st.sampled_from(list(FIRST)), st.tuples(amounts, amounts)),
    st.lists(events, max_size=30),
)
def test_a_bar_never_falls_and_is_full_only_at_the_end(
    texts: list[float],
    product: str,
    learned: dict[str, tuple[float, float]],
    history: list[tuple[str, object]],
) -> None:
    clock = Clock()
    speeds = Speeds(nowhere)
    for kind, sample in learned.items():
        speeds.learn(kind, *sample)  # type: ignore[arg-type]
    waits, last = Waits(speeds, clock), 0.0

    def ask(imported: int, *, end: bool = False) -> None:
        nonlocal last
        traces = [
            Awaited(
                f"{i}", text, 10 if imported >> i & 1 else None, end or bool(imported >> i & 1), end
            )
            for i, text in enumerate(texts)
        ]
        wait = waits.of("asked", product, traces, 2)
        assert last <= wait.share <= (1.0 if end else NEARLY)
        assert (wait.share == 1.0) is end
        assert wait.left is None or (wait.left >= 0 and math.isfinite(wait.left))
        assert all(math.isfinite(width) and width > 0 for width in wait.widths.values())
        assert sum(wait.widths.values()) == pytest.approx(1) or not wait.widths
        assert wait.ready == (len(texts) if end else 0)
        last = wait.share

    ask(0)
    for what, more in history:
        if what == "pass":
            clock.now += more  # type: ignore[operator]
        elif what == "hear":
            trace, made, said = cast("tuple[int, str, News]", more)
            waits.heard(made, f"{trace}", texts[trace % len(texts)], said)
        else:
            ask(more)  # type: ignore[arg-type]
    ask(7)
    ask(7, end=True)


def imported(waits: Waits, clock: Clock, sidecar: str, text: float, slow: float = 1.0) -> None:
    """An import and an analysis that take 10, 2 and 8 s, or as many times longer."""
    for product, seconds, said in (
        ("import", 0, News(begun=True)),
        ("import", 5, News(progress=0.5)),
        ("import", 5, News(progress=1.0)),
        ("import", 2, OUTCOME),
        ("insight", 0, News(begun=True)),
        ("insight", 8, DONE),
    ):
        clock.now += seconds * slow
        waits.heard(product, sidecar, text, said)


def test_the_time_left_is_told_by_what_an_earlier_import_took(tmp_path: Path) -> None:
    clock = Clock()
    imported(Waits(Speeds(lambda: tmp_path), clock), clock, "earlier", 1e6)

    # A later server of the same folder.
    waits = Waits(Speeds(lambda: tmp_path), clock)
    trace = Awaited("now", 2e6, None, imported=False, made=False)
    assert waits.of(1, "insight", [trace]).left is None, "it has not begun"
    waits.heard("import", "now", 2e6, News(begun=True))
    clock.now += FIRST_SECONDS / 2
    assert waits.of(1, "insight", [trace]).left is None, "too early to say"
    clock.now += FIRST_SECONDS / 2
    wait = waits.of(1, "insight", [trace])
    assert wait.widths == pytest.approx({"read": 0.5, "arrange": 0.1, "analyse": 0.4})
    assert wait.left == pytest.approx(2 * 20 + FIRST_SECONDS)
    clock.now += 18
    waits.heard("import", "now", 2e6, News(progress=1.0))
    wait = waits.of(1, "insight", [trace])
    assert [wait.share, wait.left] == pytest.approx([0.5, 20])
    assert wait.phase == "arrange"
    clock.now += 2
    wait = waits.of(1, "insight", [trace])
    assert [wait.share, wait.left] == pytest.approx([0.55, 18])


def test_nothing_is_said_of_the_time_left_where_nothing_was_imported_before() -> None:
    clock = Clock()
    waits = Waits(Speeds(nowhere), clock)
    trace = Awaited("now", 2e6, None, imported=False, made=False)
    waits.heard("import", "now", 2e6, News(begun=True))
    waits.of(1, "insight", [trace])
    clock.now += 10
    assert waits.of(1, "insight", [trace]).left is None


def test_who_comes_late_sees_what_is_still_ahead() -> None:
    waits = Waits(Speeds(nowhere), Clock())
    wait = waits.of(1, "insight", [Awaited("now", 2e6, 100, imported=True, made=False)])
    assert (wait.share, wait.widths, wait.phase) == (0, {"analyse": 1.0}, "analyse")


def test_ranks_are_counted_and_a_failed_one_is_not_waited_for() -> None:
    waits = Waits(Speeds(nowhere), Clock())
    ready, ahead = (Awaited(name, 1e6, 100, name == "a", name == "a") for name in "ab")
    lost = Awaited("c", 1e6, None, imported=False, made=False, over=True)
    wait = waits.of(1, "insight", [ready, ahead, lost])
    assert (wait.ready, wait.total, wait.share) == (1, 3, 0)
    assert waits.of(1, "insight", [ready, lost]).share == 1


def test_a_failure_is_kept_until_it_is_tried_again() -> None:
    waits = Waits(Speeds(nowhere), Clock())
    waits.heard("insight", "a", 1, News(error="It was killed."))
    assert (waits.failure("insight", "a"), waits.failure("timeline", "a")) == ("It was killed.", "")
    waits.heard("insight", "a", 1, News(begun=True))
    assert waits.failure("insight", "a") == ""


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(-1, 1e9))
def test_the_clock_alone_never_ends_a_phase(a: float, b: float, expected: float) -> None:
    early, late = by_clock(min(a, b), expected), by_clock(max(a, b), expected)
    assert 0 <= early <= late <= NEARLY


def test_a_catalogue_tells_how_far_an_answer_is_and_why_none_comes(
    logdir: Path, start: Start
) -> None:
    go = logdir.parent / "go"
    write(logdir / "run" / "a.json", content(until=str(go)))
    write(logdir / "run" / "b.json", content(do="raise"))
    catalogue = start(logdir)
    until(lambda: (seen := spans(catalogue).get("run/a.json")) and seen.progress == 0.5)
    wait, asked = catalogue.waiting(INSIGHT, [("run", "a", "trace")])
    assert (wait.phase, wait.begun, asked.path) == ("read", True, "run/a.json")
    assert wait.share < 1
    until(lambda: states(catalogue)["run/b.json"] == "failed")
    with pytest.raises(ImportFailed, match="boom"):
        catalogue.waiting(INSIGHT, [("run", "b", "trace")])
    wait, _ = catalogue.waiting(INSIGHT, [("run", "a", "trace")], beside=True)
    assert (wait.ready, wait.total) == (0, 2)
    go.touch()
    until(lambda: states(catalogue)["run/a.json"] == "ready")
    until(lambda: isinstance(catalogue.ask_insight("run", "a", "trace"), OpenedInsight))
    wait, _ = catalogue.waiting(INSIGHT, [("run", "a", "trace")], beside=True)
    assert wait.share == 1
    with pytest.raises(NotFound):
        catalogue.waiting(INSIGHT, [("run", "c", "trace")])


BAD = {
    "not json": "{",
    "a list": "[1, 2]",
    "deep": "[" * 100 + "]" * 100,
    "of no kind": '{"guess": [[1, 2]]}',
    "no list": '{"read": 5}',
    "no pair": '{"read": [[1, 2, 3]]}',
    "no number": '{"read": [["1", "2"]]}',
    "a truth": '{"read": [[true, 1]]}',
    "negative": '{"read": [[1, -2]]}',
    "nothing": '{"read": [[1, 0]]}',
    "endless": '{"read": [[1, 1e999]]}',
    "too large": '{"read": [[1e300, 1]]}',
    "too long": json.dumps({"read": [[1, 1]] * 10_000}),
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_what_no_import_wrote_is_ignored_and_counted(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    speeds = Speeds(lambda: tmp_path)
    assert speeds.expect("read", 100) == (100 * FIRST["read"], False)
    assert speeds.ignored == 1
    assert "1 entry" in speeds.note
    speeds.learn("read", 100, 2)
    seconds, learned = Speeds(lambda: tmp_path).expect("read", 100)
    assert seconds == pytest.approx(2)
    assert learned


def test_the_newest_are_kept_and_those_of_a_like_size_are_believed(tmp_path: Path) -> None:
    speeds = Speeds(lambda: tmp_path)
    for number in range(100):
        speeds.learn("read", 1000, 1000.0 + number)
        if number > 95:
            speeds.learn("read", 1e9, 1e3)
    kept = json.loads((tmp_path / NAME).read_text())["read"]
    assert len(kept) == MOST
    assert speeds.expect("read", 2000).amount == pytest.approx(2 * 1098, rel=0.01)
    assert speeds.expect("read", 2e9).amount == pytest.approx(2e3)
