"""No file over 400 lines and no function over 60, except what debts.py lists."""

from __future__ import annotations

import pytest

from tests.architecture import sizes, tree
from tests.architecture.debts import DEBTS, Debt, unpaid


def looked_at() -> dict[str, str]:
    """Every text that people write as code; generated files are not."""
    found = tree.sources("", ".py", ".ts", ".tsx", ".css", ".mjs", ".js", ".sh")
    return {p: t for p, t in found.items() if ".gen." not in p}


def code() -> dict[str, str]:
    """Of it, what has functions that we measure."""
    return {
        p: t for p, t in looked_at().items() if p.endswith((".py", ".ts", ".tsx", ".mjs", ".js"))
    }


def test_files() -> None:
    assert unpaid("file", sizes.long_files(looked_at())) == []


def test_functions() -> None:
    assert unpaid("function", sizes.long_functions(code())) == []


def test_every_debt_is_of_a_rule_that_exists() -> None:
    assert {d.rule for d in DEBTS} <= {"file", "function", "shadow"}


def test_a_long_file_is_found() -> None:
    assert sizes.long_files({"a.py": "x = 1\n" * 401, "b.py": "x = 1\n" * 400}) == {"a.py": 401}


def test_a_long_python_function_is_found() -> None:
    body = "    x = 1\n" * 59
    text = f"class A:\n  def long(self):\n{body}    y = 2\n  async def brief(self):\n{body}"
    assert sizes.long_functions({"a.py": text}) == {"a.py:long": 61}


@pytest.mark.parametrize(
    ("head", "tail", "name"),
    [
        ("function draw(a: number): void {", "}", "draw"),
        ("export default async function draw<T>(a: T): Promise<Map<string, T>> {", "}", "draw"),
        ("const draw = (a: number): number => {", "};", "draw"),
        ("const draw = ({ a, b }: Props) => (", ");", "draw"),
        ("rows.forEach((row) => {", "});", "=>"),
        ("class A {\n  draw(a: (x: number) => void): void {", "}}", "draw"),
        ("const s = '{'; const t = `${a}{`; // {\nfunction draw() {", "}", "draw"),
        ("const T = <p>Don't {stop} it's</p>;\nfunction draw() {", "}", "draw"),
    ],
)
def test_a_long_typescript_function_is_found(head: str, tail: str, name: str) -> None:
    found = sizes.long_functions({"a.tsx": head + "\n" + "  x();\n" * 60 + tail + "\n"})
    assert [k.split(":")[1] for k in found] == [name]
    assert sizes.long_functions({"a.tsx": head + "\n" + "  x();\n" * 50 + tail + "\n"}) == {}


@pytest.mark.parametrize(
    "head",
    [
        "if (a) {",
        "for (const a of b) {",
        "switch (a) {",
        "const a = {",
        "interface A {",
        "while (f(a)) {",
        "describe('a', () => {",
    ],
)
def test_other_brackets_are_no_functions(head: str) -> None:
    assert sizes.long_functions({"a.ts": head + "\n" + "  x;\n" * 80 + "}\n"}) == {}


def test_the_ratchet() -> None:
    debt = Debt("file", "a.py", 450, "Because the parts would not stand alone.")
    assert unpaid("file", {"a.py": 450}, (debt,)) == []
    assert "has 451" in unpaid("file", {"a.py": 451}, (debt,))[0]
    assert "lowered to 410" in unpaid("file", {"a.py": 410}, (debt,))[0]
    assert "can go" in unpaid("file", {}, (debt,))[0]
    assert "none" in unpaid("file", {"b.py": 401}, ())[0]
    assert "no reason" in unpaid("file", {"a.py": 450}, (Debt("file", "a.py", 450, "big"),))[0]
