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


def lanes_of(asked: Client, kind: str) -> str:
    groups = json.loads(body(asked.get("/trace/timeline", query_string=query("/trace/timeline"))))[
        "groups"
    ]
    return ",".join(
        f"{g['lane']}-{g['lane'] + g['lanes'] - 1}" for g in groups if g["kind"] == kind
    )


def test_a_search_tells_names_and_hits(asked: Client) -> None:
    found = ask(asked, "/trace/search", q="AT")
    assert found["names"] == {
        "name": ["aten::mm", "late"],
        "look": [1, 3],
        "count": [2, 1],
        "total_ns": [44 * US, 20 * US],
    }
    assert (found["total"], found["names_total"]) == (3, 2)
    assert found["hits"]["name"] == ["aten::mm", "late", "aten::mm"]
    assert found["hits"]["start_ns"] == sorted(found["hits"]["start_ns"])
    assert found["hits"]["dur_ns"] == [23 * US, 20 * US, 21 * US]
    assert len(found["hits"]["event"]) == len(found["hits"]["lane"]) == 3


def test_a_search_for_one_kind(asked: Client) -> None:
    everything = ask(asked, "/trace/search", q="AT")
    assert everything["kind"] == "all"
    assert everything["kinds"] == [
        {"kind": "device", "count": 1},
        {"kind": "operator", "count": 2},
    ]
    first = ask(asked, "/trace/search", q="AT", kind="first")
    assert (first["kind"], first["kinds"]) == ("device", everything["kinds"])
    assert (first["total"], first["names"]["name"], first["hits"]["name"]) == (
        1,
        ["late"],
        ["late"],
    )
    operators = ask(asked, "/trace/search/next", q="AT", kind="operator", t="0")
    assert (operators["hit"]["name"], operators["total"]) == ("aten::mm", 2)
    window = {"t0": "0", "t1": str(1 << 40), "n": "1"}
    assert ask(asked, "/trace/search/heat", q="AT", kind="python", **window)["counts"] == [0]


def test_an_area_of_one_kind(asked: Client) -> None:
    everything = ask(asked, "/trace/area", t0="0", t1=str(1 << 40))
    kinds = {each["kind"]: each["names"] for each in everything["kinds"]}
    assert list(kinds)[:2] == ["device", "operator"]
    assert sum(kinds.values()) == len(everything["rows"]["name"])
    first = ask(asked, "/trace/area", t0="0", t1=str(1 << 40), kind="first")
    assert (first["kind"], len(first["rows"]["name"])) == ("device", kinds["device"])
    assert (first["kinds"], first["events"]) == (everything["kinds"], everything["events"])
    flame = ask(asked, "/trace/area/flame", t0="0", t1=str(1 << 40), kind="device")
    assert "aten::mm" in flame["rows"]["name"]
    assert set(flame["rows"]["kind"]) == {"operator", "kernel"}


def test_searches_in_capitals_patterns_and_arguments(asked: Client) -> None:
    assert ask(asked, "/trace/search", q="AT", case="1")["total"] == 0
    assert ask(asked, "/trace/search", q="^(aten|late)", re="1")["total"] == 3
    assert ask(asked, "/trace/search", q="{}")["total"] == 0
    assert ask(asked, "/trace/search", q="{}", args="1")["hits"]["name"] == ["here"]
    assert ask(asked, "/trace/search", q="length", args="1")["total"] == 0


def test_heat_adds_up_to_the_hits_of_the_window(asked: Client) -> None:
    whole = ask(asked, "/trace/search/heat", q="aten", t0="0", t1=str(100 * US), n="10")["counts"]
    assert (len(whole), sum(whole)) == (10, 2)
    starts = ask(asked, "/trace/search", q="aten")["hits"]["start_ns"]
    assert [at for at, count in enumerate(whole) if count] == [
        start // (10 * US) for start in starts
    ]
    assert ask(
        asked, "/trace/search/heat", q="aten", t0=str(starts[0] + 1), t1=str(starts[1]), n="3"
    )["counts"] == [0, 0, 0]


def test_hits_are_walked_in_a_circle(asked: Client) -> None:
    hits = ask(asked, "/trace/search", q="gemm|aten", re="1")["hits"]["event"]
    assert len(hits) == 4
    for at, event in enumerate(hits):
        following = ask(asked, "/trace/search/next", q="gemm|aten", re="1", after=str(event))
        assert (following["hit"]["event"], following["index"], following["total"]) == (
            hits[(at + 1) % 4],
            (at + 1) % 4,
            4,
        )
        assert (
            ask(asked, "/trace/search/next", q="gemm|aten", re="1", before=str(event))["hit"][
                "event"
            ]
            == hits[at - 1]
        )
    start = ask(asked, "/trace/search/next", q="gemm", t="0")["hit"]["start_ns"]
    assert ask(asked, "/trace/search/next", q="gemm", t=str(start))["hit"]["start_ns"] == start
    assert ask(asked, "/trace/search/next", q="gemm", t=str(start + 1), dir="next")["index"] == 1
    assert ask(asked, "/trace/search/next", q="gemm", t=str(start), dir="previous")["index"] == 1
    assert ask(asked, "/trace/search/next", q="nothing", t="0") == {
        "hit": None,
        "index": 0,
        "total": 0,
    }


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
    hits = ask(asked, "/trace/search", q="gemm")["hits"]
    assert (hits["name"][0], hits["start_ns"][0]) == ("early gemm", 0)
    assert ask(asked, "/trace/search/heat", q="gemm", t0="0", t1="1", n="1")["counts"] == [1]
    assert ask(asked, "/trace/search/next", q="gemm", t="0")["hit"]["name"] == "early gemm"


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


