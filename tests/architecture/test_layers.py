"""Rooms of the package import only what the table of docs/architecture.md allows, and nothing
imports in a circle. The page's table is held by eslint (fe/scripts/layers.mjs).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

import pytest

from tests.architecture import imports, tree
from tests.architecture.imports import circle, violations

P = tree.PACKAGE
_PAGE_IMPORT = re.compile(r"""(?:\bfrom|\bimport)[\s(]*["'](\.[^"'?]+)""")


def page_graph(files: Mapping[str, str]) -> dict[str, set[str]]:
    """File of the page → what it imports by a relative path, types and later imports included,
    all without their endings.
    """

    def plain(path: str) -> str:
        return re.sub(r"\.[jt]sx?$", "", posixpath.normpath(path))

    return {
        plain(path): {
            plain(posixpath.join(posixpath.dirname(path), target))
            for target in _PAGE_IMPORT.findall(text)
        }
        for path, text in files.items()
    }


def test_every_room_keeps_to_the_table() -> None:
    assert violations(tree.python_package()) == []


def test_no_circle_between_modules() -> None:
    assert circle(imports.graph(tree.python_package())) == []


def test_the_table_has_no_circle_and_no_room_that_is_not_there() -> None:
    modules = [imports.module_name(path) for path in tree.python_package()]
    assert {imports.room(module) for module in modules} == set(imports.ALLOWED)
    assert circle({room: imports.allowed(room) - {room} for room in imports.ALLOWED}) == []
    folders = {match[1] for m in modules if (match := re.match(rf"{P}\.(views\.\w+)\.", m))}
    assert folders <= set(imports.ALLOWED)


def test_no_circle_between_files_of_the_page_and_no_way_out_of_it() -> None:
    graph = page_graph(tree.frontend())
    assert circle(graph) == []
    targets = set().union(*graph.values())
    assert targets >= {"fe/src/base/definitions"}
    assert [target for target in sorted(targets) if not target.startswith("fe/src/")] == []


@pytest.mark.parametrize(
    "line",
    [
        f"from {P}.views.wire import Wire",
        f"import {P}.views.wire",
        f"from {P}.views import wire",
        "from ..views import wire",
        "from ..views.wire import Wire",
        f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {P}.views import wire",
        f"def f() -> None:\n    from {P}.views import wire",
        f"import importlib\nimportlib.import_module('{P}.views.wire')",
    ],
)
def test_an_upward_import_is_found_however_it_is_written(line: str) -> None:
    others = dict.fromkeys((f"{P}/{x}.py" for x in ("views/wire", "views/__init__")), "")
    assert (
        len(violations({f"{P}/store/columns.py": line, f"{P}/store/__init__.py": "", **others}))
        == 1
    )


@pytest.mark.parametrize(
    ("path", "imported", "count"),
    [
        ("errors.py", "store.schema", 1),
        ("store/x.py", "errors", 0),
        ("helpers/x.py", "errors", 1),
        ("analysis/arrays/x.py", "analysis.facts.y", 1),
        ("analysis/arrays/x.py", "analysis.arrays.y", 0),
        ("analysis/facts/x.py", "analysis.figures.y", 1),
        ("analysis/facts/x.py", "analysis.arrays.y", 0),
        ("analysis/figures/x.py", "analysis.diff.y", 1),
        ("analysis/figures/x.py", "analysis.facts.y", 0),
        ("analysis/diff/x.py", "analysis.memory.y", 0),
        ("views/x.py", "analysis.arrays.y", 0),
        ("views/x.py", "views.words.y", 1),
        ("views/words/x.py", "views.wire", 0),
        ("views/words/x.py", "analysis.facts.y", 0),
        ("views/words/x.py", "runs.y", 1),
        ("views/steps.py", "views.words.x", 0),
        ("views/timeline/x.py", "views.memory.y", 1),
        ("views/memory/x.py", "views.timeline.y", 0),
        ("web/x.py", "views.memory.y", 0),
        ("web/x.py", "analysis.facts.y", 1),
    ],
)
def test_what_the_table_says_of_an_import(path: str, imported: str, count: int) -> None:
    assert len(violations({f"{P}/{path}": f"import {P}.{imported}"})) == count


def test_a_circle_is_found() -> None:
    files = {
        f"{P}/store/a.py": f"from {P}.store import b",
        f"{P}/store/b.py": f"def f() -> None:\n    from {P}.store.c import x",
        f"{P}/store/c.py": "from . import a\nx = 1",
        f"{P}/store/d.py": "from . import a",
    }
    assert circle(imports.graph(files)) == [f"{P}.store.{name}" for name in "abc"]
    assert circle({"a": {"a"}, "b": {"a"}}) == ["a"]
