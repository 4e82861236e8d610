"""docs/columns.md is what the declared tables say today."""

from __future__ import annotations

from pathlib import Path

from tests.architecture import tree
from torch_tb_profiler.store import columns_doc
from torch_tb_profiler.store.fact_schema import FACT_TABLES
from torch_tb_profiler.store.schema import TRACE_TABLES


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
