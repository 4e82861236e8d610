"""A pair is aligned once; what goes wrong is told where it was asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.analysis.diff.test_aligned_recordings import side_of, steps
from torch_tb_profiler.runs import alignments
from torch_tb_profiler.runs.alignments import Alignments, Steps


def opened(content: str, *lengths: int) -> Steps:
    """What a route has opened, with all of its steps."""
    side = side_of(steps(*lengths))
    insight = SimpleNamespace(
        id=content,
        opened=SimpleNamespace(trace=side.trace, facts=side.facts),
        insight=side.insight,
    )
    return cast(Any, insight), np.arange(len(lengths))


def test_a_pair_is_aligned_once() -> None:
    kept, pair = Alignments(), (opened("a", 100, 100), opened("b", 100, 150))
    first = kept.of(*pair)
    assert kept.of(*pair) is first
    assert kept.of(pair[1], pair[0]) is not first


def test_a_failure_is_raised_where_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(before: Any, after: Any) -> Any:
        raise ValueError("damaged")

    monkeypatch.setattr(f"{alignments.__name__}.align_recordings", failing)
    with pytest.raises(ValueError, match="damaged"):
        Alignments().of(opened("a", 100), opened("b", 100))
