"""Which finding counts most: one order for the list of findings and the headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch_tb_profiler.analysis.findings.claims import certainty_of
from torch_tb_profiler.analysis.what_if.outcomes import Reach, saving_interval

_GENERIC = 0.25
"""Of what names a place and no cause: it leads if it saves four times as much as any cause."""
BESIDES = 1.25
"""Of 30 changed programs 28 saved at most so many times what the change acts on: what is gone no longer evicts the rest from caches."""
FEW_STEPS = 3
"""Of fewer steps, none is one alone."""
GENERIC_PLACE = 250
"""``Rule.place`` from which on rules name a place and no cause."""


def weight(item: Mapping[str, Any]) -> float:
    """How much a finding counts: the middle of what such changes come to at least and at most, as a share of all steps, less where it
    names no cause. The noise of the steps is none of it: below no saving is less than nothing, and a small one would weigh more.
    """
    if not item["share"]:
        return 0.0
    middle = sum(acted_interval(item, Reach(*item["reach"]), (0.0, 0.0))) / 2
    value = item.get("weighs", item["share"]) * middle / item["recoverable_ns"]
    if item.get("generic"):
        value *= _GENERIC
    return float(value)


def in_order(
    items: Iterable[Mapping[str, Any]], spread: tuple[float, float]
) -> list[dict[str, Any]]:
    """Findings with how certain each is and the least and the greatest saving to expect, ``low_ns`` and ``high_ns``, the one to act on first: by
    ``weight``, then what no recording at hand shows, then what nobody promises, what happened in one step alone, the profiler's own
    doing, and what costs no time, unless it may end the program. What is about the time of one before it stands behind that.
    ``spread``: as of ``noise``.
    """
    waiting = sorted((dict(item) | _interval(item, spread) for item in items), key=_key)
    numbers = {item.get("number"): _key(item)[:-1] for item in waiting}
    found: list[dict[str, Any]] = []
    placed: set[Any] = set()
    while waiting:
        free = (
            item.get("holds", -1) in placed or numbers.get(item.get("holds", -1)) != _key(item)[:-1]
            for item in waiting
        )
        at = next((number for number, own in enumerate(free) if own), 0)
        item = waiting.pop(at)
        placed.add(item.get("number"))
        found.append(item)
    return found


def _interval(item: Mapping[str, Any], spread: tuple[float, float]) -> dict[str, Any]:
    """How certain it is, and the least and the greatest saving to expect: what such changes came to, which is more than they act on (``BESIDES``) where the
    rest of a step gains from them too, as from caches.
    """
    gain = item["recoverable_ns"]
    if gain is None:
        return {"low_ns": None, "high_ns": None}
    low, high = acted_interval(item, Reach(*item["reach"]), spread, BESIDES)
    acted = min(high, max(item["acted_ns"], gain))
    certainty = certainty_of(item["certainty"], low, acted, item.get("shows", 1.0))
    return {"low_ns": low, "high_ns": high, "certainty": certainty}


def acted_interval(
    item: Mapping[str, Any], reach: Reach, spread: tuple[float, float], most: float = 1.0
) -> tuple[float, float]:
    """Least and greatest saving of a step, ns, at most so many times what the change acts on. ``spread``: as of ``noise``."""
    gain = item["recoverable_ns"]
    low, high = saving_interval(gain, item["length_ns"], spread, reach)
    return min(low, gain), max(min(high, most * item["acted_ns"]), gain)


def _key(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        item["share"] is None and not item.get("risk"),
        item["artefact"],
        item.get("once") is not None,
        item.get("certainty") == "theoretical",
        bool(item.get("untried")),
        -(weight(item) or float(item.get("risk", 0.0))),
    )
