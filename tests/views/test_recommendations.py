"""Each of the seven rules of the analysis has its text, and each of its numbers a label. One rule has two texts."""

from __future__ import annotations

import pytest

from tests.views import hand_made
from torch_tb_profiler.analysis.advice import Advice
from torch_tb_profiler.views import recommendations
from torch_tb_profiler.views.vocabulary import vocabulary

NUMBERS: dict[str, dict[str, float]] = {
    "dataloader": {"share": 0.3},
    "data_parallel": {"devices": 4.0},
    "not_nccl": {"devices": 1.0},
    "communication": {"share": 0.2},
    "communication_on_host": {"share": 0.2},
    "low_utilization": {"device 0": 0.1, "device 10": 0.2},
    "matrix_cores_unused": {"share": 0.68},
    "memory_near_capacity": {"device": 1.0, "peak": 9e10, "memory": 9.1e10, "share": 0.99},
}


@pytest.mark.parametrize("rule", list(recommendations.RULES))
@pytest.mark.parametrize("vendor", ["nvidia", "amd", "other"])
def test_every_rule(rule: str, vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    advice = (Advice(rule, NUMBERS[rule]),)
    monkeypatch.setattr(recommendations, "advise", lambda facts, selection: advice)
    facts = hand_made.facts(vendor=vendor)
    (found,) = recommendations.recommendations(facts, None)  # type: ignore[arg-type]
    assert len(found.numbers) == len(NUMBERS[rule])
    assert all(n.label and n.label[0].isupper() for n in found.numbers)
    words = " ".join([found.title, found.text, found.caveat])
    assert "{" not in words
    assert found.title[0].isupper()
    if vendor != "nvidia":
        assert "Tensor Core" not in words
    if rule == "matrix_cores_unused":
        assert vocabulary(facts).matrix_cores[1:] in words


def test_a_host_alone_is_not_told_what_no_kernel_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recommendations, "advise", lambda facts, selection: (Advice("communication", {"share": 0.2}),))
    on_host, on_device = (recommendations.recommendations(hand_made.facts(device=device), None)[0] for device in (False, True))  # type: ignore[arg-type]
    assert on_host.rule == on_device.rule == "communication"
    assert "kernel" not in on_host.title + on_host.text
    assert "alone" not in on_host.numbers[0].label
    assert "no kernel computes" in on_device.text


def test_every_text_is_tested() -> None:
    assert set(recommendations.RULES) == set(NUMBERS)
