"""The findings that count in some steps.

``findings_of`` returns plain values:

=========  ========================================================================================
steps      number of steps
rows       their rows in ``facts["steps"]``
whole      whether they are those that are looked at unless others are chosen
step_ns    their mean length, ns; None without a step
noise_ns   by how much the mean step may be shorter and longer in another recording
busy       share of all steps in which the device worked; None without a device
unsure     keys of what could not be judged, see ``unsure.py``
found      the findings that save 2 % of these steps or more, the largest first, then those that
           cost no time; as of ``engine.py``, with ``recoverable_ns`` per step and ``share`` (None
           where it costs no time), and ``behind_ns``: what it saves once the others are mended
totals     for each certainty what all changes of it and of greater certainty save together:
           ``certainty``, ``recoverable_ns``, ``share``, ``step_ns``, ``low_ns``, ``high_ns``
=========  ========================================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.findings.candidate import CERTAINTIES, THRESHOLD
from torch_tb_profiler.analysis.what_if.outcomes import BY_CERTAINTY, noise, step_interval
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts


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
                "behind_ns": gain // n if finding["behind"] else None,
            }
        )
    found.sort(key=lambda item: (item["recoverable_ns"] is None, -(item["recoverable_ns"] or 0)))
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
        "step_ns": round(length / n) if length else None,
        "noise_ns": noise(wall, about["replay_error"]),
        "busy": about["busy"],
        "judged": about["judged"],
        "unsure": about["unsure"],
        "found": found,
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
