"""The findings that count in some steps, and what they cost of the median one.

``findings_of`` returns plain values:

=========  ========================================================================================
steps      number of steps of the kind that takes most time, where there are several
rows       the median one (``median_step.py``), a row of ``facts["steps"]``; empty without a step
all_rows   all of them
whole      whether they are those that are looked at unless others are chosen
step_ns    how long the median one is, ns, of which all savings are; None without a step
mean_ns    the mean length of these, ns; None without a step
alike      whether most of them are about as long as the median one
noise_ns   by how much such a step may be shorter and longer in another recording
busy       share of all steps in which the device worked; None without a device
unsure     keys of what could not be judged, see ``not_judged.py``
found      the findings that save 2 % of the median step or of all steps, in the order of ``order.py``; as of ``engine.py``, with
           ``recoverable_ns`` and ``share`` of the step ``row`` (None where it costs no time): the median one, else
           the one in the middle of those in which it saves most, which is ``length_ns``
           long; ``behind_ns`` (what it saves once others are mended), ``hit``: the rows in which it
           counts, ``once``: ``row`` where that is the only one, else None, and ``weighs``: what it saves of its kind as a
           share of all steps; of ``numbers`` what the headline says that it takes is of that step, too
totals     for each certainty what all changes of it and of greater certainty save together in the median step:
           ``certainty``, ``recoverable_ns``, ``share``, ``step_ns``, ``low_ns``, ``high_ns``
=========  ========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.median_step import median_step
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings.candidate import CERTAINTIES, THRESHOLD
from torch_tb_profiler.analysis.findings.order import FEW_STEPS, in_order
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.what_if.outcomes import BY_CERTAINTY, noise, step_interval
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts

SHOWN = 0.5
"""Share of what a finding saves from which on a step shows it."""
_ALONE = 0.8
"""Share of a saving that one of ``FEW_STEPS`` or more holds if it is about that step alone."""
NEAR = 0.2
"""A step is about as long as another if it differs by at most this share of it."""
MOST = 0.5
"""Share of the steps beyond which they are most of them."""


_SAVES_NOTHING = dict.fromkeys(("recoverable_ns", "share", "weighs", "mean_saved_ns", "acted_ns"))


def findings_of(
    facts: Facts, insight: Insight, steps: Ints | None = None, speaks: int | None = None
) -> dict[str, Any]:
    """The findings of some steps (rows of steps); None: of those that the rules looked at. ``speaks``: the row that speaks for
    them, where it is not the median one.
    """
    about, table = insight.about["findings"], facts["steps"]
    rows = np.array(about["rows"] if steps is None else steps, np.int64)
    lengths = step_lengths(table)
    own = of_one_kind(facts, rows)
    wall = lengths[own]
    median = speaks if speaks in rows.tolist() else median_step(facts, rows)
    found = []
    for number, finding in enumerate(about["found"]):
        if finding["behind"] and steps is not None:
            continue
        item = finding | {"number": number}
        if finding["costs"] or finding["behind"]:
            saved, acted = (_saved(insight, number, table.n, key) for key in ("saved", "acted"))
            told = counted(facts, saved, acted, rows, median)
            if told is None:
                continue
            item = _of_its_steps(facts, item | told)
        else:
            item |= {"row": median, "hit": [], **_SAVES_NOTHING}
            item |= {"length_ns": 0 if median is None else int(lengths[median])}
        item["words"] = item["words"] | item.pop("known")
        item |= {"behind_ns": item["recoverable_ns"] if finding["behind"] else None}
        if not finding["costs"]:
            item |= _SAVES_NOTHING
        alone = finding["costs"] and item.pop("alone", False)
        if alone and item["generic"]:
            # A place that took longer in one step of many, by no other calls, may be the machine's noise.
            item["certainty"] = "theoretical"
        found.append(item | {"once": item["row"] if alone else None})
    spread = noise(wall, about["replay_error"])
    ordered = in_order(found, spread)
    length = 0 if median is None else int(lengths[median])
    totals = [] if median is None or not length else _totals(insight, ordered, lengths, median)
    return {
        "steps": len(own),
        "rows": [] if median is None else [median],
        "all_rows": rows.tolist(),
        "whole": steps is None,
        "step_ns": length or None,
        "mean_ns": round(float(wall.mean())) if length else None,
        "alike": bool((np.abs(wall - length) <= NEAR * length).mean() > MOST) if length else False,
        "noise_ns": spread,
        **{key: about[key] for key in ("busy", "judged", "copy_rate", "unsure", "unclaimed")},
        "found": ordered,
        "totals": totals,
    }


def _of_its_steps(facts: Facts, item: dict[str, Any]) -> dict[str, Any]:
    """A finding whose numbers are of the steps that its saving is of, or at least of their kind; its evidence begins with theirs."""
    kind, step = facts["steps"]["kind"], facts["span_links"]["step"]
    own = kind[item["row"]]
    told = [one for one in item.pop("of_hit") if kind[one["rows"][0]] == own]
    of_hit = next((one for one in told if one["rows"] == item["hit"]), next(iter(told[-1:]), None))
    if of_hit is not None:
        item |= {key: of_hit[key] for key in ("words", "shown_ns")}
        item["numbers"] = item["numbers"] | of_hit["numbers"]
        there = [row for row in item["rows"] if step[row] >= 0 and kind[step[row]] == own]
        item["rows"] = there or item["rows"]
    if (part := RULES[item["rule"]].part) in item["numbers"] and item["costs"]:
        # Of the step that the saving is of: that at least, and what the change acts on at most.
        taken = max(item["numbers"][part], item["recoverable_ns"])
        item["numbers"] = item["numbers"] | {part: float(min(taken, item["acted_ns"]))}
    return item


def _totals(
    insight: Insight, found: Sequence[Mapping[str, Any]], lengths: Ints, median: int
) -> list[dict[str, Any]]:
    """For each certainty that occurs what all changes save together in the median step."""
    present = {item["certainty"] for item in found if not item["artefact"]}
    error, length = insight.about["findings"]["replay_error"], int(lengths[median])
    totals = []
    for number, certainty in enumerate(CERTAINTIES):
        if certainty not in present:
            continue
        # A change that makes a step longer by its simulation, as of a step that it is not about, saves nothing of it.
        saved = int(_saved(insight, -1 - number, len(lengths))[median])
        left = min(max(length - saved, 0), length)
        low, high = step_interval(length, np.array([left]), error, BY_CERTAINTY[certainty])
        total = {"certainty": certainty, "recoverable_ns": length - left, "step_ns": left}
        totals.append(
            total
            | {"share": (length - left) / length, "low_ns": round(low), "high_ns": round(high)}
        )
    return totals


def counted(
    facts: Facts, saved: Array, acted: Array, rows: Ints, median: int | None
) -> dict[str, Any] | None:
    """What a finding saves, of which step, and in which others of its kind (of every step); None where that is too little. ``median``: the
    row that speaks for ``rows``.
    """
    kind, lengths = facts["steps"]["kind"], step_lengths(facts["steps"])
    gains = np.minimum(np.rint(saved).astype(np.int64), lengths)
    total, length = int(gains[rows].sum()), int(lengths[rows].sum())
    if median is None or not length:
        return None
    hit = rows[(gains[rows] >= THRESHOLD * lengths[rows]) & (lengths[rows] > 0)]
    if total < THRESHOLD * length and median not in hit:
        return None
    if len(hit):
        most = median if kind[median] in kind[hit] else hit[gains[hit].argmax()]
        hit = hit[kind[hit] == kind[most]]
        # What it saves of other kinds is no reason to do it.
        total = int(gains[rows][kind[rows] == kind[most]].sum())
    # What is too little to count in each of the others counts in none of them, however much that is together.
    only = len(hit) == 1 and hit[0] != median
    alone = bool(len(hit)) and (only or gains[rows].max() >= _ALONE * total)
    row = median
    if len(hit) and (alone or median not in hit):
        order = hit[np.argsort(gains[hit], kind="stable")]
        row = int(order[-1] if alone else order[len(order) // 2])
    gain = int(gains[row])
    # A step that is the only one of its kind, and speaks for all, is not one of many.
    like = int((kind[rows] == kind[row]).sum())
    alone = alone and len(rows) >= FEW_STEPS and (row != median or like >= FEW_STEPS)
    hit = np.array([row]) if alone else hit
    return {
        "recoverable_ns": gain,
        "mean_saved_ns": total // len(rows),
        "acted_ns": min(max(gain, int(acted[row])), int(lengths[row])),
        "share": gain / int(lengths[row]),
        "weighs": total / length,
        "row": row,
        "length_ns": int(lengths[row]),
        "hit": hit.tolist(),
        "shows": float((gains[hit] >= SHOWN * gain).mean()) if len(hit) else 1.0,
        "alone": alone,
    }


def _saved(insight: Insight, number: int, steps: int, column: str = "saved") -> Ints:
    """What a finding saves of each step, or acts on there, ns."""
    saving = insight["finding_steps"]
    own = saving["finding"] == number
    each = np.zeros(steps, np.int64)
    each[saving["step"][own]] = saving[column][own]
    return each
