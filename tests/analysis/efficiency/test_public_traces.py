"""Workloads of public traces against arithmetic done by hand from their shapes: FLOPs, bytes, whose
peak, what limits, and what is to gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.analysis.figures import insight, opened
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.views.work.efficiency import efficiency_payload
from torch_tb_profiler.views.work.efficiency_wire import EfficiencyPayload

HALF = 2
"""Bytes of an element of bfloat16."""


@dataclass(frozen=True)
class Case:
    """A row by its run, operator and the begin of its shapes, and what it must be."""

    run: str
    name: str
    shapes: str
    flops: int
    bytes: int
    peak: str
    rate: float
    bandwidth: float
    bound: str


H100, MI300, B200 = 3.35e12, 5.3e12, 8e12
TOKENS, WIDTH, WIDE = 4 * 197, 768, 3072
IMAGE, TILES = 5185, 16 * 5185 * 5185
PIXELS = 10 * 64 * 56 * 56

CASES = [
    Case(
        "h100_vit",
        "aten::addmm",
        "[[768],[788,768],[768,768]",
        2 * TOKENS * WIDTH * WIDTH + TOKENS * WIDTH,
        HALF * (WIDTH + 2 * TOKENS * WIDTH + WIDTH * WIDTH),
        "bf16 matrix",
        989.4e12,
        H100,
        "latency",
    ),
    Case(
        "h100_vit",
        "aten::addmm",
        "[[3072],[788,768],[768,3072]",
        2 * TOKENS * WIDTH * WIDE + TOKENS * WIDE,
        HALF * (WIDE + TOKENS * WIDTH + WIDTH * WIDE + TOKENS * WIDE),
        "bf16 matrix",
        989.4e12,
        H100,
        "compute",
    ),
    Case(
        "h100_vit",
        "aten::cudnn_convolution",
        "[[4,3,224,224],[768,3,16,16]",
        2 * 4 * 14 * 14 * WIDTH * 3 * 16 * 16,
        HALF * (4 * 3 * 224 * 224 + WIDTH * 3 * 16 * 16 + 4 * WIDTH * 14 * 14),
        "bf16 matrix",
        989.4e12,
        H100,
        "latency",
    ),
    Case(
        "h100_vit",
        "aten::_flash_attention_forward",
        "[[4,197,12,64]",
        2 * 2 * 4 * 12 * 197 * 197 * 64,
        HALF * 4 * TOKENS * WIDTH,
        "bf16 matrix",
        989.4e12,
        H100,
        "latency",
    ),
    Case(
        "h100_vit",
        "aten::gelu",
        "[[4,197,3072]",
        TOKENS * WIDE,
        HALF * 2 * TOKENS * WIDE,
        "fp32 vector",
        66.9e12,
        H100,
        "memory",
    ),
    Case(
        "h100_owlv2",
        "aten::_softmax",
        "[[16,5185,5185]",
        5 * TILES,
        HALF * 2 * TILES,
        "fp32 vector",
        66.9e12,
        H100,
        "memory",
    ),
    Case(
        "h100_owlv2",
        "aten::bmm",
        "[[16,5185,64],[16,64,5185]]",
        2 * TILES * 64,
        HALF * (2 * 16 * IMAGE * 64 + TILES),
        "bf16 matrix",
        989.4e12,
        H100,
        "memory",
    ),
    Case(
        "h100_owlv2",
        "aten::mul",
        "[[1,5185,4096],[1,5185,4096]]",
        IMAGE * 4096,
        HALF * 3 * IMAGE * 4096,
        "fp32 vector",
        66.9e12,
        H100,
        "memory",
    ),
    Case(
        "mi300_bert_small",
        "aten::addmm",
        "[[30522],[141,512],[512,30522]",
        2 * 141 * 512 * 30522 + 141 * 30522,
        HALF * (30522 + 141 * 512 + 512 * 30522 + 141 * 30522),
        "bf16 matrix",
        1307.4e12,
        MI300,
        "memory",
    ),
    Case(
        "mi300_resnet_ddp",
        "aten::miopen_convolution",
        "[[10,64,56,56],[64,64,3,3]",
        2 * PIXELS * 64 * 9,
        HALF * (2 * PIXELS + 64 * 64 * 9),
        "bf16 matrix",
        1307.4e12,
        MI300,
        "latency",
    ),
    # Both gradients; dY, X and W read once, dX and dW written.
    Case(
        "mi300_resnet_ddp",
        "aten::convolution_backward",
        "[[10,64,56,56],[10,64,56,56],[64,64,3,3]",
        2 * 2 * PIXELS * 64 * 9,
        HALF * (3 * PIXELS + 2 * 64 * 64 * 9),
        "bf16 matrix",
        1307.4e12,
        MI300,
        "latency",
    ),
    Case(
        "b200_eager",
        "aten::addmm",
        "[[640],[888,2880],[2880,640]",
        2 * 888 * 2880 * 640 + 888 * 640,
        HALF * (640 + 888 * 2880 + 2880 * 640 + 888 * 640),
        "bf16 matrix",
        2250e12,
        B200,
        "latency",
    ),
    Case(
        "b200_eager",
        "aten::mm",
        "[[1,2880],[2880,25136]]",
        2 * 2880 * 25136,
        HALF * (2880 + 2880 * 25136 + 25136),
        "bf16 matrix",
        2250e12,
        B200,
        "memory",
    ),
]


@pytest.fixture(scope="module")
def payloads(real_traces: Path) -> dict[str, EfficiencyPayload]:
    found = {}
    for run in sorted({case.run for case in CASES}):
        path = next((real_traces / run).glob("*.json*"))
        _, facts = opened(path)
        found[run] = efficiency_payload(facts, insight(path), select(facts), "operator")
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.run}-{case.name}-{case.shapes}")
def test_a_workload_by_hand(payloads: dict[str, EfficiencyPayload], case: Case) -> None:
    rows = payloads[case.run].rows
    (row,) = [
        i
        for i, (name, shapes) in enumerate(zip(rows["name"], rows["input_shapes"], strict=True))
        if name == case.name and (shapes or "").replace(" ", "").startswith(case.shapes)
    ]
    time, calls = rows["time_ns"][row], rows["calls"][row]
    assert rows["flops"][row] == case.flops
    assert rows["bytes"][row] == case.bytes
    assert f"{rows['precision'][row]} {rows['unit'][row]}" == case.peak
    assert rows["peak"][row] == pytest.approx(case.rate, rel=2e-3)
    assert rows["flops_share"][row] == pytest.approx(
        case.flops * calls / time * 1e9 / case.rate, rel=2e-3
    )
    assert rows["bytes_share"][row] == pytest.approx(
        case.bytes * calls / time * 1e9 / case.bandwidth, rel=1e-6
    )
    assert rows["bound"][row] == case.bound
    ideal = max(case.flops / case.rate, case.bytes / case.bandwidth) * calls * 1e9
    assert rows["ideal_ns"][row] == pytest.approx(ideal, rel=2e-3, abs=1)
    assert rows["recoverable_ns"][row] == pytest.approx(time - ideal, rel=2e-3, abs=2)


def test_no_row_of_a_public_trace_computes_beyond_its_peak(
    payloads: dict[str, EfficiencyPayload],
) -> None:
    for run, payload in payloads.items():
        known = [share for share in payload.rows["flops_share"] if not math.isnan(share)]
        assert known, run
        assert max(known) <= 1, run


def test_families_divide_the_time(payloads: dict[str, EfficiencyPayload]) -> None:
    for payload in payloads.values():
        families = payload.families
        time = dict(zip(families["family"], families["time_ns"], strict=True))
        assert sum(families["time_ns"]) == payload.time_ns
        aside = sum(time.get(word, 0) for word in ("communication", "memcpy"))
        assert payload.computation_ns == payload.time_ns - aside
        assert payload.modelled_ns == payload.computation_ns - time[None]
    # 47.2 of 68.4 ms are RCCL's: they are no computation that a model could know.
    resnet = payloads["mi300_resnet_ddp"]
    assert resnet.modelled_ns / resnet.time_ns < 0.32
    assert resnet.modelled_ns / resnet.computation_ns > 0.76
