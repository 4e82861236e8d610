"""Python rooms import only what the table of docs/architecture.md allows, and never in a circle."""

from __future__ import annotations

import pytest

from tests.architecture import python_imports, tree
from tests.architecture.circles import circles

P = tree.PACKAGE


def test_every_room_keeps_to_the_table() -> None:
    assert python_imports.violations(tree.python_package()) == []


def test_no_circle_between_modules() -> None:
    assert circles(python_imports.graph(tree.python_package())) == []


def test_the_table_has_no_circle_itself() -> None:
    assert circles(python_imports.ALLOWED) == []


def test_every_room_of_the_table_that_is_a_folder_exists() -> None:
    present = {python_imports.room(python_imports.module_name(p)) for p in tree.python_package()}
    files = {"__main__"}
    assert set(python_imports.ALLOWED) - files - present == set()


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
    files = {
        f"{P}/store/columns.py": line,
        f"{P}/views/wire.py": "",
        f"{P}/views/__init__.py": "",
        f"{P}/store/__init__.py": "",
    }
    assert len(python_imports.violations(files)) == 1


def test_base_may_not_import_a_room() -> None:
    files = {f"{P}/errors.py": f"from {P}.store import schema", f"{P}/store/schema.py": ""}
    assert len(python_imports.violations(files)) == 1


def test_base_may_be_imported_by_all() -> None:
    files = {f"{P}/store/schema.py": f"from {P}.errors import ProfilerError", f"{P}/errors.py": ""}
    assert python_imports.violations(files) == []


def test_an_unknown_room_is_found() -> None:
    assert len(python_imports.violations({f"{P}/helpers/x.py": ""})) == 1


def test_an_import_of_the_front_door_is_found() -> None:
    assert (
        len(
            python_imports.violations(
                {
                    f"{P}/store/x.py": f"from {P} import __version__",
                    f"{P}/__init__.py": "__version__ = ''",
                }
            )
        )
        == 1
    )


def test_a_circle_inside_a_room_is_found() -> None:
    files = {
        f"{P}/store/a.py": f"from {P}.store import b",
        f"{P}/store/b.py": f"def f() -> None:\n    from {P}.store.c import x",
        f"{P}/store/c.py": "from . import a\nx = 1",
        f"{P}/store/d.py": "from . import a",
    }
    assert circles(python_imports.graph(files)) == [[f"{P}.store.{n}" for n in "abc"]]


def test_a_circle_of_one_is_found() -> None:
    assert circles({"a": {"a"}, "b": {"a"}}) == [["a"]]
