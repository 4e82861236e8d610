"""The generated TypeScript is the one that wire.py says."""

from __future__ import annotations

import re

from torch_tb_profiler.views import typescript


def test_every_payload_and_every_named_type_is_there() -> None:
    text = typescript.typescript()
    declared = set(re.findall(r"export (?:interface|type) (\w+)", text))
    names = {name for module in typescript.MODULES for name in vars(module)}
    assert {name for name in names if name.endswith("Payload")} <= declared
    used = set(re.findall(r"[:(|] *([A-Z]\w+)", re.sub(r"/\*\*.*?\*/|//.*|\"[^\"]*\"", "", text)))
    assert used <= declared


def test_optional_list_items_are_bracketed() -> None:
    text = typescript.typescript()
    assert "  input_shapes: (string | null)[];" in text
    assert "  progress: number | null;" in text
    assert "  group: OperatorGroup;" in text
