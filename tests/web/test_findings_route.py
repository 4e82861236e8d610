"""The route of the findings: one worker alone, and the workers of a run together."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from werkzeug.test import Client

from tests.runs.written_run import WrittenRun, sample
from tests.web.served import WHERE, body, client
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.findings.wire import Finding, FindingsPayload
from torch_tb_profiler.web.application import Application


def lonely(run: WrittenRun, worker: str) -> WrittenRun:
    """A run of that worker alone."""
    found = run.open("run", worker, "1")
    return WrittenRun({worker: (found.trace, found.facts)})


def payload(run: WrittenRun, worker: str, steps: str = "") -> FindingsPayload:
    address = f"/findings?run=run&worker={worker}&span=1&steps={steps}"
    response = Client(Application(run, Settings())).get(address)  # type: ignore[arg-type]
    assert response.status_code == 200
    return msgspec.json.decode(body(response), type=FindingsPayload, strict=True)


def of_rule(found: FindingsPayload, rule: str) -> list[Finding]:
    return [finding for finding in found.findings if finding.rule == rule]


def test_shape() -> None:
    response = client().get(f"/findings?{WHERE}")
    assert response.status_code == 200
    found = msgspec.json.decode(body(response), type=FindingsPayload, strict=True)
    assert found.headline
    assert client().get(f"/findings?{WHERE}").data == response.data


def test_who_keeps_a_rank_waiting(samples: Path) -> None:
    """In the synthetic run rank 5 has slower kernels, and the DataLoader of rank 2 stalls once."""
    run = sample(str(samples / "synthetic_ddp8"))
    alone = of_rule(payload(lonely(run, "rank0"), "rank0"), "exposed_communication")[0]
    found = payload(run, "rank0")
    [straggler] = of_rule(found, "straggler")
    assert straggler.evidence[0].worker == "rank5"
    assert found.headline.startswith(
        "Rank 5 holds all others back: 1.74 ms of each 9.86 ms step of the job."
    )
    [once] = of_rule(found, "held_once")
    assert once.evidence[0].worker == "rank2"
    assert (once.step, once.steps, once.often) == (4, [4], "once, in step 7")
    assert (once.recoverable_ns, round(once.share or 0, 2)) == (8_699_188, 0.44)
    assert "Step 7 is another matter: rank 2 waited for its data, once." in found.detail
    assert "once, in step 7" in once.sentence
    assert "_next_data" in once.sentence
    # What the straggler claims is taken from the communication that waited for it.
    assert alone.recoverable_ns is not None
    rest = of_rule(found, "exposed_communication")
    total = sum(finding.recoverable_ns or 0 for finding in (straggler, *rest))
    assert total <= alone.recoverable_ns
    assert not any("all workers together" in text for text in found.unsure)


def test_the_page_of_the_late_rank_tells_it_first(samples: Path) -> None:
    """What its slow kernels could save is mostly what the others wait for them."""
    found = payload(sample(str(samples / "synthetic_ddp8")), "rank5")
    [itself] = of_rule(found, "late_itself")
    assert itself.recoverable_ns == pytest.approx(1.74e6, rel=0.01)
    assert itself == found.findings[0]
    assert found.headline.startswith("Rank 5 holds all others back")


def test_the_rank_that_stalls_once_is_not_averaged(samples: Path) -> None:
    """Of its other steps the DataLoader takes nothing."""
    found = payload(sample(str(samples / "synthetic_ddp8")), "rank2")
    rules = {finding.rule for finding in found.findings}
    assert {"straggler", "held_once"} <= rules
    assert not rules & {"late_itself", "input_bound"}


def test_one_worker_alone_cannot_tell_who_is_late(samples: Path) -> None:
    run = sample(str(samples / "synthetic_ddp8"))
    found = payload(lonely(run, "rank0"), "rank0")
    assert not of_rule(found, "straggler")
    assert any("all workers together" in text for text in found.unsure)


@pytest.mark.parametrize(
    "worker", ["rank0", "rank1", "rank2", "rank3", "rank4", "rank5", "rank6", "rank7"]
)
def test_together_they_claim_no_more_than_the_step(samples: Path, worker: str) -> None:
    found = payload(sample(str(samples / "synthetic_ddp8")), worker)
    assert found.step_ns is not None
    costing = [
        finding
        for finding in found.findings
        if finding.recoverable_ns is not None and finding.step is None
    ]
    assert sum(finding.recoverable_ns or 0 for finding in costing) <= found.step_ns
    assert all(finding.share is not None and finding.share >= 0.0199 for finding in costing)


def test_workers_that_are_still_read(samples: Path) -> None:
    whole = sample(str(samples / "synthetic_ddp8"))
    run = WrittenRun(
        {
            name: (whole.open("run", name, "1").trace, whole.open("run", name, "1").facts)
            for name in (f"rank{number}" for number in range(8))
        }
    )
    run.waiting.add("rank2")
    found = payload(run, "rank0")
    assert 0 < found.progress < 1
    assert not of_rule(found, "straggler")
    run.waiting.clear()
    assert payload(run, "rank0").progress == 1
    assert of_rule(payload(run, "rank0"), "straggler")
    run.failing.add("rank2")
    run.change()
    assert payload(run, "rank0").progress == 1


def test_of_the_step_that_is_held_once_that_is_the_answer(samples: Path) -> None:
    found = payload(sample(str(samples / "synthetic_ddp8")), "rank0", "4")
    assert found.findings[0].rule == "held_once"
    assert found.headline == "Rank 2 holds all others back: 8.70 ms of the 19.7 ms step of the job."
    assert (found.median, found.findings[0].step, found.findings[0].often) == (4, None, "")
