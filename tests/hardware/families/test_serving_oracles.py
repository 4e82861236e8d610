"""TraceLens' reports of two servers, an independent oracle: products, attention, RMS norm, rotary
embeddings and cache writes, with the calls and sums as its sheets state them.

Its reports are in ``../shared/oracles``; "MB" are MiB there.
"""

from __future__ import annotations

import math
from collections import Counter

import pytest
from msgspec.structs import replace

from tests.hardware.families.test_oracles import ORACLES, amounts, calls
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.hardware.server_steps import Requests, ServerStep
from torch_tb_profiler.hardware.work import Work, work_of

RUNS = ("mi300_vllm_piecewise", "sglang_qwen3_decode")
SHEETS = ("GEMM", "InferenceAttention_fwd", "RMSNorm_fwd", "RoPE_fwd")
_TOTALS = ("sq", "sk", "sqsq", "sqsk")
Row = tuple[str, Call, Work, int, int]


def _step(row: dict[str, str]) -> ServerStep | None:
    """The sums that a row of attention states."""
    if not row.get("param: c_sq"):
        return None
    context, generation = (
        Requests(-1, *(int(float(row[f"param: {kind}_{total}"])) for total in _TOTALS))
        for kind in "cg"
    )
    return ServerStep("", context, generation)


@pytest.fixture(scope="module")
def report() -> list[Row]:
    """(sheet, call, our work, their FLOPs, their bytes)."""
    found = []
    for run in RUNS:
        for sheet in SHEETS:
            path = ORACLES / run / f"{sheet}.csv"
            if not path.is_file():
                continue
            for row, recorded in calls(path):
                call = replace(recorded, step=_step(row))
                work = work_of(call)
                assert work is not None, (run, sheet, call)
                gflops, mebibytes = amounts(row)
                theirs = round(gflops * 1e9), round(mebibytes * 2**20)
                found.append((sheet, call, work, *theirs))
    if not found:
        pytest.skip("the oracles (../shared/oracles) are not on this machine")
    return found


def test_the_sheets_are_whole(report: list[Row]) -> None:
    sheets = Counter(sheet for sheet, *_ in report)
    assert sheets == {"GEMM": 17, "RMSNorm_fwd": 7, "InferenceAttention_fwd": 3, "RoPE_fwd": 1}


def test_products_and_norms_are_theirs(report: list[Row]) -> None:
    for sheet, call, work, flops, size in report:
        if sheet in ("GEMM", "RMSNorm_fwd"):
            assert work.bytes is not None
            assert math.isclose(work.flops, flops, rel_tol=1e-6), (call, work)
            assert math.isclose(work.bytes, size, rel_tol=1e-6), (call, work)


def test_attention_is_theirs_but_for_the_diagonal(report: list[Row]) -> None:
    """They take half of sq² pairs from a prompt, though each query sees itself: half of sq² − sq are
    masked, as in their own count of generated tokens, of which nothing is taken.
    """
    checked = 0
    for _, call, work, flops, size in report:
        if call.step is None or not work.flops:
            continue
        q = call.tensor(2 if "ragged" in call.name else 0)
        assert q is not None
        _, heads, d = q.shape
        assert work.flops - call.step.context.query * heads * 2 * d == flops
        assert work.bytes == size
        checked += 1
    assert checked == 2


def test_tables_and_slots_are_read(report: list[Row]) -> None:
    """They omit the positions and their rows of the table, and the slots of the cache."""
    checked = []
    for _, call, work, flops, size in report:
        if call.name == "sgl_kernel::rotary_embedding":
            # 32 positions of eight bytes, 32 rows of 128 in bfloat16.
            assert (work.flops, work.bytes) == (flops, size + 32 * 8 + 32 * 128 * 2)
        elif call.name == "sglang::store_cache":
            assert (work.flops, work.bytes) == (flops, size + 32 * 8)
        else:
            continue
        checked.append(call.name)
    assert sorted(checked) == ["sgl_kernel::rotary_embedding", "sglang::store_cache"]
