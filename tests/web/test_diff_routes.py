"""The routes of comparisons over a catalogue of several traces: two sides, two ranges, sides that
are not there.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

import msgspec
import pytest
from msgspec.structs import replace
from werkzeug.test import Client

from tests.builders.drawn import trace_of
from tests.builders.pairs import CHANGES, NO_CHANGE, recording
from tests.views import hand_made
from tests.web.served import WrittenCatalogue, body, client, error_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.errors import NotReady
from torch_tb_profiler.runs.model import Opened, OpenedInsight
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.critical_path.glyph import FULL
from torch_tb_profiler.views.diff.aligned import AlignedPayload
from torch_tb_profiler.views.diff.axis import AxisPayload
from torch_tb_profiler.views.diff.wire import DiffPayload, DiffSide

TWO = "run=run&worker=w0&span=1&run2=changed&worker2=w0&span2=1"
ITSELF = "run=run&worker=w0&span=1&run2=run&worker2=w0&span2=1"


def opened(name: str, seed: int) -> Opened:
    trace = trace_of(recording(CHANGES[name], seed))
    found = hand_made.opened(derive(trace))
    return replace(found, trace=trace, run=replace(found.run, name="changed" if seed else "run"))


@dataclass
class TwoRuns(WrittenCatalogue):
    """Beside what every written catalogue has a run "changed", and "late", whose insight is not
    made yet.
    """

    opened: Opened = field(default_factory=lambda: opened(NO_CHANGE, 0))
    other: Opened = field(default_factory=lambda: opened("slower_kernel", 1))
    asked: list[str] = field(default_factory=list)

    def open(self, run: str, worker: str, span: str) -> Opened:
        return self.other if run in ("changed", "late") else super().open(run, worker, span)

    def insight(self, run: str, worker: str, span: str) -> OpenedInsight:
        if run == "late":
            raise NotReady("The insight is being prepared.", "Wait a moment.", progress=0.5)
        return super().insight(run, worker, span)

    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float:
        self.asked.append(run)
        return 0.5 if run == "late" else self.insight(run, worker, span)


@pytest.fixture(scope="module")
def catalogue() -> TwoRuns:
    return TwoRuns()


@pytest.fixture
def asking(catalogue: TwoRuns) -> Client:
    return client(catalogue)


def diff(asking: Client, query: str) -> DiffPayload:
    response = asking.get(f"/diff?{query}")
    assert response.status_code == 200, body(response)
    return msgspec.json.decode(body(response), type=DiffPayload, strict=True)


def chosen(side: DiffSide) -> list[int]:
    return [step for step, is_chosen in enumerate(side.steps["selected"]) if is_chosen]


def test_two_runs(asking: Client) -> None:
    found = diff(asking, TWO)
    assert (found.a.run, found.b.run) == ("run", "changed")
    assert found.verdict.changed is True
    assert found.changes["name"][found.changes["table"].index("operator")] == "aten::gelu"
    back = diff(asking, "run=changed&worker=w0&span=1&run2=run&worker2=w0&span2=1")
    assert back.verdict.delta_ns == -(found.verdict.delta_ns or 0)
    assert (back.a.mean_ns, back.b.mean_ns) == (found.b.mean_ns, found.a.mean_ns)


def test_a_trace_and_itself(asking: Client) -> None:
    found = diff(asking, ITSELF)
    assert found.verdict.delta_ns == 0
    assert found.verdict.changed is False
    assert set(found.changes["delta_ns"]) == {0}


def test_two_ranges_of_one_trace(asking: Client) -> None:
    found = diff(asking, f"{ITSELF}&steps=0-3&steps2=4-7")
    assert chosen(found.a) == [0, 1, 2, 3]
    assert chosen(found.b) == [4, 5, 6, 7]
    assert (found.a.selected, found.b.selected) == (4, 4)
    # All of these few steps lie within the margin.
    assert (found.verdict.changed, found.verdict.needed) == (False, None)


def test_every_choice_has_its_own_answer(asking: Client) -> None:
    queries = [TWO, f"{TWO}&steps=0-3", f"{TWO}&steps2=0-3", ITSELF, f"{TWO}&steps=0-3&steps2=0-3"]
    assert len(
        {(p.a.mean_ns, p.b.mean_ns) for p in (diff(asking, query) for query in queries)}
    ) == len(queries)


@pytest.mark.parametrize(
    ("wrong", "status", "word"),
    [
        ("run2=nobody", 404, "nobody"),
        ("run2=slow", 202, "imported"),
        ("run2=late", 202, "insight"),
        ("run2=broken", 409, "memory"),
        ("steps2=9", 400, "steps2"),
        ("steps2=x", 400, "steps2"),
        ("steps2=3-1", 400, "steps2"),
        ("steps=99", 400, "Parameter steps:"),
        ("skip_cold2=2", 400, "skip_cold2"),
        ("format=xlsx", 400, "format"),
    ],
)
def test_what_is_wrong_is_said(asking: Client, wrong: str, status: int, word: str) -> None:
    name = wrong.partition("=")[0]
    query = "&".join([*(part for part in TWO.split("&") if not part.startswith(f"{name}=")), wrong])
    response = asking.get(f"/diff/file?{query}")
    assert response.status_code == status
    found = error_of(response).error
    assert word in found.message
    assert (found.progress is not None) == (status == 202)


def test_both_sides_are_made_at_once() -> None:
    catalogue = TwoRuns()
    assert (
        client(catalogue)
        .get("/diff?run=late&worker=w0&span=1&run2=changed&worker2=w0&span2=1")
        .status_code
        == 202
    )
    assert catalogue.asked == ["late", "changed"]


def test_files(asking: Client) -> None:
    response = asking.get(f"/diff/file?{TWO}")
    assert response.content_type == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="diff.csv"'
    assert len(list(csv.reader(io.StringIO(body(response).decode())))) == 1 + len(
        diff(asking, TWO).changes["name"]
    )
    response = asking.get(f"/diff/file?{TWO}&format=markdown")
    assert response.content_type == "text/markdown; charset=utf-8"
    assert body(response).decode().startswith(f"**{diff(asking, TWO).headline[0]}**")


def test_the_steps_on_one_axis_are_those_of_the_answer(asking: Client) -> None:
    found = msgspec.json.decode(
        body(asking.get(f"/diff/aligned?{TWO}")), type=AlignedPayload, strict=True
    ).steps
    assert found is not None
    difference = found.after.length_ns - found.before.length_ns
    for side in (found.before, found.after):
        on_path = [sum(part.columns) for part in side.glyph.parts if part.on_path]
        # Each part is rounded for itself.
        assert abs(sum(on_path) - FULL * side.glyph.columns) <= len(on_path)
        assert side.glyph.shown_ns == side.length_ns
    assert sum(one.after_ns - one.before_ns for one in found.changes) == difference
    answer = diff(asking, TWO).headline[0]
    assert f"{format_ns(found.after.length_ns)}, {format_ns(difference)} more" in answer


def test_a_part_of_the_axis_is_told_in_as_many_pieces_as_asked(asking: Client) -> None:
    def axis(query: str) -> AxisPayload:
        reply = asking.get(f"/diff/axis?{TWO}{query}")
        return msgspec.json.decode(body(reply), type=AxisPayload, strict=True)

    whole = axis("")
    assert (whole.before.run, whole.after.run) == ("run", "changed")
    assert whole.note == ""
    assert 0 < whole.matched <= whole.operations
    assert len(axis("&n=3").axis_ns) <= len(whole.axis_ns)
    part = axis(f"&t0={whole.length_ns // 3}&t1={whole.length_ns // 2}&n=500")
    for found in (whole, part):
        assert (found.axis_ns[0], found.axis_ns[-1]) == (0, whole.length_ns)
        columns = (found.axis_ns, found.before_ns, found.after_ns, found.group)
        assert {len(column) for column in columns} == {len(found.axis_ns)}
        assert (found.before_ns[-1], found.after_ns[-1]) == (
            whole.before_ns[-1],
            whole.after_ns[-1],
        )


@pytest.mark.parametrize(
    ("times", "first"),
    [
        (((0, 10), (20, 30)), "run"),
        (((20, 30), (0, 10)), "changed"),
        (((20, 30), (0, 25)), "run"),
        (((None, None), (0, 10)), "run"),
    ],
)
def test_the_earlier_recording_is_before_on_request(
    times: tuple[tuple[int | None, int | None], ...], first: str
) -> None:
    catalogue = TwoRuns()
    for name, (begin, end) in zip(("opened", "other"), times, strict=True):
        own = getattr(catalogue, name)
        setattr(catalogue, name, replace(own, span=replace(own.span, begin=begin, end=end)))
    query = f"{TWO}&steps=1-5"
    found = diff(client(catalogue), f"{query}&earlier_first=1")
    assert found.a.run == first
    side = found.a if first == "run" else found.b
    assert chosen(side) == [1, 2, 3, 4, 5]
    assert diff(client(catalogue), query).a.run == "run"
