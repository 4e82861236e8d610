"""The definitions of all figures, for the page; ``python -m tests.generate`` makes the file
from ``docs/definitions.md``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec

from torch_tb_profiler.views.wire import Definition, DefinitionsPayload


@lru_cache(maxsize=1)
def definitions_payload() -> DefinitionsPayload:
    """All definitions in the order of the document."""
    text = Path(__file__).with_name("definitions.json").read_bytes()
    return DefinitionsPayload(definitions=msgspec.json.decode(text, type=list[Definition]))