def test_an_area_tells_names_groups_and_overlap(asked: Client) -> None:
    lanes = lanes_of(asked, "work")
    begin = ask(asked, "/trace/search/next", q="gemm", t="0")["hit"]["start_ns"]
    found = ask(asked, "/trace/area", t0=str(begin + US), t1=str(begin + 21 * US), lanes=lanes)
    rows = found["rows"]
    assert dict(
        zip(rows["name"], zip(rows["count"], rows["total_ns"], strict=True), strict=True)
    ) == {"gemm": (1, 18 * US), "late": (1, 8 * US)}
    assert rows["mean_ns"] == rows["shortest_ns"] == rows["longest_ns"] == rows["total_ns"]
    assert found["events"] == 2
    assert [
        (group["key"].rpartition("/")[2], group["busy_ns"], group["events"])
        for group in found["groups"]
    ] == [("work", 20 * US, 2)]
    assert found["overlap"] == {
        "computation_ns": 20 * US,
        "overlap_ns": 0,
        "communication_ns": 0,
        "idle_ns": 0,
    }
    assert (
        ask(asked, "/trace/area", t0="0", t1=str(US), lanes=lanes_of(asked, "python"))["overlap"]
        is None
    )
    everything = ask(asked, "/trace/area", t0="0", t1=str(1 << 61))
    described = json.loads(
        body(asked.get("/trace/timeline", query_string=query("/trace/timeline")))
    )
    assert everything["events"] == described["events"]
    assert [group["key"] for group in everything["groups"]] == [
        group["key"] for group in described["groups"]
    ]


def test_the_mean_of_an_area_is_rounded(asked: Client) -> None:
    second = ask(asked, "/trace/search", q="aten::mm")["hits"]["start_ns"][1]
    rows = ask(asked, "/trace/area", t0="0", t1=str(second + 3))["rows"]
    row = rows["name"].index("aten::mm")
    assert (rows["total_ns"][row], rows["count"][row], rows["mean_ns"][row]) == (
        23 * US + 3,
        2,
        11_502,
    )
    assert (rows["shortest_ns"][row], rows["longest_ns"][row]) == (3, 23 * US)


def test_arrows_of_a_window(asked: Client) -> None:
    whole = ask(asked, "/trace/arrows", t0="0", t1=str(100 * US))
    assert (whole["total"], whole["kind"]) == (2, ["launch", "launch"])
    assert all(
        source < target
        for source, target in zip(whole["source_ns"], whole["target_ns"], strict=True)
    )
    capped = ask(asked, "/trace/arrows", t0="0", t1=str(100 * US), cap="1")
    assert (capped["total"], capped["source"]) == (2, whole["source"][:1])
    assert (
        ask(asked, "/trace/arrows", t0=str(whole["target_ns"][1] + 1), t1=str(100 * US))["total"]
        == 0
    )
    on_lane = ask(
        asked,
        "/trace/arrows",
        t0="0",
        t1=str(100 * US),
        kinds="launch",
        lanes=str(whole["source_lane"][0]),
    )
    assert on_lane["source"] == [
        s
        for s, lane in zip(whole["source"], whole["source_lane"], strict=True)
        if lane == whole["source_lane"][0]
    ]
    assert (
        ask(asked, "/trace/arrows", t0="0", t1=str(100 * US), lanes=lanes_of(asked, "python"))[
            "total"
        ]
        == 0
    )


def test_curves_of_a_window(asked: Client) -> None:
    described = json.loads(
        body(asked.get("/trace/timeline", query_string=query("/trace/timeline")))
    )["counters"]
    keys = [series["key"] for series in described]
    assert keys == ["utilization:0", "queue:0", "counter:100:queue:length"]
    found = ask(asked, "/trace/counters", series="2,0", t0="0", t1=str(50 * US), n="50")
    lowest, mean = found["curves"][0]["lowest"], found["curves"][1]["mean"]
    first = next(at for at, value in enumerate(lowest) if value is not None)
    assert lowest[:first] == [None] * first
    assert set(lowest[first:]) == {3.0, 5.0}
    assert sum(mean) == sum(1 for value in mean if value)
    assert described[2]["highest"] == 5


def test_bounds_are_those_of_the_documents(asked: Client) -> None:
    for route, name, most in (
        ("/trace/counters", "n", 4096),
        ("/trace/search/heat", "n", 4096),
        ("/trace/arrows", "cap", 5000),
    ):
        assert asked.get(route, query_string=query(route, **{name: str(most)})).status_code == 200
        assert (
            asked.get(route, query_string=query(route, **{name: str(most + 1)})).status_code == 400
        )
