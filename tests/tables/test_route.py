"""Route ``/table`` answers every table of a trace, by the groups that it has and no others."""

from __future__ import annotations

import json

import pytest

from tests.web.served import WHERE, WrittenCatalogue, body, client
from torch_tb_profiler.errors import NotReady
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.web.figure_routes import SERVED


@pytest.mark.parametrize("name", SERVED)
def test_it_answers_every_table(name: str) -> None:
    for by in ("", *TABLES[name].groups):
        answer = client().get(f"/table?{WHERE}&name={name}&by={by}")
        assert answer.status_code == 200, body(answer)
        found = json.loads(body(answer))
        assert [column["name"] for column in found["columns"]] == list(found["rows"])
        assert len({len(values) for values in found["rows"].values()}) <= 1
    assert client().get(f"/table?{WHERE}&name={name}&by=nothing").status_code == 400


def test_only_what_needs_the_insight_waits_for_it() -> None:
    class Early(WrittenCatalogue):
        def insight(self, run: str, worker: str, span: str) -> OpenedInsight:
            raise NotReady("It is being made.", "Wait a moment.", progress=0.5)

    page = client(Early())
    for name in SERVED:
        status = page.get(f"/table?{WHERE}&name={name}").status_code
        assert status == (200 if TABLES[name].needs == "trace" else 202), name
