"""Replays without a step of Python per point: rows of points that follow each other are computed at once.

::

    host      k──L1──L2──L3──k                  k: a key point; the others are members of chains
                ╲   ╲   ╲
    stream 7   k──E1──E2──E3                    E2 = max(k + lead to E2, host k + launch of E1 or E2 …)

Each member of a chain comes ``after_key`` after the key point that begins the chain, or ``after_head`` after the one
key point that all launches of the chain go back to, whichever is later. Both are sums and running maxima over arrays,
so only key points are computed one by one: where threads or streams waited for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.what_if.graph import NONE
from torch_tb_profiler.analysis.what_if.replay import Delays
from torch_tb_profiler.store.columns import Array, Ints, Mask


@dataclass(frozen=True)
class Chains:
    """The points of a graph, chain by chain; a key point stands before its members.

    order: points, of shape (points,). place: where each point stands in ``order``. starts: where each chain
    begins, of shape (chains,); chain: of each place. keys: the key point of each chain, ascending. launched: places
    of members that wait for a second point, too; launches: the places of those. head: chain of the key
    point that these go back to, by chain; 0, that of ``NONE``, where there are none. long: begin and end of
    chains with such members.
    """

    first: Ints
    second: Ints
    order: Ints
    place: Ints
    starts: Ints
    chain: Ints
    keys: Ints
    launched: Ints
    launches: Ints
    head: Ints
    long: list[list[int]]

    def replay(self, delay: Delays) -> Array:
        """When each point comes, ns, float64 of shape (points,)."""
        after_key = delay.first[self.order]
        after_key[self.starts] = 0
        np.cumsum(after_key, out=after_key)
        after_key -= after_key[self.starts][self.chain]
        after_head = np.full(len(after_key), -np.inf)
        after_head[self.launched] = (
            delay.second[self.order[self.launched]]
            + after_key[self.launches]
            - after_key[self.launched]
        )
        for begin, end in self.long:
            np.maximum.accumulate(after_head[begin:end], out=after_head[begin:end])
        after_head += after_key
        at = np.array(self._key_times(delay, after_key, after_head))
        after_key += at[self.chain]
        after_head += at[self.head][self.chain]
        time = np.empty(len(self.order))
        time[self.order] = np.maximum(after_key, after_head)
        return time

    def _key_times(self, delay: Delays, after_key: Array, after_head: Array) -> list[float]:
        """When each key point comes: after the key points and heads of the chains of what it waits for."""
        columns: list[list[float]] = []
        for point, after in ((self.first, delay.first), (self.second, delay.second)):
            place, own = self.place[point[self.keys[2:]]], after[self.keys[2:]]
            chain = self.chain[place]
            # The head may come after the key point of the chain, but it comes before each member.
            head = np.where(place > self.starts[chain], self.head[chain], 0)
            for key, later in ((chain, after_key[place]), (head, after_head[place])):
                columns += [key.tolist(), (later + own).tolist()]
        time = [-np.inf, 0.0]
        # Plain numbers of Python: one by one they are far quicker than elements of arrays.
        for a, after_a, b, after_b, c, after_c, d, after_d in zip(*columns, strict=True):
            latest = time[a] + after_a
            if (other := time[b] + after_b) > latest:
                latest = other
            if (other := time[c] + after_c) > latest:
                latest = other
            if (other := time[d] + after_d) > latest:
                latest = other
            time.append(latest)
        return time


def find_chains(first: Ints, second: Ints) -> Chains:
    """The chains of a graph; ``first``, ``second``: as of ``Graph``.

    Members wait for their ``first`` alone; or for a second point, too, where that does so back to
    the same key point as for the member before.
    """
    n = len(first)
    alone = second == NONE
    plain = _heirs(first, alone & (first != NONE))
    leads = np.zeros(n, np.bool_)
    leads[first[plain]] = True
    some = ~(alone | leads | alone[first] | leads[first]) & alone[second]
    launched = _heirs(first, some)
    head = np.where(launched, nearest(first, ~plain)[second], NONE)
    launched &= ~launched[first] | (head == head[first])
    key = ~(plain | launched)
    order = np.argsort(nearest(first, key), kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    keys = np.flatnonzero(key)
    starts = place[keys]
    chain = np.repeat(np.arange(len(keys)), np.diff(starts, append=n))
    member = np.flatnonzero(launched)
    of_chain = np.zeros(len(keys), np.int64)
    of_chain[chain[place[member]]] = chain[place[head[member]]]
    long = np.flatnonzero(np.bincount(chain[place[member]], minlength=len(keys)))
    ends = np.append(starts[1:], n)
    return Chains(
        first=first,
        second=second,
        order=order,
        place=place,
        starts=starts,
        chain=chain,
        keys=keys,
        launched=place[member],
        launches=place[second[member]],
        head=of_chain,
        long=np.stack((starts[long], ends[long]), axis=1).tolist(),
    )


def _heirs(first: Ints, some: Mask) -> Mask:
    """Of ``some`` points that follow the same one, one: if possible, one that others follow."""
    followed = np.zeros(len(first), np.bool_)
    followed[first] = True
    heir = np.zeros(len(first), np.int64)
    for part in (some & ~followed, some & followed):
        row = np.flatnonzero(part)
        heir[first[row]] = row
    return np.asarray(some & (heir[first] == np.arange(len(first))))
