"""Wire types of the Counters view. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from torch_tb_profiler.analysis.counters.table import COUNTER_SAMPLES, COUNTERS
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire


class CounterInfo(Wire, frozen=True, kw_only=True):
    """A counter: its own name, a readable one, its unit (``bytes``, ``instructions``, ``share`` …;
    empty: not known).
    """

    name: str
    label: str
    unit: str


class CountersTablePayload(Wire, frozen=True, kw_only=True):
    """Route ``/counters``. ``values[c][i]`` is counter c of row i of ``profiled``; null: not measured.
    ``headline``: what was measured. ``matching`` says how ranges were tied to launches, and what
    did not match. ``bandwidth``: bytes/s of the memory whose traffic was counted, null not known;
    ``no_roofline``: what the recording lacks for one, empty where it can be drawn.
    """

    vocabulary: Vocabulary
    counters: list[CounterInfo]
    profiled: Annotated[dict[str, Any], table_of(COUNTERS)]
    values: list[list[float | None]]
    headline: str
    matching: str
    measured: Literal["ranges", "slices", ""]
    bandwidth: float | None
    no_roofline: str
    sampled_counters: list[CounterInfo]
    sampled: Annotated[dict[str, Any], table_of(COUNTER_SAMPLES)]
    steps: list[str]
    pooled: int
    missing: list[Missing]
