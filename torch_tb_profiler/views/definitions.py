"""The words of the page: definitions of all figures, which ``python -m tests.generate`` takes from ``docs/definitions.md``, and
the columns of all declared tables.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import cast

import msgspec

from torch_tb_profiler.store.display import DisplaySpec
from torch_tb_profiler.untrusted import prepared
from torch_tb_profiler.views.display_wire import tables_in
from torch_tb_profiler.views.wire import (
    CellKind,
    DeclaredColumn,
    DeclaredTable,
    Definition,
    DefinitionsPayload,
    Wire,
)

_KINDS: dict[str, CellKind] = {
    "mean time": "time",
    "delta bytes": "bytes",
    "category": "text",
    "texts": "code",
    "id": "count",
    "flag": "text",
}
"""Kinds of columns that the page draws as another kind."""


@lru_cache(maxsize=1)
def definitions_payload(answers: tuple[type, ...]) -> DefinitionsPayload:
    """All definitions in the order of the document, and the declared tables in payloads of the types ``answers``, by name."""
    payloads = [answer for answer in answers if issubclass(answer, Wire)]
    tables = [(spec.name, _columns(spec)) for spec in tables_in(payloads)]
    return DefinitionsPayload(
        definitions=definitions(),
        tables=[DeclaredTable(name=name, columns=columns) for name, columns in tables if columns],
    )


@lru_cache(maxsize=1)
def definitions() -> list[Definition]:
    """All definitions in the order of the document."""
    text = Path(__file__).with_name("definitions.json").read_bytes()
    return msgspec.json.decode(text, type=prepared(list[Definition]))


def _columns(spec: DisplaySpec) -> list[DeclaredColumn]:
    return [
        DeclaredColumn(
            key=column.name,
            label=column.label,
            kind=_KINDS.get(column.kind) or cast(CellKind, column.kind),
            term=column.term,
            width=column.width or None,
            bar=column.bar,
            hidden=column.hidden,
        )
        for column in spec.columns
        if column.label and column.page
    ]
