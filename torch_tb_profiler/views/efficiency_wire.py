"""Wire types of the Efficiency view. Units as in ``wire.py``; rates are FLOP/s and bytes/s as
floats.
"""

from __future__ import annotations

from typing import Literal

from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire

Bound = Literal["compute", "memory", "latency", "unknown"]
"""What limits a row: reaching more of its peak arithmetic, or of its memory bandwidth, than of the
other; ``latency``: little of either.
"""


class Peak(Wire, frozen=True, kw_only=True):
    """What a device can do at best: ``rate`` in FLOP/s of one precision on one kind of unit.
    ``source``: where the figure is from.
    """

    unit: Literal["matrix", "vector"]
    precision: str
    rate: float
    source: str


class DevicePeaks(Wire, frozen=True, kw_only=True):
    """The device and its peaks. ``known`` false: no figures for it, ``peaks`` is empty. ``entry``:
    the line of the device table that was used.
    """

    name: str | None
    entry: str | None
    known: bool
    bandwidth: float | None
    bandwidth_source: str
    peaks: list[Peak]


class FamilyColumns(Wire, frozen=True, kw_only=True):
    """Use of matrix cores by family of the performance models; behind them ``communication`` and
    ``memcpy``, which compute nothing, and last, family null, the
    computation without a model.

    ``matrix_ns``: of ``time_ns``, kernels known to use matrix cores; ``matrix_unknown_ns``: of
    which it is not known; null without device work, and for what could use none.
    """

    family: list[str | None]
    calls: list[int]
    time_ns: list[int]
    matrix_ns: list[int | None]
    matrix_unknown_ns: list[int | None]
    flops: list[int | None]


class StepMfu(Wire, frozen=True, kw_only=True):
    """FLOPs of a step's products of matrices, convolutions and attention, and their share of the
    device's peak: Σ FLOPs of a precision / its peak / wall
    time. mfu null: not known."""

    index: int
    name: str
    wall_ns: int
    flops: int
    mfu: float | None


class EfficiencyColumns(Wire, frozen=True, kw_only=True):
    """One entry per row, the largest ``time_ns`` first; the times of all rows add up to ``time_ns``
    of the payload but for work of no operator.

    ``flops`` and ``bytes`` are of one call (of kernels one launch on average); ``time_ns`` of all
    calls (device time, without a device host time).
    ``family``: of the model; of what has none ``communication`` or ``memcpy``, else null. ``fast``:
        convolutions by Winograd's algorithm or Fourier transforms
    are among the calls: they need fewer operations than ``flops``, so that their share of the peak
    is not known. ``matrix`` is Knowledge: whether any of its kernels uses matrix cores. ``peak`` is
    the rate that ``flops_share`` is a share of, ``unit`` and ``precision`` say whose. ``ideal_ns``:
    the longer of flops/peak and bytes/bandwidth, of all calls; ``recoverable_ns``: time − ideal,
    what there is to gain at most. ``kernel`` and ``short`` are null in rows of operators;
    ``event``: the longest; -1 none.
    """

    name: list[str | None]
    kernel: list[str | None]
    short: list[str | None]
    shapes: list[str | None]
    types: list[str | None]
    parameters: list[str | None]
    family: list[str | None]
    calls: list[int]
    time_ns: list[int]
    flops: list[int | None]
    bytes: list[int | None]
    intensity: list[float | None]
    flops_rate: list[float | None]
    bytes_rate: list[float | None]
    fast: list[bool]
    unit: list[str | None]
    precision: list[str | None]
    peak: list[float | None]
    flops_share: list[float | None]
    bytes_share: list[float | None]
    bound: list[Bound]
    ideal_ns: list[int | None]
    recoverable_ns: list[int | None]
    matrix: list[int]
    event: list[int]


EfficiencyGroup = Literal["operator", "kernel"]


class EfficiencyPayload(Wire, frozen=True, kw_only=True):
    """Route ``/efficiency``. ``time_ns``: all device time (host time of operators without a
    device); ``computation_ns``: of it, without communication, copies
    and memsets that no model knows; ``modelled_ns``: of that, of modelled calls.

    ``notes``: sentences about what the figures cannot say, such as rows above a peak.
    """

    group: EfficiencyGroup
    has_device: bool
    vocabulary: Vocabulary
    device: DevicePeaks
    steps: list[StepMfu]
    mfu: float | None
    families: FamilyColumns
    time_ns: int
    computation_ns: int
    modelled_ns: int
    rows: EfficiencyColumns
    pooled: int
    notes: list[str]
    missing: list[Missing]


EFFICIENCY_PAYLOADS: tuple[type[Wire], ...] = (EfficiencyPayload,)
