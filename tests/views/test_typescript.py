"""The generated TypeScript names each type that it uses, and says what can be null."""

from __future__ import annotations

import re

from tests.generate import typescript


def test_every_named_type_is_there() -> None:
    text = typescript.typescript()
    declared = set(re.findall(r"export (?:interface|type) (\w+)", text))
    used = set(re.findall(r"[:(|] *([A-Z]\w+)", re.sub(r"/\*\*.*?\*/|//.*|\"[^\"]*\"", "", text)))
    assert used - {"Readonly"} <= declared  # TypeScript has this one.


def test_optional_list_items_are_bracketed() -> None:
    text = typescript.typescript()
    assert "  input_shapes: (string | null)[];" in text
    assert "  progress: number | null;" in text
    assert "  group: OperatorGroup;" in text
