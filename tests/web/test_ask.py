"""Route ``/ask``: bounded, and of the chosen steps."""

from __future__ import annotations

import json
from typing import Any

from tests.web.served import WHERE, body, client, error_of
from torch_tb_profiler.views.ask.payload import LONGEST_QUESTION


def asked(question: str, more: str = "") -> dict[str, Any]:
    response = client().get("/ask", query_string=f"{WHERE}&q={question}{more}")
    found: dict[str, Any] = json.loads(body(response))
    return found


def test_the_route_answers_with_times_of_the_chosen_steps() -> None:
    answer = asked("mm", "&steps=1")
    assert answer["rows"]["kind"]
    assert len({len(column) for column in answer["rows"].values()}) == 1
    assert answer["over"].startswith("Times are of step")
    assert answer["subject"]["steps"] == "1"


def test_a_question_that_is_too_long_is_refused() -> None:
    response = client().get("/ask", query_string=f"{WHERE}&q={'a' * (LONGEST_QUESTION + 1)}")
    assert response.status_code == 400
    assert "q" in error_of(response).error.message
