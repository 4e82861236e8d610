"""The generated TypeScript is the one that wire.py says."""

from __future__ import annotations

import re

from tests.generate import typescript
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.web.route_table import ROUTES


def test_every_payload_and_every_named_type_is_there() -> None:
    text = typescript.typescript()
    declared = set(re.findall(r"export (?:interface|type) (\w+)", text))
    answers = {route.answers for route in ROUTES.values()}
    assert {a.__name__ for a in answers if issubclass(a, Wire)} <= declared
    used = set(re.findall(r"[:(|] *([A-Z]\w+)", re.sub(r"/\*\*.*?\*/|//.*|\"[^\"]*\"", "", text)))
    assert used <= declared


def test_optional_list_items_are_bracketed() -> None:
    text = typescript.typescript()
    assert "  input_shapes: (string | null)[];" in text
    assert "  progress: number | null;" in text
    assert "  group: OperatorGroup;" in text
