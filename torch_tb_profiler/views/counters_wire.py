"""Wire types of the Counters view. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Literal

from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire


class CounterInfo(Wire, frozen=True, kw_only=True):
    """A counter: its own name, a readable one, its unit (``bytes``, ``instructions``, ``share`` …;
    empty: not known).
    """

    name: str
    label: str
    unit: str


class ProfiledColumns(Wire, frozen=True, kw_only=True):
    """One entry per profiled range. ``values[c][i]`` is counter c of row i; null: not measured.
    ``operators``: the operators around the launch, outermost
    first; ``flops`` from instruction counters, ``bytes`` from memory counters; ``time_ns`` null
    where the times are no measured ones. ``unit``, ``precision``
    and ``peak`` (FLOP/s) as in the Efficiency view, of what did most of the FLOPs."""

    kernel: list[str]
    short: list[str]
    operators: list[list[str]]
    step: list[int | None]
    time_ns: list[int | None]
    flops: list[int | None]
    bytes: list[int | None]
    unit: list[str | None]
    precision: list[str | None]
    peak: list[float | None]
    values: list[list[float | None]]
    launch: list[int]
    event: list[int]


class SampledColumns(Wire, frozen=True, kw_only=True):
    """Sampled counters: mean, least and greatest per counter, device and step (step null: outside
    all steps, or no steps).
    """

    counter: list[int]
    device: list[str]
    step: list[int | None]
    samples: list[int]
    mean: list[float]
    least: list[float]
    greatest: list[float]


class CountersTablePayload(Wire, frozen=True, kw_only=True):
    """Route ``/counters``. ``matching`` says how ranges were tied to launches, and what did not
    match. ``bandwidth``: bytes/s of the memory whose traffic was
    counted, null not known; ``no_roofline``: what the recording lacks for one, empty where it can
    be drawn.
    """

    vocabulary: Vocabulary
    counters: list[CounterInfo]
    profiled: ProfiledColumns
    matching: str
    measured: Literal["ranges", "slices", ""]
    bandwidth: float | None
    no_roofline: str
    sampled_counters: list[CounterInfo]
    sampled: SampledColumns
    steps: list[str]
    pooled: int
    missing: list[Missing]
