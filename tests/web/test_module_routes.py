"""The routes of the Module view: choices, repeats, and downloads."""

from __future__ import annotations

import json

import pytest

from tests.web.served import WHERE, body, client


@pytest.mark.parametrize("tree", ["module", "line"])
def test_trees(tree: str) -> None:
    frames = json.loads(body(client().get(f"/module/flame?{WHERE}&tree={tree}")))
    assert frames["tree"] == tree
    assert len({len(column) for column in frames["rows"].values()}) == 1


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
