"""Searches, areas, arrows and curves over HTTP: the figures of a drawn trace, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import Client

from tests.web.served import body, client, error_of
from tests.web.timeline_asked import catalogue, query

US = 1000


@pytest.fixture(scope="module")
def asked() -> Client:
    return client(catalogue())


def ask(asked: Client, route: str, **parameters: str) -> Any:
    given: dict[str, str | None] = dict.fromkeys(question_parameters(route))
    response = asked.get(route, query_string=query(route, **{**given, **parameters}))
    assert response.status_code == 200, body(response)
    assert "immutable" in response.headers["Cache-Control"]
    return json.loads(body(response))


def question_parameters(route: str) -> list[str]:
    """What a right request of the route gives, to be left out unless a test gives it."""
    return [name for name in query(route) if name not in ("run", "worker", "span", "id")]


def test_a_search_tells_names(asked: Client) -> None:
    found = ask(asked, "/trace/search", q="AT")
    assert found["names"] == {
        "name": ["aten::mm", "late"],
        "look": [1, 3],
        "count": [2, 1],
        "total_ns": [44 * US, 20 * US],
    }
    assert (found["total"], found["names_total"]) == (3, 2)


def test_a_search_for_one_kind(asked: Client) -> None:
    everything = ask(asked, "/trace/search", q="AT")
    assert everything["kind"] == "all"
    assert everything["kinds"] == [
        {"kind": "device", "count": 1},
        {"kind": "operator", "count": 2},
    ]
    first = ask(asked, "/trace/search", q="AT", kind="first")
    assert (first["kind"], first["kinds"]) == ("device", everything["kinds"])
    assert (first["total"], first["names"]["name"]) == (1, ["late"])
    operators = ask(asked, "/trace/search/next", q="AT", kind="operator", t="0")
    assert operators["hit"]["name"] == "aten::mm"
    window = {"t0": "0", "t1": str(1 << 40), "n": "1"}
    assert ask(asked, "/trace/search/heat", q="AT", kind="python", **window)["counts"] == [0]


def test_an_area_of_one_kind(asked: Client) -> None:
    everything = ask(asked, "/trace/area", t0="0", t1=str(1 << 40))
    kinds = {each["kind"]: each["names"] for each in everything["kinds"]}
    assert list(kinds)[:2] == ["device", "operator"]
    assert sum(kinds.values()) == len(everything["rows"]["name"])
    first = ask(asked, "/trace/area", t0="0", t1=str(1 << 40), kind="first")
    assert (first["kind"], len(first["rows"]["name"])) == ("device", kinds["device"])
    assert first["kinds"] == everything["kinds"]
    flame = ask(asked, "/trace/area/flame", t0="0", t1=str(1 << 40), kind="device")
    assert "aten::mm" in flame["rows"]["name"]
    assert set(flame["rows"]["kind"]) == {"operator", "kernel"}


def test_searches_in_capitals_patterns_and_arguments(asked: Client) -> None:
    assert ask(asked, "/trace/search", q="AT", case="1")["total"] == 0
    assert ask(asked, "/trace/search", q="^(aten|late)", re="1")["total"] == 3
    assert ask(asked, "/trace/search", q="{}")["total"] == 0
    assert ask(asked, "/trace/search", q="{}", args="1")["names"]["name"] == ["here"]
    assert ask(asked, "/trace/search", q="length", args="1")["total"] == 0


def test_what_happened_before_the_first_span_is_found_where_it_is_drawn() -> None:
    early = {
        "ph": "i",
        "name": "early gemm",
        "cat": "x",
        "pid": 100,
        "tid": 1,
        "ts": -5,
        "s": "t",
        "args": {},
    }
    asked = client(catalogue([early]))
    assert ask(asked, "/trace/search/heat", q="gemm", t0="0", t1="1", n="1")["counts"] == [1]
    hit = ask(asked, "/trace/search/next", q="gemm", t="0")["hit"]
    assert (hit["name"], hit["start_ns"]) == ("early gemm", 0)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"after": "0", "t": "0"},
        {"after": "0", "before": "0"},
        {"after": "x"},
        {"before": "99"},
        {"t": "0", "dir": "up"},
    ],
)
def test_where_to_walk_from_is_one_place(asked: Client, given: dict[str, str]) -> None:
    left_out: dict[str, str | None] = {"after": None}
    response = asked.get(
        "/trace/search/next", query_string=query("/trace/search/next", **{**left_out, **given})
    )
    assert response.status_code == 400
    assert any(name in error_of(response).error.message for name in given or {"after": ""})
