"""Comparison of two recordings.

::

    side A ─┐            ┌─▶ step times ──▶ test
            ├─▶ per step ┼─▶ categories, operators, device work, runtime calls ──▶ pairs by name ──▶ changes
    side B ─┘            └─▶ call trees ──▶ matched on structure ──▶ modules, tree
"""

from __future__ import annotations

from functools import cached_property

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.diff.changes import Changes, changes
from torch_tb_profiler.analysis.diff.kinds import OtherKind
from torch_tb_profiler.analysis.diff.modules import module_rows
from torch_tb_profiler.analysis.diff.rank_test import Test, compare_samples
from torch_tb_profiler.analysis.diff.repeats import odd_items
from torch_tb_profiler.analysis.diff.side import Side, path_costs
from torch_tb_profiler.analysis.diff.table_rows import (
    Rows,
    category_rows,
    kernel_rows,
    operator_rows,
    runtime_rows,
)
from torch_tb_profiler.analysis.diff.tree import DiffTree, diff_tree
from torch_tb_profiler.analysis.match.paths import MatchedPaths, PathCosts, match_paths

MOST_PATHS = 20_000
"""Paths of one side that are matched, the most expensive ones."""

_OPERATORS = ("operator", "host")
"""The operator tables: by device and by host self time; without device time only the first, by host
self time.
"""


class ChangeTable(msgspec.Struct, frozen=True):
    """One table: the rows of both sides, and how they pair."""

    a: Rows
    b: Rows
    changes: Changes


class Comparison(msgspec.Struct, frozen=True, dict=True):
    """The result of a comparison.

    device: whether operators and modules are compared by device time.
    kinds: steps of other kinds than those that are compared.
    costs, matched: the paths of both sides, and their matches.
    """

    a: Side
    b: Side
    test: Test
    device: bool
    tables: dict[str, ChangeTable]
    costs: tuple[PathCosts, PathCosts]
    matched: MatchedPaths
    kinds: tuple[OtherKind, ...] = ()

    @cached_property
    def tree(self) -> DiffTree:
        """Both call trees as one; built on request."""
        return diff_tree((self.a, self.b), self.costs, self.matched)


def compare(a: Side, b: Side, kinds: tuple[OtherKind, ...] = ()) -> Comparison:
    """Compare B with A; ``kinds``: what they have of others, see ``kinds.compared_sides``."""
    test = compare_samples([(a.sample, b.sample)])
    if test.unit is not None:
        a, b = (
            replace(side, unit=(items[~odd_items(items)], count))
            for side, items, count in zip((a, b), test.unit.items, test.unit.counts, strict=True)
        )
    device = a.has_device_time and b.has_device_time
    costs = path_costs(a, device, MOST_PATHS), path_costs(b, device, MOST_PATHS)
    matched = match_paths(*costs)
    measured = ("device_self", "host_self") if device else ("host_self",)
    step = a.mean if len(a.steps) else 0.0
    rows = {
        "category": (category_rows(a), category_rows(b)),
        **dict(
            zip(
                _OPERATORS,
                zip(operator_rows(a, measured), operator_rows(b, measured), strict=True),
                strict=False,
            )
        ),
        "kernel": (kernel_rows(a), kernel_rows(b)),
        "runtime": (runtime_rows(a), runtime_rows(b)),
        "module": module_rows((a, b), costs, matched, device),
    }
    tables = {
        key: ChangeTable(of_a, of_b, changes(of_a, of_b, step))
        for key, (of_a, of_b) in rows.items()
    }
    return Comparison(a, b, test, device, tables, costs, matched, kinds)
