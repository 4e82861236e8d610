"""The page's files: types, caching, no way out of the folder, and words when nothing was built."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.web.served import client, error_of


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.js").write_text("export function render() {}")
    (folder / "assets" / "kernel-Dk3f_9aB.js").write_text("//")
    (folder / "assets" / "plain.css").write_text("a{}")
    (folder / ".hidden.js").write_text("secret")
    (folder / "notes.md").write_text("secret")
    (tmp_path / "secret.js").write_text("secret")
    (folder / "link.js").symlink_to(tmp_path / "secret.js")
    return folder


@pytest.mark.parametrize(
    ("name", "kind", "cache"),
    [
        ("index.js", "text/javascript; charset=utf-8", "no-cache"),
        (
            "assets/kernel-Dk3f_9aB.js",
            "text/javascript; charset=utf-8",
            "public, max-age=31536000, immutable",
        ),
        ("assets/plain.css", "text/css; charset=utf-8", "no-cache"),
        ("boot.js", "text/javascript; charset=utf-8", "no-cache"),
    ],
)
def test_types_and_caching(built: Path, name: str, kind: str, cache: str) -> None:
    response = client(static=built).get(f"/static/{name}")
    assert response.status_code == 200
    assert (response.content_type, response.headers["Cache-Control"]) == (kind, cache)
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "name",
    [
        "../secret.js",
        "assets/../../secret.js",
        "%2e%2e/secret.js",
        "..%2fsecret.js",
        "..\\secret.js",
        "link.js",
        ".hidden.js",
        "notes.md",
        "assets",
        "assets/",
        "",
        "/secret.js",
        "index.js/",
        "index.js%00.js",
        "nothing.js",
        "C:/x.js",
        "~/x.js",
    ],
)
def test_there_is_no_way_out(built: Path, name: str) -> None:
    response = client(static=built).get(f"/static/{name}")
    assert response.status_code == 404
    assert b"secret" not in response.data.replace(b"secret.js", b"")
    assert error_of(response).error.code == "not_found"


def test_a_rebuilt_file_is_served_anew(built: Path) -> None:
    page = client(static=built)
    first = page.get("/static/index.js")
    (built / "index.js").write_text("export function render() { return 1; }")
    os.utime(built / "index.js", ns=(1, 1))
    again = page.get("/static/index.js", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, b"return 1" in again.data) == (200, True)


def test_without_a_bundle_the_page_says_how_to_build_it(tmp_path: Path) -> None:
    entry = client(static=tmp_path).get("/static/index.js")
    assert entry.status_code == 200
    assert b"export async function render" in entry.data
    assert b"npm run build" in entry.data
    other = client(static=tmp_path).get("/static/assets/x-12345678.js")
    assert (other.status_code, error_of(other).error.code) == (503, "frontend_missing")


def test_the_stand_alone_page_has_no_inline_script_and_a_strict_policy(built: Path) -> None:
    response = client(static=built).get("/")
    assert response.content_type == "text/html; charset=utf-8"
    policy = dict(
        part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; ")
    )
    assert policy["default-src"] == policy["script-src"] == "'self'"
    assert "unsafe-eval" not in str(policy)
    assert b'lang="en"' in response.data
    assert b"<title>" in response.data
    scripts = response.data.split(b"<script")[1:]
    assert len(scripts) == 1
    assert b'src="static/boot.js"></script>' in scripts[0]
    assert b'from "./index.js"' in client(static=built).get("/static/boot.js").data


def test_the_notices_of_bundled_code_come_with_the_page(built_page: Path) -> None:
    """And stand in the page of a report, which is copied alone."""
    notices = {path.stem: path.read_text("utf-8") for path in built_page.glob("notices/*.txt")}
    assert "Jason Miller" in notices["preact"]
    report = (built_page / "report.js").read_text("utf-8")
    assert report.startswith("/*! preact ")
    for text in notices.values():
        head, _, licence = text.partition("\n\n")
        assert " (" in head
        assert "Permission is hereby granted" in licence
        assert text in report
