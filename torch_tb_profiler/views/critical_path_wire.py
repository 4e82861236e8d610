"""Wire types of the Critical Path view."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.critical_path.table import (
    PATH_EVENTS,
    PATH_KINDS,
    PATH_STEPS,
    STRIP,
)
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire


class CriticalPathPayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path``. ``headline``: the largest part in words. ``strip``: the path of the
    step ``strip_step``, the longest of those selected; −1 without any. What a kind is called is the
    label of its column in ``steps``.
    """

    vocabulary: Vocabulary
    headline: list[str]
    parts: Annotated[dict[str, Any], table_of(PATH_KINDS)]
    steps: Annotated[dict[str, Any], table_of(PATH_STEPS)]
    strip_step: int
    strip: Annotated[dict[str, Any], table_of(STRIP)]
    rows: Annotated[dict[str, Any], table_of(PATH_EVENTS)]
    pooled: int
    missing: list[Missing]
