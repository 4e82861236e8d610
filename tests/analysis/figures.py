"""Facts as plain Python values in microseconds, to compare with figures written in a test."""

from __future__ import annotations

import glob
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import REPOSITORY
from tests.loading import load
from torch_tb_profiler.analysis.facts.flags import NoOperator
from torch_tb_profiler.analysis.figures.kernels import KernelGroup, kernel_rows
from torch_tb_profiler.analysis.figures.operators import OperatorGroup, operator_rows
from torch_tb_profiler.analysis.figures.selection import Selection, select
from torch_tb_profiler.runs.loading import insight_of
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace


@lru_cache(maxsize=4)
def loaded(path: Path) -> Opened:
    """A trace file. A sample or public trace is imported once per version of the code, and lies in the
    user's cache folder then.
    """
    return load(str(path), _settings(path))


def opened(path: Path) -> tuple[Trace, Facts]:
    """A trace file and its facts."""
    return loaded(path).trace, loaded(path).facts


def insight(path: Path) -> Insight:
    """The insight of a trace file, kept in the same way."""
    return insight_of(loaded(path), _settings(path))


def _settings(path: Path) -> Settings:
    return Settings(use_cache=REPOSITORY.parent in path.parents)


UNNAMED = ("annotation", "replay", "none")
"""What the column ``attribution`` says of work that has no operator."""
_PROPERTIES = ("name", "operator", "grid", "block", "registers", "shared_memory_bytes")


def trace_files(folder: Path) -> list[Path]:
    """The trace files of all runs of a folder, by name."""
    return sorted(Path(name) for name in glob.glob(str(folder / "*" / "*.gz")))


def steps(facts: Facts) -> list[dict[str, float]]:
    """Per step the categories that are not 0, and ``wall``, in µs."""
    table = facts["steps"]
    return [
        {
            "wall": (table["end"][row] - table["start"][row]) / 1000,
            **{key: table[key][row] / 1000 for key in CATEGORIES if table[key][row]},
        }
        for row in range(table.n)
    ]


def step_names(facts: Facts) -> list[str]:
    """The name of every step."""
    return [facts.strings[int(name)] for name in facts["steps"]["name"]]


def operators(
    facts: Facts, group: OperatorGroup = "name", selection: Selection | None = None
) -> dict[tuple[str, ...], tuple[float, ...]]:
    """By name (and shapes, if grouped by them): calls, device self, device total, host self, host
    total in µs; without the rows of work that has no operator.
    """
    rows = operator_rows(facts, selection or select(facts), group)
    found = {}
    for at in range(rows.n):
        if rows["attribution"][at] in UNNAMED:
            continue
        key = (
            facts.strings[int(rows["name"][at])],
            *([facts.strings[int(rows["input_shapes"][at])]] if group == "shape" else []),
        )
        times = (
            rows["device_self_ns"][at],
            rows["device_total_ns"][at],
            rows["host_self_ns"][at],
            rows["host_total_ns"][at],
        )
        found[key] = (float(rows["calls"][at]), *(max(float(time), 0.0) / 1000 for time in times))
    return found


def kernels(
    facts: Facts, group: KernelGroup = "name", selection: Selection | None = None
) -> list[dict[str, Any]]:
    """Rows of the kernel table in its order: texts for numbers of strings, µs, None for unknown."""
    rows = kernel_rows(facts, selection or select(facts), group)
    none = np.full(rows.n, -1)
    properties = {key: rows.get(key, none) for key in _PROPERTIES}
    reasons = rows.get("no_operator", [None] * rows.n)
    return [
        {
            **{
                key: _text(facts, properties[key][at])
                for key in ("name", "operator", "grid", "block")
            },
            **{
                key: float(rows[column][at]) / 1000
                for key, column in (
                    ("total", "total_ns"),
                    ("mean", "mean_ns"),
                    ("shortest", "min_ns"),
                    ("longest", "max_ns"),
                )
            },
            "blocks_per_sm": _finite(rows["blocks_per_sm"][at]),
            "occupancy": _finite(100 * rows["occupancy"][at]),
            **{
                key: int(rows[key][at])
                for key in ("calls", "matrix", "matrix_eligible", "communication")
            },
            "reason": 0 if reasons[at] is None else NoOperator[reasons[at].upper()],
            "registers": int(properties["registers"][at]),
            "shared_memory": int(properties["shared_memory_bytes"][at]),
        }
        for at in range(rows.n)
    ]


def _text(facts: Facts, number: int) -> str | None:
    return facts.strings[int(number)] if number >= 0 else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def everything(facts: Facts) -> Selection:
    """All that was recorded, what lies outside the steps too."""
    return Selection(np.arange(facts["steps"].n), True)
