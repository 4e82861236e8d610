"""Comparisons of small traces."""

from __future__ import annotations

from functools import lru_cache

from tests.builders.drawn import trace_of
from tests.builders.listed import facts_listed, trace_listed
from tests.builders.pairs import CHANGES, NO_CHANGE, recording
from torch_tb_profiler.analysis.diff.compare import Comparison, compare
from torch_tb_profiler.analysis.diff.side import Side, compared_side
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import INSIGHT_TABLES
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import StringTable

NOTHING = Insight(StringTable.of([]), {spec.name: spec.empty() for spec in INSIGHT_TABLES})


def side_of(trace: Trace, first: int | None = None, last: int | None = None) -> Side:
    """A side of all steps, or of some."""
    facts = derive(trace)
    return compared_side(facts, build_insight(trace, facts), select(facts, first, last))


def of_lengths(lengths: list[int]) -> Side:
    """Steps of these lengths in µs one after the other, with an insight of nothing."""
    lines, at = [], 0
    for number, length in enumerate(lengths):
        lines.append(f"1 note ProfilerStep#{number}@{at}+{length}")
        at += length
    facts = facts_listed("\n".join(lines))
    return compared_side(facts, NOTHING, select(facts))


def listed(text: str) -> Side:
    """A written trace."""
    return side_of(trace_listed(text))


@lru_cache(maxsize=16)
def drawn(name: str, seed: int = 0, steps: int = 8) -> Side:
    """A recording of the job of ``pairs``."""
    return side_of(trace_of(recording(CHANGES[name], seed, steps)))


def changed(name: str) -> Comparison:
    """A recording with an injected change compared with one without."""
    return compare(drawn(NO_CHANGE), drawn(name, seed=1))
