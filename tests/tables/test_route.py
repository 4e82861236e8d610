"""Route ``/table`` answers every table of a trace, by the groups that it has and no others."""

from __future__ import annotations

import json

import pytest

from tests.web.served import WHERE, body, client
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
