"""The findings of a rank with what all ranks of its run tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.views.test_headlines import judged, of_step
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.findings.run_findings import with_verdict

MS = 1_000_000
STEP = 100 * MS
NAMES = [("rank0", "1"), ("rank1", "1")]
# Of two machines, so that which rank is slow is not left to chance.
FIGURES = cast(RunFigures, SimpleNamespace(ranks=[SimpleNamespace(host_name="")]))


def saving(rule: str, certainty: str, gain: int) -> dict[str, Any]:
    return {
        "rule": rule,
        "costs": True,
        "certainty": certainty,
        "recoverable_ns": gain,
        "share": gain / STEP,
        "artefact": False,
        "once": None,
        "row": 0,
        "length_ns": STEP,
    }


@examples(50)
@given(
    waits=st.integers(3 * MS, 60 * MS),
    held=st.integers(3 * MS, 60 * MS),
    other=st.one_of(st.none(), st.integers(3 * MS, 30 * MS)),
)
def test_of_one_change_there_is_no_total(waits: int, held: int, other: int | None) -> None:
    """Communication that is not hidden is mostly waiting for rank 1; what is left of it may be too little to be told."""
    found = [saving("exposed_communication", "likely", waits)]
    if other is not None:
        found.append(saving("launch_bound", "likely", other))
    total = {"certainty": "likely", "recoverable_ns": waits + (other or 0)}
    analysis = {
        "found": found,
        "totals": [total],
        "rows": [0],
        "all_rows": [0, 1, 2, 3],
        "step_ns": STEP,
        "unsure": [],
        "whole": True,
    }
    verdict = judged([of_step(step, held=held) for step in range(4)])
    told = with_verdict(analysis, verdict, np.arange(4), 0, NAMES, FIGURES)
    gains = [finding["recoverable_ns"] for finding in told["found"]]
    assert held in gains
    assert bool(told["totals"]) == (len(gains) > 1 and total["recoverable_ns"] >= max(gains))
