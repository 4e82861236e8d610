"""What is generated from declared tables and routes says what they say today."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.architecture import tree
from torch_tb_profiler.store import columns_doc
from torch_tb_profiler.store.fact_schema import FACT_TABLES
from torch_tb_profiler.store.schema import TRACE_TABLES
from torch_tb_profiler.web import routes_doc
from torch_tb_profiler.web.routes import ROUTES


def test_the_columns_page_is_fresh() -> None:
    written = (tree.ROOT / "docs" / "columns.md").read_text(encoding="utf-8")
    assert written == columns_doc.text(), (
        "run: python -m torch_tb_profiler.store.columns_doc --write"
    )


def test_every_column_is_on_the_page() -> None:
    page = columns_doc.text()
    for table in (*TRACE_TABLES, *FACT_TABLES):
        section = page.split(f"### `{table.name}`")[1].split("\n### ")[0]
        assert [c.name for c in table.columns if f"| `{c.name}` |" not in section] == []


def test_a_stale_page_is_found_and_repaired(tmp_path: Path) -> None:
    page = tmp_path / "columns.md"
    page.write_text(columns_doc.text().replace("`dur`", "`length`"), encoding="utf-8")
    assert columns_doc.main(["--check", str(page)]) == 1
    assert columns_doc.main(["--write", str(page)]) == 0
    assert columns_doc.main(["--check", str(page)]) == 0


def test_what_follows_from_the_routes_is_fresh() -> None:
    stale = [
        path
        for path, text in routes_doc.files(tree.ROOT).items()
        if path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], f"run: {routes_doc.COMMAND}"


def test_every_route_and_parameter_is_on_the_page() -> None:
    page = routes_doc.page("")
    shared = page.split("## Routes")[0]
    for path, route in ROUTES.items():
        section = page.split(f"\n### `{path}`\n")[1].split("\n### ")[0]
        for entry, _ in route.entries():
            assert entry.doc, f"{path}: {entry.name} has no sentence"
            assert f"| `{entry.name}` |" in section + shared


def test_stale_files_of_the_routes_are_found_and_repaired(tmp_path: Path) -> None:
    for path in routes_doc.files(tree.ROOT):
        copy = tmp_path / path.relative_to(tree.ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    assert routes_doc.main([], tmp_path) == 0
    for path in routes_doc.files(tmp_path):
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\nmore", encoding="utf-8")
        assert routes_doc.main([], tmp_path) == 1
        assert routes_doc.main(["--write"], tmp_path) == 0
        assert path.read_text(encoding="utf-8") == text
