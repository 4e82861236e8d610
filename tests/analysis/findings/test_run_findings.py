"""The findings of a rank with what all ranks of its run tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from tests.examples import examples
from tests.views.test_headlines import judged, of_step
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.findings.run_findings import with_verdict
from torch_tb_profiler.analysis.what_if.outcomes import BY_CERTAINTY

MS = 1_000_000
STEP = 100 * MS
NAMES = [("rank0", "1"), ("rank1", "1")]


def figures(host: str) -> RunFigures:
    """Of one machine, where which rank is slow may be left to chance; or, without its name, of two."""
    return cast(RunFigures, SimpleNamespace(ranks=[SimpleNamespace(host_name=host)]))


def saving(rule: str, certainty: str, gain: int, row: int) -> dict[str, Any]:
    return {
        "rule": rule,
        "costs": True,
        "certainty": certainty,
        **dict.fromkeys(("recoverable_ns", "acted_ns", "mean_saved_ns"), gain),
        "reach": astuple(BY_CERTAINTY[certainty]),
        "share": gain / STEP,
        "artefact": False,
        "once": None,
        "row": row,
        "length_ns": STEP,
    }


def analysed(
    found: list[dict[str, Any]], totals: list[dict[str, Any]], median: int
) -> dict[str, Any]:
    """What a rank's own findings say of four steps."""
    return {
        "found": found,
        "totals": totals,
        "rows": [median],
        "all_rows": [0, 1, 2, 3],
        "step_ns": STEP,
        "unsure": [],
        "noise_ns": (0.0, 0.0),
        "whole": True,
    }


@examples(50)
@given(
    waits=st.integers(3 * MS, 60 * MS),
    held=st.integers(3 * MS, 60 * MS),
    other=st.one_of(st.none(), st.integers(3 * MS, 30 * MS)),
    apart=st.booleans(),
    host=st.sampled_from(["", "node"]),
)
def test_of_one_change_there_is_no_total(
    waits: int, held: int, other: int | None, apart: bool, host: str
) -> None:
    """Communication that is not hidden is mostly waiting for rank 1; what is left of it may be too little to be told. What
    counts in another step than the median one is in no total.
    """
    verdict = judged([of_step(step, held=held) for step in range(4)])
    median = verdict.median
    assert median is not None
    found = [saving("exposed_communication", "likely", waits, median)]
    if other is not None:
        found.append(saving("launch_bound", "likely", other, (median + apart) % 4))
    total = {"certainty": "likely", "recoverable_ns": waits + (0 if apart else other or 0)}
    analysis = analysed(found, [total], median)
    told = with_verdict(analysis, verdict, np.arange(4), 0, NAMES, figures(host))
    of_it = [finding for finding in told["found"] if finding["row"] == median]
    assert held in [finding["recoverable_ns"] for finding in of_it]
    most = max(finding["recoverable_ns"] for finding in of_it)
    sure = [finding for finding in of_it if finding["certainty"] != "theoretical"]
    assert bool(told["totals"]) == (len(sure) > 1 and total["recoverable_ns"] >= most)


@examples(50)
@given(
    held=st.integers(5 * MS, 20 * MS),
    part=st.floats(1.1, 1.5),
    about=st.sampled_from(["", "cause", "line"]),
)
def test_the_late_rank_leads_with_that(held: int, part: float, about: str) -> None:
    """What takes longer there than on the others is told by the verdict; what is about something else weighs what it saves."""
    verdict = judged([of_step(step, held=held) for step in range(4)])
    median = verdict.median
    assert median is not None
    rule = "launch_bound" if about == "cause" else "exposed_copies"
    one = saving(rule, "likely", round(held * (part if about else 2 * part)), median)
    assert verdict.hold is not None
    found = [
        one | {"line": verdict.hold.worst.parts[0].line if about == "line" else "other.py(3): f"}
    ]
    analysis = analysed(found, [], median)
    told = with_verdict(analysis, verdict, np.arange(4), 1, NAMES, figures(""))
    assert told["found"][0]["rule"] == ("late_itself" if about else rule)
