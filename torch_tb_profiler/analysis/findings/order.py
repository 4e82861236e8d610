"""Which finding counts most: one order for the list of findings and the headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_CERTAINTY = {"certain": 1.0, "likely": 0.6, "theoretical": 0.01}
"""Of savings, when findings are put in order: a possible one never comes before a certain or likely one, because that
saves ``THRESHOLD`` at least.
"""
_GENERIC = 0.25
"""Of what names a place and no cause: it leads if it saves four times as much as any cause."""
FEW_STEPS = 3
"""Of fewer steps, none is one alone."""
GENERIC_PLACE = 250
"""``Rule.place`` from which on rules name a place and no cause."""


def weight(item: Mapping[str, Any]) -> float:
    """How much a finding counts: its saving as a share of all steps, less where it is not certain or names no cause."""
    if item["share"] is None:
        return 0.0
    value = item.get("weighs", item["share"]) * _CERTAINTY[item["certainty"]]
    if item.get("generic"):
        value *= _GENERIC
    return float(value)


def in_order(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings, the one to act on first: by ``weight``, after them what happened in one step alone, the profiler's own doing after
    all others, and then what costs no time, unless it may end the program.
    """
    return sorted(
        items,
        key=lambda item: (
            item["share"] is None and not item.get("risk"),
            item["artefact"],
            item.get("certainty") == "theoretical",
            item.get("once") is not None,
            -_counts(item),
        ),
    )


def _counts(item: Mapping[str, Any]) -> float:
    return weight(item) or float(item.get("risk", 0.0))
