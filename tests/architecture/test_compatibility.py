"""Every test that ``docs/compatibility.md`` names is there."""

from __future__ import annotations

import re

from tests.architecture import tree

_NAMED = re.compile(r"`((?:tests|fe/src)/[\w/.]+\.(?:py|tsx?))(?:::(\w+))?`")


def test_the_tests_of_the_table_are_there() -> None:
    text = (tree.ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    named = _NAMED.findall(text)
    assert len(named) > 270
    for file, name in named:
        path = tree.ROOT / file
        assert path.is_file(), file
        assert not name or f"def {name}(" in path.read_text(encoding="utf-8"), (file, name)


def test_every_line_of_what_is_here_names_its_test() -> None:
    text = (tree.ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")]
    shown = [
        cells for cells in lines if len(cells) == 3 and cells[0].strip() not in ("there", "---")
    ]
    assert len(shown) > 200
    assert [cells[0] for cells in shown if not _NAMED.search(cells[2])] == []
