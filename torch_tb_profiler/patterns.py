"""Regular expressions that are compiled when they are first asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast


class _Deferred:
    """Answers as its ``re.Pattern`` does. Each attribute is kept, so that only the first access costs more."""

    def __init__(self, text: str | bytes, flags: int = 0) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(cast("Any", re.compile)(*self._given), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    regex = re.compile
else:
    regex = _Deferred
