"""The engine's figures of synthetic runs are the generator's, exactly: steps and categories,
operators, kernels, attribution.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import asdict

from tests.analysis.figures import everything
from tests.loading import load
from tests.samples.conftest import document
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.views.work.efficiency import efficiency_of
from torch_tb_profiler.views.work.efficiency_wire import EfficiencyGroup

pytestmark = pytest.mark.slow

SETTINGS = Settings(use_cache=False)


def figures(opened: Opened) -> dict[str, Any]:
    """The engine's figures in the shape of the generator's."""
    trace, facts = opened.trace, opened.facts
    strings, whole = trace.strings, everything(opened.facts)
    steps = facts["steps"]
    kernels = kernel_rows(facts, whole, "name")
    sums = ("calls", "device_self", "device_total", "host_self", "host_total")
    per_step, names = facts["operator_steps"], facts["operators"]["name"]
    used, own = np.unique(names[per_step["operator"]], return_inverse=True)
    return {
        "events": {"total": opened.span.events},
        "steps": [
            {
                "name": strings[int(steps["name"][row])],
                "start_ns": int(steps["start"][row]),
                "wall_ns": int(steps["end"][row] - steps["start"][row]),
                "categories_ns": {name: int(steps[name][row]) for name in CATEGORIES},
            }
            for row in range(steps.n)
        ],
        # As PyTorch counts them: nested calls of one name each, runtime calls apart.
        "operators": by_name(
            {"name": strings[int(name)]}
            | {
                key if key == "calls" else f"{key}_ns": int(per_step[key][own == number].sum())
                for key in sums
            }
            for number, name in enumerate(used)
        ),
        "kernels": by_name(
            {"name": strings[int(name)]}
            | {key: int(kernels[key][row]) for key in ("calls", "total_ns", "min_ns", "max_ns")}
            for row, name in enumerate(kernels["name"])
        ),
        "attribution": {k: v for k, v in asdict(facts.summary.attribution).items() if k != "by"},
    }


def by_name(rows: Any) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(row["name"]))


def agree(trace: Path, expected: Path) -> Opened:
    opened = load(str(trace), SETTINGS)
    ours, theirs = figures(opened), document(expected)
    for key, value in ours.items():
        assert value == theirs[key], key
    return opened


@pytest.mark.parametrize("rank", range(8))
def test_committed_run(samples: Path, rank: int) -> None:
    run = samples / "synthetic_ddp8"
    opened = agree(run / f"rank{rank}.pt.trace.json.gz", run / f"rank{rank}.expected.json")
    assert opened.facts.summary.synthetic is True
    assert (opened.facts.summary.rank, opened.facts.summary.world_size) == (rank, 8)
    assert opened.facts.summary.step_source == "ProfilerStep"


@pytest.mark.parametrize("rank", range(8))
@pytest.mark.parametrize("by", ["operator", "kernel"])
def test_nothing_is_faster_than_its_device(samples: Path, rank: int, by: EfficiencyGroup) -> None:
    opened = load(str(samples / "synthetic_ddp8" / f"rank{rank}.pt.trace.json.gz"), Settings())
    payload, _ = efficiency_of(
        opened.facts, build_insight(opened.trace, opened.facts), select(opened.facts), by
    )
    known = [
        share
        for share in (*payload.rows["flops_share"], *payload.rows["bytes_share"])
        if not math.isnan(share)
    ]
    assert len(known) > 20
    assert max(known) < 1
    assert not [note for note in payload.notes if "more than" in note]


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize(("ranks", "steps", "layers"), [(1, 1, 1), (1, 6, 3), (3, 2, 2)])
def test_seeds(
    generator: Any, tmp_path: Path, seed: int, ranks: int, steps: int, layers: int
) -> None:
    traces = generator.synthesize(tmp_path, ranks=ranks, steps=steps, layers=layers, seed=seed)
    for rank, trace in enumerate(traces):
        agree(trace, tmp_path / f"rank{rank}.expected.json")


def test_a_changed_trace_does_not_agree(generator: Any, tmp_path: Path) -> None:
    """One kernel longer by a nanosecond is seen."""
    (trace,) = generator.synthesize(tmp_path, ranks=1, steps=1, layers=1, seed=9)
    text = trace.read_text(encoding="utf-8")
    start = text.index('"cat": "kernel"')
    begin = text.index('"dur": ', start) + len('"dur": ')
    end = text.index(",", begin)
    longer = f"{float(text[begin:end]) + 0.001:.3f}"
    trace.write_text(text[:begin] + longer + text[end:], encoding="utf-8")
    with pytest.raises(AssertionError):
        agree(trace, tmp_path / "rank0.expected.json")
