"""Places: the calls of all steps merged by the names that lead to them, as a tree of columns, with the time on the critical path at each.

::

    main                              cut: it holds the steps
      ├ train_step  1  ├ forward  2 ─ linear  3          place   1    2    3    4
      │                └ backward …                      parent −1    1    2   −1
      └ log_metrics 4                                    calls  10   10   40    5     of all steps

What holds steps is the loop itself, and no place. Where nothing but operators was recorded these are the places.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import places_in, sum_by
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest, subtree_totals
from torch_tb_profiler.analysis.arrays.numbering import number_tree
from torch_tb_profiler.analysis.module.frames import MOST_FRAMES
from torch_tb_profiler.store.columns import Array, Ints, Mask


class Places(msgspec.Struct, frozen=True):
    """Parents come before children.

    of: of each span its place, −1 none; int64 of shape (spans,). parent, name: of each place, a place or −1, and a number of a string; span:
    its first, as an example.
    """

    of: Ints
    parent: Ints
    name: Ints
    span: Ints

    @classmethod
    def made(cls, parent: Array, name: Array, chosen: Mask) -> Places:
        """The places of the ``chosen`` spans; those between them that are not chosen are left out.

        parent, name: of each span, of shape (spans,); see ``span_links`` and ``spans``.
        """
        row = np.flatnonzero(chosen)
        index = places_in(len(parent) + 1, row)
        above = index[climb(parent, parent[row].astype(np.int64), chosen)]
        tree = number_tree(above, name[row].astype(np.int64), MOST_FRAMES)
        of = np.full(len(parent), -1, np.int64)
        of[row] = tree.path
        first = np.zeros(len(tree.parent), np.int64)
        first[tree.path[::-1]] = row[::-1]
        return cls(of, tree.parent, tree.code, first)

    def within(self, row: Ints, value: Ints) -> Ints:
        """Of each place the sum of values of spans (−1 allowed) at it and beneath, int64 of shape (places,)."""
        place = np.append(self.of, -1)[row]
        own = sum_by(place[place >= 0], len(self.parent), value[place >= 0])
        return np.asarray(subtree_totals(self.parent, own))

    def beneath(self, place: int) -> Mask:
        """Which places are this one or beneath it."""
        wanted = np.zeros(len(self.parent), np.bool_)
        wanted[place] = True
        return np.asarray(nearest(self.parent, wanted) >= 0)

    def chain(self, place: int, total: Array, least: float) -> list[int]:
        """From a place down to the callees that hold most of it, each at least a share of ``least`` of its ``total``."""
        found = [place]
        while True:
            callees = np.flatnonzero(self.parent == found[-1])
            if not len(callees) or total[callees].max() < least * total[place]:
                return found
            found.append(int(callees[total[callees].argmax()]))
