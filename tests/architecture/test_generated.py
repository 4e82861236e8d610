"""Generated files are what the programs make today."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import generate
from tests.architecture import tree
from tests.generate import definitions, routes
from torch_tb_profiler.web.route_table import ROUTES


@pytest.mark.slow
def test_nothing_is_stale() -> None:
    # In a process of its own: another test may have registered performance models.
    command = [sys.executable, "-m", "tests.generate"]
    report = subprocess.run(command, capture_output=True, text=True, cwd=tree.ROOT, timeout=120)
    assert (report.stdout, report.returncode) == ("", 0), "run: python -m tests.generate --write"


def test_what_is_stale_is_found_and_repaired(tmp_path: Path) -> None:
    made = {"a/x.md": lambda held: held.partition("#")[0] + "# rows\n", "fe/y.ts": lambda _: "y"}
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.md").write_text("By people.\n# old\n", encoding="utf-8")
    assert generate.stale(tmp_path, makers=made) == ["a/x.md"], "an sdist has no fe"
    assert generate.stale(tmp_path, write=True, makers=made) == ["a/x.md"]
    assert (tmp_path / "a/x.md").read_text(encoding="utf-8") == "By people.\n# rows\n"
    assert generate.stale(tmp_path, makers=made) == []


def test_a_definition_is_its_heading_and_first_paragraph_without_markdown() -> None:
    text = (
        "# Title\n\nIntro\n\n### host_self — Host self time\nTime in the operator `itself`,\nwithout"
        " **children** ([why](x.md)), x * y.\n\nFormula: a − b\n\n### b — the “B”\n\nOne\n- item\n"
    )
    made = json.loads(definitions.as_json(text))
    assert made == [
        {
            "key": "host_self",
            "label": "Host self time",
            "text": "Time in the operator itself, without children (why), x * y.",
        },
        {"key": "b", "label": "the “B”", "text": "One"},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("### a — A\n\n### b — B\ntext\n", "a has no sentence"),
        ("### a — A\n- a list\n", "a has no sentence"),
        ("### a — A\ntext\n\n### a — A\ntext\n", "a is defined twice"),
        ("### A heading\ntext\n", 'expected "### key — Label", found "### A heading"'),
    ],
)
def test_what_is_wrong_with_a_definition_is_said(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        definitions.entries(text)


def test_every_route_and_parameter_is_on_the_page() -> None:
    page = routes.page("")
    shared = page.split("## Routes")[0]
    for path, route in ROUTES.items():
        section = page.split(f"\n### `{path}`\n")[1].split("\n### ")[0]
        for entry, _ in route.entries():
            assert entry.doc, f"{path}: {entry.name} has no sentence"
            assert f"| `{entry.name}` |" in section + shared
