"""Route ``/ranges``: what the page gets of annotated ranges."""

from __future__ import annotations

import json

from tests.builders.drawn import events, trace_of
from tests.web.served import WHERE, body, client
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.views.work.ranges import ranges_payload

US = 1000
DRAWING = """
    main   (ProfilerStep#1                                )
    main    (a        ) (b           ) (c        )
    main     <l #1>       <l #2>
    gpu 7         {x #1 }      {y #2    }
"""


def test_rows_beyond_the_limit_are_summed_up() -> None:
    trace = trace_of(events(DRAWING))
    facts = derive(trace)
    found = ranges_payload(facts, build_insight(trace, facts), select(facts), 1)
    assert found.pooled == 2
    rows = {name: list(values) for name, values in found.rows.items()}
    assert rows["name"] == ["b", "other"]
    assert rows["calls"] == [1, 2]
    assert rows["busy_ns"][0] == 10 * US


def test_the_route_answers_for_the_selected_steps() -> None:
    every = json.loads(body(client().get(f"/ranges?{WHERE}")))
    assert every["vocabulary"]["device"]
    assert len({len(column) for column in every["rows"].values()}) == 1
    assert client().get(f"/ranges?{WHERE}&steps=0").status_code == 200
