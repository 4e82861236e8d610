"""Lists that a trace holds as JSON text, which anybody may have written."""

from __future__ import annotations

import json
from typing import Any


def json_list(text: str) -> list[Any] | None:
    """The list that a text is; None where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None
