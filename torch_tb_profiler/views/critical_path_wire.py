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


class PathKindInfo(Wire, frozen=True, kw_only=True):
    """``key``: as in the tables; ``label``: what it is called."""

    key: str
    label: str


class CriticalPathPayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path``. ``headline``: the largest part in words. ``kinds``: every kind, in the
    order of drawing. ``strip``: the path of the step ``strip_step``, the longest of those selected; −1
    without any.
    """

    vocabulary: Vocabulary
    headline: list[str]
    kinds: list[PathKindInfo]
    parts: Annotated[dict[str, Any], table_of(PATH_KINDS)]
    steps: Annotated[dict[str, Any], table_of(PATH_STEPS)]
    strip_step: int
    strip: Annotated[dict[str, Any], table_of(STRIP)]
    rows: Annotated[dict[str, Any], table_of(PATH_EVENTS)]
    pooled: int
    missing: list[Missing]
