"""The findings of every sample, in words, and of the public traces, in numbers, against files that
a person can review.

``UPDATE_GOLDEN=1 pytest tests/golden/findings`` writes them anew. Look at each changed line, and at
the events it rests on, before you commit it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import public
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.not_judged import UNSURE
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.findings.step_findings import findings_of
from torch_tb_profiler.runs.loading import insight_of, load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.findings.payload import Source, findings_payload
from torch_tb_profiler.views.findings.wire import Finding

HERE = Path(__file__).resolve().parent
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


def _opened(runs: Iterable[Path]) -> Iterator[tuple[str, Opened, Insight]]:
    for run in runs:
        for opened in load_all(str(run), Settings()):
            if isinstance(opened, Opened):
                yield (
                    f"{run.name} {opened.worker.name} {opened.span.name}",
                    opened,
                    insight_of(opened, Settings()),
                )


def _compare(name: str, found: dict[str, Any]) -> None:
    path = HERE / name
    kept = json.loads(path.read_text(encoding="utf-8"))
    runs = {key.partition(" ")[0] for key in found}
    others = {key: kept[key] for key in kept if key.partition(" ")[0] not in runs}
    if UPDATE:
        whole = dict(
            sorted({**others, **found}.items(), key=lambda item: item[0].partition(" ")[0])
        )
        lines = [
            f" {json.dumps(key)}: {json.dumps(value, indent=2, ensure_ascii=False)}"
            for key, value in whole.items()
        ]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    else:
        assert {key: kept[key] for key in kept if key not in others} == found


def _fits(facts: Facts, insight: Insight) -> dict[str, Any]:
    """The findings; and what must hold of any trace."""
    made = findings_of(facts, insight)
    step = made["step_ns"] or 0
    for item in made["found"]:
        assert item["rule"] in RULES
        assert len(item["rows"]) == min(item["count"], 20)
        if item["costs"]:
            assert 0 <= item["recoverable_ns"] <= item["length_ns"]
            assert THRESHOLD <= item["share"] <= 1
    assert all(0 <= total["recoverable_ns"] <= step for total in made["totals"])
    assert set(made["unsure"]) <= set(UNSURE)
    return made


def _evidence(item: Finding) -> str:
    return f"{item.evidence_count} × {item.evidence[0].label}" if item.evidence else "no event"


def test_samples(samples: Path) -> None:
    found = {}
    for key, opened, insight in _opened(
        sorted(path for path in samples.iterdir() if path.is_dir())
    ):
        _fits(opened.facts, insight)
        page = findings_payload(
            Source(opened.trace, opened.facts, insight, opened.worker.name, opened.span.name)
        )
        found[key] = {
            "headline": page.headline,
            "findings": [
                f"{item.certainty}: {item.sentence} [{_evidence(item)}, {item.line}]"
                for item in page.findings
            ],
            "together": [
                f"{total.certainty}: {format_ns(page.step_ns)} → {format_ns(total.step_ns)}"
                for total in page.totals
            ],
            "unsure": page.unsure,
        }
    _compare("samples.json", found)


@pytest.mark.parametrize(
    "runs", [public.some(public.FOLDERS), pytest.param(public.FOLDERS, marks=pytest.mark.nightly)]
)
def test_public_traces(runs: list[Path], real_traces: Path) -> None:
    """The headline; rule, share of the step in per cent, certainty, pieces of evidence."""
    found = {}
    for key, opened, insight in _opened(runs):
        made = _fits(opened.facts, insight)
        page = findings_payload(
            Source(opened.trace, opened.facts, insight, opened.worker.name, opened.span.name)
        )
        found[key] = [
            page.headline,
            *(
                f"{item['rule']} {'-' if item['share'] is None else format(item['share'], '.0%')}"
                f" {item['certainty'] or '-'} {item['count']}"
                for item in made["found"]
            ),
        ]
    _compare("public_traces.json", found)
