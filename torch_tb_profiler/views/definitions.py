"""The words of the page: definitions of all figures and columns of all tables; ``python -m tests.generate`` makes the
files from ``docs/definitions.md`` and the declared tables.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec

from torch_tb_profiler.untrusted import prepared
from torch_tb_profiler.views.wire import DeclaredTable, Definition, DefinitionsPayload


@lru_cache(maxsize=1)
def definitions_payload() -> DefinitionsPayload:
    """All definitions in the order of the document, and all declared tables."""
    return DefinitionsPayload(
        definitions=msgspec.json.decode(_text("definitions"), type=prepared(list[Definition])),
        tables=msgspec.json.decode(_text("tables"), type=prepared(list[DeclaredTable])),
    )


def _text(name: str) -> bytes:
    return Path(__file__).with_name(f"{name}.json").read_bytes()
