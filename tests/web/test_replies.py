"""Compression, validation, and what is kept."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

import pytest

from tests.web.served import WHERE, WrittenCatalogue, client
from torch_tb_profiler.errors import Busy
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.overview.payload import overview_payload
from torch_tb_profiler.views.wire import OverviewPayload
from torch_tb_profiler.web import figure_routes, replies
from torch_tb_profiler.web.replies import Body


def test_gzip_only_when_accepted() -> None:
    plain = client().get(f"/overview?{WHERE}")
    packed = client().get(f"/overview?{WHERE}", headers={"Accept-Encoding": "br, gzip"})
    refused = client().get(f"/overview?{WHERE}", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data == refused.data
    assert {r.headers["Vary"] for r in (plain, packed)} == {"Accept-Encoding"}


def test_small_bodies_are_not_worth_it() -> None:
    assert (
        "Content-Encoding"
        not in client().get("/diagnosis", headers={"Accept-Encoding": "gzip"}).headers
    )


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_a_known_tag_is_answered_without_a_body(encoding: str) -> None:
    first = client().get(f"/kernel?{WHERE}", headers={"Accept-Encoding": encoding})
    again = client().get(
        f"/kernel?{WHERE}",
        headers={"If-None-Match": first.headers["ETag"], "Accept-Encoding": encoding},
    )
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    other = client().get(
        f"/kernel?{WHERE}&group=properties", headers={"If-None-Match": first.headers["ETag"]}
    )
    assert other.status_code == 200


def test_a_large_body_is_kept_compressed_and_sent_either_way() -> None:
    data = b"x" * (replies.LARGE_BYTES + 1)
    large = Body(data)
    assert large.data == data == gzip.decompress(large.compressed)
    assert large.size == len(data)


def test_a_payload_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    real: Callable[..., OverviewPayload] = overview_payload

    def counted(facts: Facts, *rest: object) -> OverviewPayload:
        made.append(1)
        return real(facts, *rest)

    monkeypatch.setattr(figure_routes, "overview_payload", counted)
    catalogue = WrittenCatalogue()
    for _ in range(3):
        assert client(catalogue).get(f"/overview?{WHERE}").status_code == 200
    assert len(made) == 1
    assert client(catalogue).get(f"/overview?{WHERE}&steps=1").status_code == 200
    assert len(made) == 2


def test_the_wait_for_an_import_says_when_to_ask_again() -> None:
    assert client().get("/overview?run=slow&worker=w0&span=1").headers["Retry-After"] == "1"


def test_a_server_that_is_busy_says_when_to_ask_again() -> None:
    response = replies.error(Busy("Other searches are being done.", "Try again."))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert json.loads(response.get_data())["error"]["code"] == "busy"
