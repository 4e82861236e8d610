"""Wire types of the API Calls view. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.api_calls.calls import API_CALLS, LONG_CALLS
from torch_tb_profiler.analysis.api_calls.copies import COPIES
from torch_tb_profiler.analysis.api_calls.launches import LAUNCHES
from torch_tb_profiler.analysis.api_calls.queues import QUEUES
from torch_tb_profiler.analysis.api_calls.sequences import SEQUENCES
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, Vocabulary, Wire


class LaunchHistogram(Wire, frozen=True, kw_only=True):
    """How many launches of kernels lie between two edges: by the delay until their kernel begins, and by their own
    duration. The last bucket has no end.
    """

    edges_ns: list[int]
    delays: list[int]
    durations: list[int]


class QueueCurve(Wire, frozen=True, kw_only=True):
    """Launches that wait on a stream: ``length[i]`` from ``time_ns[i]`` on."""

    stream: str
    time_ns: list[int]
    length: list[int]


class ApiCallsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/api_calls``. ``sentences``: what the tables say in short. ``pooled``, ``launches_pooled``: rows that the last
    row pools. ``link``: the device's links to others, with their peak; empty not known.
    """

    vocabulary: Vocabulary
    sentences: list[str]
    rows: Annotated[dict[str, Any], table_of(API_CALLS)]
    pooled: int
    longest: Annotated[dict[str, Any], table_of(LONG_CALLS)]
    histogram: LaunchHistogram
    launches: Annotated[dict[str, Any], table_of(LAUNCHES)]
    launches_pooled: int
    queues: Annotated[dict[str, Any], table_of(QUEUES)]
    curves: list[QueueCurve]
    copies: Annotated[dict[str, Any], table_of(COPIES)]
    link: str
    missing: list[Missing]


class KernelSequencesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/api_calls/sequences``."""

    vocabulary: Vocabulary
    rows: Annotated[dict[str, Any], table_of(SEQUENCES)]
