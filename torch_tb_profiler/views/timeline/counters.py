"""Route ``/trace/counters``."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict

from torch_tb_profiler.analysis.timeline.counters import edges, in_buckets
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.display_wire import optional_floats
from torch_tb_profiler.views.timeline.wire import CounterCurve, CountersPayload


def counters_payload(
    timeline: Timeline, series: Sequence[int], begin: int, end: int, parts: int
) -> CountersPayload:
    """Some counter series (rows of ``about["series"]``) in equal parts of [begin, end), ns."""
    borders = edges(begin, end, parts)
    buckets = [
        in_buckets(timeline["samples"], timeline.about["series"][number], borders)
        for number in series
    ]
    curves = [
        CounterCurve(**{name: optional_floats(values) for name, values in asdict(curve).items()})
        for curve in buckets
    ]
    return CountersPayload(t0_ns=begin, t1_ns=end, curves=curves)
