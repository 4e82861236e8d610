"""A payload as the page gets it."""

from __future__ import annotations

from typing import Any

import orjson

from torch_tb_profiler.views.wire import Wire, to_json


def wired(payload: Wire) -> Any:
    """Decoded again from its JSON."""
    return orjson.loads(to_json(payload))
