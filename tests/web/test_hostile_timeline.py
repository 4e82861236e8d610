"""Wrong, doubled, huge and malicious parameters of the timeline's routes: a clear 4xx in bounded
time, and never more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from werkzeug.test import Client, TestResponse

from tests.builders.drawn import Event
from tests.builders.loop import span
from tests.web.served import body, client, error_of
from tests.web.timeline_asked import OF_A_CONTENT, PARAMETERS, TYPES, catalogue, query
from torch_tb_profiler.web import trace_routes

PATIENCE_SECONDS = 30.0
LONGEST_ERROR = 1500


@pytest.fixture(scope="module")
def asked() -> Client:
    return client(catalogue())


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Whatever is asked, the answer comes soon: far more than any takes, far less than what runs
    away.
    """
    begin = time.process_time()
    yield
    assert time.process_time() - begin < PATIENCE_SECONDS


def refused(response: TestResponse, status: int = 400) -> str:
    """The message of a refusal in the one error shape."""
    assert response.status_code == status, body(response)[:300]
    assert len(body(response)) < LONGEST_ERROR
    assert response.headers["Cache-Control"] == "no-store"
    return error_of(response).error.message


def test_too_many_tiles_of_too_many_lanes(asked: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asking = query("/trace/tiles", k="0,1", lanes="0-2")
    monkeypatch.setattr(trace_routes, "MOST_CELLS", 6)
    assert asked.get("/trace/tiles", query_string=asking).status_code == 200
    monkeypatch.setattr(trace_routes, "MOST_CELLS", 5)
    assert "2 tiles of 3 lanes" in refused(asked.get("/trace/tiles", query_string=asking))


@pytest.mark.parametrize("route", ["/trace/event", "/trace/event/args", "/trace/collective"])
def test_an_event_that_does_not_exist(asked: Client, route: str) -> None:
    for event in ("14", "99", str((1 << 31) - 1)):
        assert event in refused(asked.get(route, query_string=query(route, event=event)), 404)
    for event in (str(1 << 31), str(1 << 32), str((1 << 62) - 1), str(1 << 63)):
        assert refused(asked.get(route, query_string=query(route, event=event)))


def test_another_content_is_outdated(asked: Client) -> None:
    for route in (*OF_A_CONTENT, "/trace/collective"):
        for identity in ("", "other", "0123456789abcdeF", "é", "../..", "%00"):
            response = asked.get(route, query_string=query(route, id=identity))
            refused(response, 409)
            assert error_of(response).error.code == "outdated"


@pytest.mark.parametrize("route", [r for r in TYPES if "t0" in PARAMETERS[r]])
def test_windows_beyond_the_trace_are_empty(asked: Client, route: str) -> None:
    far = 1 << 61
    response = asked.get(route, query_string=query(route, t0=str(far), t1=str(far + 10)))
    assert response.status_code in (200, 400)
    everything = asked.get(route, query_string=query(route, t0="0", t1=str((1 << 62) - 1)))
    assert everything.status_code in (200, 400), "the window is wider than any trace"


LONG = 400
EVIL = [
    "(a+)+$",
    "(a|aa)+$",
    "(a|a)*b",
    "(.*a){25}$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(a*)*b",
    "(?:a?){40}a{40}$",
    "(x+x+)+y",
    "((a+)(a+))+b",
    "(.*)*x",
    "(?=(a+))a*b\\1",
    "(a{1,30}){1,30}$",
    "a" * 3000 + "(a+)+b",
    "(\\w+\\s?)*!",
]
INVALID = [
    "(",
    "[",
    "*a",
    "a**",
    "a{2,1}",
    "\\",
    "(?<=a+)b",
    "\\1",
    "(?z)",
    "[z-a]",
    "(?P<",
    "a{1001}",
    "(a{1000}){1000}",
    "(" * 900,
]


def long_named() -> list[Event]:
    """Events with names on which backtracking explodes."""
    names = ["a" * LONG + "!", "aB" * LONG + "?", "x" * LONG, "word " * 100 + "#"]
    return [
        span("cpu_op", f"{name}{i}", 100, 1, 1000 + i, 1, text=name)
        for i in range(25)
        for name in names
    ]


@pytest.fixture(scope="module")
def long_names() -> Client:
    return client(catalogue(long_named()))


SEARCHES = ("/trace/search", "/trace/search/heat", "/trace/search/next")


@pytest.mark.parametrize("pattern", INVALID, ids=range(len(INVALID)))
def test_invalid_patterns(long_names: Client, pattern: str) -> None:
    for route in SEARCHES:
        assert refused(long_names.get(route, query_string=query(route, q=pattern, re="1")))
        # The same text is a right question when it is meant as a text.
        assert long_names.get(route, query_string=query(route, q=pattern)).status_code == 200
