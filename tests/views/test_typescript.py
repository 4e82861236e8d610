"""The generated TypeScript is the one that wire.py says."""

from __future__ import annotations

import re

import pytest

from torch_tb_profiler.views import typescript, wire


def test_committed_types_are_current() -> None:
    path = typescript.target()
    if not path.parents[3].joinpath("fe").is_dir():
        pytest.skip("this installation has no frontend sources")
    assert path.read_text(encoding="utf-8") == typescript.typescript(), (
        "stale: python -m torch_tb_profiler.views.typescript --write"
    )


def test_every_payload_and_every_named_type_is_there() -> None:
    text = typescript.typescript()
    declared = set(re.findall(r"export (?:interface|type) (\w+)", text))
    assert {p.__name__ for p in wire.PAYLOADS} <= declared
    used = set(re.findall(r"[:(|] *([A-Z]\w+)", re.sub(r"/\*\*.*?\*/|//.*|\"[^\"]*\"", "", text)))
    assert used <= declared


def test_optional_list_items_are_bracketed() -> None:
    text = typescript.typescript()
    assert "  shapes: (string | null)[];" in text
    assert "  progress: number | null;" in text
    assert "  group: OperatorGroup;" in text
