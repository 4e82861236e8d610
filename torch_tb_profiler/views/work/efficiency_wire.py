"""Wire types of the Efficiency view. Units as in ``wire.py``; rates are FLOP/s and bytes/s as
floats.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from torch_tb_profiler.analysis.efficiency.table import EFFICIENCY
from torch_tb_profiler.analysis.efficiency.table import EfficiencyGroup as EfficiencyGroup
from torch_tb_profiler.analysis.efficiency.together import TOGETHER
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire


class Peak(Wire, frozen=True, kw_only=True):
    """What a device can do at best: ``rate`` in FLOP/s of one precision on one kind of unit.
    ``source``: where the figure is from.
    """

    unit: Literal["matrix", "vector"]
    precision: str
    rate: float
    source: str


class DevicePeaks(Wire, frozen=True, kw_only=True):
    """The device and its peaks. ``entry``: the line of the device table that was used; null: no figures for it,
    ``peaks`` is empty.
    """

    name: str | None
    entry: str | None
    bandwidth: float | None
    bandwidth_source: str
    peaks: list[Peak]


class StepMfu(Wire, frozen=True, kw_only=True):
    """FLOPs of a step's products of matrices, convolutions and attention, and their share of the
    device's peak: Σ FLOPs of a precision / its peak / wall
    time. mfu null: not known. ``steps``: how many consecutive steps from ``index`` on it is of."""

    index: int
    steps: int
    name: str
    wall_ns: int
    flops: int
    mfu: float | None


class EfficiencyPayload(Wire, frozen=True, kw_only=True):
    """Route ``/efficiency``. ``time_ns``: all device time (host time of operators without a
    device).

    ``kernels_together``, ``families_together``: what all kernels of a name, and of a family, reach of their roofs; empty but for rows of kernels.

    ``headline``: the answer in words. ``notes``: sentences about what the figures cannot say, such as rows above a peak.
    """

    group: EfficiencyGroup
    has_device: bool
    vocabulary: Vocabulary
    device: DevicePeaks
    steps: list[StepMfu]
    mfu: float | None
    time_ns: int
    rows: Annotated[dict[str, Any], table_of(EFFICIENCY)]
    kernels_together: Annotated[dict[str, Any], table_of(TOGETHER)]
    families_together: Annotated[dict[str, Any], table_of(TOGETHER)]
    pooled: int
    headline: list[str]
    notes: list[str]
    missing: list[Missing]
