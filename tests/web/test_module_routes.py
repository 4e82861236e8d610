"""The routes of the Module view: choices, repeats, and downloads."""

from __future__ import annotations

import json

import pytest

from tests.web.served import WHERE, WrittenCatalogue, body, client, error_of


@pytest.mark.parametrize("tree", ["module", "line"])
def test_trees(tree: str) -> None:
    frames = json.loads(body(client().get(f"/module/flame?{WHERE}&tree={tree}")))
    assert frames["tree"] == tree
    assert len({len(column) for column in frames["rows"].values()}) == 1


def test_the_module_tree_is_sent_once() -> None:
    asked = client(WrittenCatalogue())
    first = asked.get(f"/module?{WHERE}")
    assert (
        asked.get(f"/module?{WHERE}", headers={"If-None-Match": first.headers["ETag"]}).status_code
        == 304
    )
    assert body(asked.get(f"/module?{WHERE}&steps=0")) != body(first)


@pytest.mark.parametrize(
    ("file_format", "ending", "kind"),
    [
        ("folded", "ns.folded.txt", "text/plain; charset=utf-8"),
        ("speedscope", "speedscope.json", "application/json"),
    ],
)
def test_downloads(file_format: str, ending: str, kind: str) -> None:
    response = client().get(
        f"/module/flame/file?{WHERE}&tree=line&metric=device&format={file_format}"
    )
    assert response.status_code == 200
    assert response.headers["Content-Disposition"].endswith(f'.line.device.{ending}"')
    assert response.headers["Content-Disposition"].startswith('attachment; filename="')
    assert response.headers["Content-Type"] == kind
    assert response.headers["Cache-Control"] == "no-store"
    assert response.data


@pytest.mark.parametrize(
    "wrong",
    [
        "tree=",
        "tree=modules",
        "metric=cpu",
        "format=svg",
        "format=folded&format=folded",
        "steps=9",
        "tree=module&tree=line",
    ],
)
def test_wrong_choices(wrong: str) -> None:
    response = client().get(f"/module/flame/file?{WHERE}&{wrong}")
    assert response.status_code == 400
    assert wrong.partition("=")[0] in error_of(response).error.message
