"""Route ``/lines``: what the page gets of source lines."""

from __future__ import annotations

import json

from tests.builders.drawn import events, trace_of
from tests.web.served import WHERE, body, client
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.views.work.lines import LinesPayload, lines_payload

NAMES = {"a": "/w/a.py(1): f", "b": "/w/b.py(2): g", "c": "/w/c.py(3): h"}


def of(drawing: str, limit: int = 9) -> LinesPayload:
    trace = trace_of(events(drawing, NAMES))
    facts = derive(trace)
    return lines_payload(trace, facts, build_insight(trace, facts), select(facts), "own", limit)


def test_lines_beyond_the_limit_are_summed_up() -> None:
    found = of("main /a                  /\nmain   /b   /  [aten::mm]", 1)
    assert found.pooled == 1
    assert found.rows["line"] == ["/w/a.py: f", "other"]
    assert found.sentences == [
        "f of a.py takes 21.0 µs of the 21.0 µs on the path, 15.0 µs of it in no rung beneath.",
        "Sums over the whole recording.",
    ]


def test_the_sentence_says_where_the_path_splits() -> None:
    found = of("main /a                  /\nmain   /b   / /c      /")
    assert (
        found.sentences[0]
        == "From f at a.py:1 the path splits: 9.00 µs in h, 6.00 µs in g, of 21.0 µs."
    )


def test_without_stacks_the_call_that_records_them_is_told() -> None:
    found = of("main [aten::mm]")
    assert found.rows["line"] == []
    assert [item.key for item in found.missing] == ["stack"]
    assert "with_stack=True" in found.missing[0].call


def test_the_route_answers_for_the_selected_steps() -> None:
    every = json.loads(body(client().get(f"/lines?{WHERE}")))
    assert len({len(column) for column in every["rows"].values()}) == 1
    assert client().get(f"/lines?{WHERE}&steps=0").status_code == 200
