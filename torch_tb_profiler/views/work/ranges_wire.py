"""Wire types of the ranges on the Module view. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.ranges.table import RANGES
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Vocabulary, Wire


class RangesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/ranges``. ``pooled``: ranges that the last row pools; 0 none."""

    vocabulary: Vocabulary
    rows: Annotated[dict[str, Any], table_of(RANGES)]
    pooled: int
