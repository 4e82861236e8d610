"""How far somebody's wait is: laws over drawn traces, and what a catalogue tells of its jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.conftest import Start, spans, states, until, write
from tests.runs.targets import content
from torch_tb_profiler.errors import ImportFailed, NotFound
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.runs.products import INSIGHT
from torch_tb_profiler.runs.sidecar_store import SidecarStore
from torch_tb_profiler.runs.waits import NEARLY, PHASES, Awaited, wait_of
from torch_tb_profiler.runs.work_queue import News
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place

shares = st.floats(0, 1)
sizes = st.one_of(st.just(-1), st.just(0), st.integers(1, 10**14))


@st.composite
def waits(draw: st.DrawFn) -> tuple[str, list[Awaited]]:
    product = draw(st.sampled_from(sorted(PHASES)))
    phases = st.sampled_from(list(PHASES[product]))
    traces = st.builds(Awaited, sizes, phases, st.booleans(), shares, st.booleans(), st.booleans())
    return product, draw(st.lists(traces, min_size=1, max_size=4))


@given(waits(), st.integers(0, 3), shares)
def test_a_bar_grows_with_each_trace_and_is_full_only_at_the_end(
    asked: tuple[str, list[Awaited]], number: int, further: float
) -> None:
    product, traces = asked
    wait = wait_of(product, traces)
    end = all(trace.made or trace.over for trace in traces)
    assert 0 <= wait.share <= (1 if end else NEARLY)
    assert (wait.share == 1) is end
    assert (wait.ready, wait.total) == (sum(trace.made for trace in traces), len(traces))

    one = traces[number % len(traces)]
    phases = list(PHASES[product])
    later = phases[phases.index(one.phase) :]
    for phase, done in (
        (one.phase, max(one.done, further)),
        *((after, 0.0) for after in later[1:]),
    ):
        traces[number % len(traces)] = one._replace(phase=phase, done=done)
        grown = wait_of(product, traces)
        assert grown.share >= wait.share - 1e-9
        wait = grown


def test_the_shares_of_the_phases_are_the_whole_way() -> None:
    for phases in PHASES.values():
        assert sum(phases.values()) == pytest.approx(1)
        assert all(share > 0 for share in phases.values())


def test_a_failure_is_kept_until_it_is_tried_again(tmp_path: Path) -> None:
    store = SidecarStore(Settings(cache_dir=str(tmp_path)))
    path = INSIGHT.path("a", store.settings)
    pending = store._begin(INSIGHT, Place("a"), path, 1, 0, 0, ())  # as a server has one made
    pending.listeners["somebody"] = lambda *_: None
    store._on_news(pending.job, News(error="It was killed."))
    assert store.failure(INSIGHT, "a") == "It was killed."
    pending = store._begin(INSIGHT, Place("a"), path, 1, 0, 0, ())
    assert store.progress(INSIGHT, "a") is None
    store._on_news(pending.job, News(begun=True))
    store._on_news(pending.job, News(progress=0.25))
    assert (store.failure(INSIGHT, "a"), store.progress(INSIGHT, "a")) == ("", 0.25)
    store.close()


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
    assert 0 < wait.share < PHASES["insight"]["read"]
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
