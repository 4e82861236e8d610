"""How large the code may be: lines and statements of each room, at most what ``budget.json`` says of it.

A change that needs more raises the number in a commit of its own that says what users get for it. What shrinks by more than
``SLACK`` lowers it, so that nothing else grows into the room.
"""

from __future__ import annotations

import ast
import json

import pytest

from tests.architecture import tree

pytestmark = pytest.mark.slow

SLACK = 300
"""Lines that a room may have less than its number, so that not every small change touches it."""
BUDGET = json.loads((tree.ROOT / "tests/architecture/budget.json").read_text(encoding="utf-8"))
PAGE, TESTS = "page", "tests"
PYTHON = ".py"
PACKAGE = (PYTHON, ".c", ".json", ".txt")
PAGE_CODE = (".ts", ".tsx", ".css")


def room_of(path: str) -> str | None:
    """The row of the budget that a file counts in; None for what is generated, or no code of ours."""
    top, _, rest = path.partition("/")
    if ".gen." in path or "/fixtures/" in path:
        return None
    if path.startswith("fe/src/") and path.endswith(PAGE_CODE):
        return TESTS if ".test." in path or "/testing/" in path else PAGE
    if top == TESTS and path.endswith(PYTHON):
        return TESTS
    if top != tree.PACKAGE or not path.endswith(PACKAGE):
        return None
    parts = rest.split("/")
    if parts[0] == "analysis":
        return "/".join(parts[:2]) if len(parts) > 2 else "analysis"
    return parts[0] if len(parts) > 1 else "top"


def statements(syntax: ast.AST) -> int:
    """Those of a module, without a look at expressions, which hold none."""
    left, count = [syntax], 0
    while left:
        node = left.pop()
        count += isinstance(node, ast.stmt)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, ())
            left += inner if isinstance(inner, list) else ()
    return count


def sizes() -> dict[str, list[int]]:
    """Of each room its lines and its statements of Python."""
    found: dict[str, list[int]] = {}
    for path, text in tree.sources("", *PACKAGE, *PAGE_CODE).items():
        room = room_of(path)
        if room is None:
            continue
        size = found.setdefault(room, [0, 0])
        size[0] += text.count("\n")
        if path.endswith(PYTHON):
            size[1] += statements(tree.syntax(text))
    return dict(sorted(found.items()))


def test_rooms_keep_to_their_budgets_and_have_none_that_they_do_not_need() -> None:
    size = sizes()
    over = {
        room: (size[room], BUDGET.get(room))
        for room in size
        if room not in BUDGET or any(map(int.__gt__, size[room], BUDGET[room]))
    }
    assert over == {}, "room: ([lines, statements], what the budget allows)"
    assert set(BUDGET) == set(size)
    assert {room for room in BUDGET if BUDGET[room][0] - size[room][0] > SLACK} == set()
