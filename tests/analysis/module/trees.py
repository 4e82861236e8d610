"""Paths as text, in µs, so that a test reads like the picture it draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.builders.drawn import draw
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.module.paths import build_paths
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder

SIGN = "M", "A", "O"


def insight_of(trace: Trace, facts: Facts | None = None) -> Insight:
    """The insight of a trace as far as paths go."""
    texts = StringBuilder()
    tables, about = build_paths(trace, facts or derive(trace), {}, texts, call_tree(trace))
    return Insight(texts.table(), tables, dict(about))


def insight_drawn(drawing: str, *more: Any, **options: Any) -> Insight:
    """The insight of a drawing; further arguments as of ``draw``."""
    return insight_of(draw(drawing, *more, **options))


def lines(insight: Insight, *figures: str) -> list[str]:
    """One line per path, in the order of first calls: ``O aten::mm 2x host 3``; ``b`` behind the
    sign is backward. Times in µs, over all steps.
    """
    paths = insight["paths"]
    sums = {key: per_path(insight, key) for key in ("calls", *figures)}
    found: list[str] = []

    def show(path: int, depth: int) -> None:
        sign = SIGN[int(paths["kind"][path])] + ("b" if paths["backward"][path] else "")
        shown = [f"{key} {_plain(key, int(sums[key][path]))}" for key in figures if sums[key][path]]
        calls = int(sums["calls"][path])
        found.append(
            " ".join(
                [
                    "  " * depth + sign,
                    insight.strings[int(paths["name"][path])],
                    *([f"{calls}x"] if calls != 1 else []),
                    *shown,
                ]
            )
        )
        beneath = np.flatnonzero(paths["parent"] == path)
        for child in beneath[np.argsort(paths["first"][beneath], kind="stable")].tolist():
            show(child, depth + 1)

    outermost = np.flatnonzero(paths["parent"] < 0)
    for path in outermost[np.argsort(paths["first"][outermost], kind="stable")].tolist():
        show(path, 0)
    return found


def per_path(insight: Insight, key: str) -> Any:
    """Sums over all steps, int64 of shape (paths,)."""
    table: Table = insight["path_steps"]
    total = np.zeros(insight["paths"].n, np.int64)
    known = table["path"] >= 0
    np.add.at(total, table["path"][known], table[key][known])
    return total


def _plain(key: str, value: int) -> int:
    return value if key in ("increase", "allocated", "launched") else value // 1000
