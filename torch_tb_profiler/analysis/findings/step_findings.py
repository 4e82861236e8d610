"""The findings that count in some steps.

``findings_of`` returns plain values:

=========  ========================================================================================
steps      number of steps
rows       their rows in ``facts["steps"]``
whole      whether they are those that are looked at unless others are chosen
step_ns    how long one of them is, ns: their mean if a step comes near it, else the median of those that are
           longer than it; None without a step
mean_ns    their mean length, ns, of which all savings are; None without a step
noise_ns   by how much the mean step may be shorter and longer in another recording
busy       share of all steps in which the device worked; None without a device
unsure     keys of what could not be judged, see ``not_judged.py``
found      the findings that save 2 % of these steps or more, in the order of ``weight``, then the profiler's own
           doing, then those that cost no time; as of ``engine.py``, with ``recoverable_ns`` per step and ``share``
           (None where it costs no time), ``behind_ns`` (what it saves once the others are mended), and ``once``: the
           row of the only step that it is about, else None
totals     for each certainty what all changes of it and of greater certainty save together:
           ``certainty``, ``recoverable_ns``, ``share``, ``step_ns``, ``low_ns``, ``high_ns``
=========  ========================================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.findings.candidate import CERTAINTIES, THRESHOLD
from torch_tb_profiler.analysis.findings.order import FEW_STEPS, in_order
from torch_tb_profiler.analysis.what_if.outcomes import BY_CERTAINTY, noise, step_interval
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

_ALONE = 0.8
"""Share of a saving that one of ``FEW_STEPS`` or more holds if it is about that step alone."""
NEAR = 0.2
"""A step is near a length if it differs by at most this share."""


def length_of(wall: Ints) -> int:
    """How long one of some steps is, ns: a length that a step has, nearly. All savings per step are below it."""
    mean = float(wall.mean())
    if (np.abs(wall - mean) <= NEAR * mean).any():
        return round(mean)
    longer = np.sort(wall[wall > mean])
    return int(longer[(len(longer) - 1) // 2])


def findings_of(facts: Facts, insight: Insight, steps: Ints | None = None) -> dict[str, Any]:
    """The findings of some steps (rows of steps); None: of those that the rules looked at."""
    about, table = insight.about["findings"], facts["steps"]
    rows = np.array(about["rows"] if steps is None else steps, np.int64)
    wall = step_lengths(table)[rows]
    length, n = int(wall.sum()), len(rows)

    def saved(number: int) -> Array:
        saving = insight["finding_steps"]
        own = saving["finding"] == number
        each = np.zeros(table.n, np.int64)
        each[saving["step"][own]] = saving["saved"][own]
        return each[rows]

    def once(number: int) -> int | None:
        gains = saved(number)
        alone = n >= FEW_STEPS and gains.max() >= _ALONE * gains.sum()
        return int(rows[gains.argmax()]) if alone else None

    found = []
    for number, finding in enumerate(about["found"]):
        if finding["behind"] and steps is not None:
            continue
        counts = finding["costs"] or finding["behind"]
        gain = min(int(saved(number).sum()), length) if counts else 0
        if counts and (not length or gain < THRESHOLD * length):
            continue
        found.append(
            finding
            | {
                "recoverable_ns": gain // n if finding["costs"] else None,
                "share": gain / length if finding["costs"] else None,
                "once": once(number) if finding["costs"] else None,
                "behind_ns": gain // n if finding["behind"] else None,
            }
        )
    present = {item["certainty"] for item in found if not item["artefact"]}
    totals = [
        _total(certainty, wall, saved(-1 - number), about["replay_error"])
        for number, certainty in enumerate(CERTAINTIES)
        if certainty in present
    ]
    return {
        "steps": n,
        "rows": rows.tolist(),
        "whole": steps is None,
        "step_ns": length_of(wall) if length else None,
        "mean_ns": round(length / n) if length else None,
        "noise_ns": noise(wall, about["replay_error"]),
        "busy": about["busy"],
        "judged": about["judged"],
        "unsure": about["unsure"],
        "found": in_order(found),
        "totals": totals,
    }


def _total(certainty: str, wall: Ints, saved: Array, error: float) -> dict[str, Any]:
    predicted = np.maximum(wall - saved, 0)
    reach = BY_CERTAINTY[certainty]
    low, high = step_interval(float(wall.mean()), predicted, error, reach)
    gain = max(int(wall.sum() - predicted.sum()), 0)
    return {
        "certainty": certainty,
        "recoverable_ns": gain // len(wall),
        "share": gain / int(wall.sum()),
        "step_ns": round(float(predicted.mean())),
        "low_ns": round(low),
        "high_ns": round(high),
    }
