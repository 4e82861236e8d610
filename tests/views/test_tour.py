"""The tour: places of a file that nobody vouches for."""

from __future__ import annotations

import json

import pytest

from torch_tb_profiler.views.tour_wire import NO_TOUR, tour_payload

WORKERS = {"run": ["a", "b"], "empty": []}


def _file(*links: str) -> bytes:
    places = [{"text": link, "link": link} for link in links]
    return json.dumps({"sentences": ["Look."], "places": places}).encode()


def test_places_that_are_not_there_are_left_out() -> None:
    links = ("run=run", "run=run&worker=b", "run=run&worker=c", "run=gone", "view=memory")
    found = tour_payload(_file(*links, "run=empty"), WORKERS)
    assert [place.link for place in found.places] == ["run=run", "run=run&worker=b"]
    assert found.sentences == ["Look."]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b'{"sentences": "a", "places": []}',
        b'{"sentences": ["a"], "places": [{"text": "a", "link": 3}]}',
        _file(*["run=run"] * 9),
        _file("run=run&" + "a" * 400),
        _file("run=gone"),
    ],
)
def test_anything_else_is_no_tour(text: bytes) -> None:
    assert tour_payload(text, WORKERS) == NO_TOUR
