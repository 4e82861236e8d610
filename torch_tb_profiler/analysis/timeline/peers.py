"""The events of one name and look, and the rank of one among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline


@dataclass(frozen=True)
class Peers:
    """All events of one name and look in time order, int32; times in ns."""

    events: Array
    total: int
    shortest: int
    longest: int
    slowest: int
    fastest: int


@dataclass(frozen=True)
class PeerRank:
    """One event among its peers; ``rank`` 1 is the slowest; ``previous``, ``next``: −1 none."""

    rank: int
    previous: int
    next: int


def find_peers(trace: Trace, timeline: Timeline, name: int, look: int) -> Peers:
    """The peers of a name and look; one scan of two columns, worth keeping."""
    places = timeline["places"]
    events = np.flatnonzero(places["name"] == name)
    events = events[(places["look"][events] == look) & (places["lane"][events] >= 0)].astype(
        np.int32
    )
    dur = _durations(trace, events)
    slowest, fastest = int(np.argmax(dur)), int(np.argmin(dur))
    ends = (dur[fastest], dur[slowest], events[slowest], events[fastest])
    return Peers(events, int(dur.sum()), *map(int, ends))


def _durations(trace: Trace, events: Array) -> Ints:
    """Durations of events, int64 ns; 0 for instants."""
    spans = trace["spans"]
    if not len(events) or int(events[-1]) < spans.n:
        return np.asarray(spans["dur"][events])
    is_span = events < spans.n
    dur = np.zeros(len(events), np.int64)
    dur[is_span] = spans["dur"][events[is_span]]
    return dur


def rank_among(trace: Trace, among: Peers, event: int) -> PeerRank:
    """The rank of an event among its peers."""
    index = int(np.searchsorted(among.events, event))
    dur = _durations(trace, among.events)
    own = dur[index]
    rank = 1 + int(np.count_nonzero(dur > own)) + int(np.count_nonzero(dur[:index] == own))
    around = np.pad(among.events, 1, constant_values=-1)
    return PeerRank(rank, int(around[index]), int(around[index + 2]))
