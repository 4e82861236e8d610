"""The kernel table of public traces: what must hold in every one, and the backward pass of three
against the rows of their forward.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.analysis.figures import insight, opened
from tests.analysis.pyprof.rows import Row, rows_of
from torch_tb_profiler.analysis.pyprof.table import kernel_table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

Built = tuple[Trace, Facts, Insight]

RUNS = (
    "a100_nccl",
    "a100_triton",
    "ancient_categories",
    "b200_eager",
    "cpu_only",
    "ddp128_sampled",
    "h100_bert_small",
    "h100_owlv2",
    "h100_vit",
    "h800_deepseek_train",
    "mi210_gpu_only",
    "mi250_minitoy",
    "mi300_resnet_ddp",
    "mi300_torch_compile",
    "mi300_vllm_graph",
    "mtia_inference",
    "v100_memory_nccl",
    "v100_ns_timestamps",
    "v100_resnet50_num_workers_0",
)


def first(real_traces: Path, run: str) -> Path:
    return sorted((real_traces / run).glob("*.json*"))[0]


def rows(real_traces: Path, run: str) -> list[Row]:
    return rows_of(*opened(first(real_traces, run)))


@pytest.fixture(scope="module", params=RUNS)
def built(request: pytest.FixtureRequest, real_traces: Path) -> Built:
    path = first(real_traces, request.param)
    return *opened(path), insight(path)


def test_what_holds_in_every_trace(built: Built) -> None:
    trace, facts, insight = built
    found = rows_of(trace, facts, insight)
    spans = trace["spans"]
    kernel = spans["role"] == Role.KERNEL
    assert [row["sil"] for row in found] == spans["dur"][kernel].tolist()
    assert [row["kernel"] for row in found] == trace.strings.many(spans["name"][kernel])
    assert sum(int(row["sil"] or 0) for row in found) == int(facts["kernel_steps"]["total"].sum())
    assert [row["idx"] for row in found] == list(range(1, len(found) + 1))
    assert {row["dir"] for row in found} <= {"fprop", "bprop", None}
    assert {row["tc"] for row in found} <= {"0", "1", "-", None}
    assert all(
        (row["op"] is None) <= (row["mod"] is None and row["params"] is None) for row in found
    )
    known = kernel_table(trace, facts, insight).call >= 0
    assert int(known.sum()) >= facts.summary.attribution.with_operator


def test_flops_are_those_of_the_efficiency_view(built: Built) -> None:
    trace, facts, insight = built
    table = kernel_table(trace, facts, insight)
    kernel = trace["spans"]["role"][table.work.row] == Role.KERNEL
    for key, shown in (("flops", table.flops), ("bytes", table.bytes)):
        laid = getattr(table.work, key)
        assert (shown[laid[kernel] >= 0] == laid[kernel][laid[kernel] >= 0]).all()
        # An amount that is not known is −1, in single launches and in sums.
        assert int(laid.clip(0).sum()) == int(insight["workload_kernels"][key].clip(0).sum())
    # No copy or memset computes: what the table leaves out has bytes only.
    assert int(table.work.flops[~kernel].clip(0).sum()) == 0


@pytest.mark.parametrize(
    ("run", "least"),
    [
        ("mi300_resnet_ddp", 400),
        ("v100_resnet50_num_workers_0", 1000),
        ("v100_ns_timestamps", 1000),
    ],
)
def test_backward_kernels_have_what_their_forward_has(
    real_traces: Path, run: str, least: int
) -> None:
    found = rows(real_traces, run)
    forward: dict[object, list[Row]] = defaultdict(list)
    for row in found:
        if row["dir"] == "fprop" and row["seq"] is not None:
            forward[row["seq"]].append(row)
    tied = 0
    for row in found:
        beside = [f for f in forward[row["seq"]] if f["op"] == row["op"]]
        if row["dir"] != "bprop" or row["seq"] is None or not beside:
            continue
        tied += 1
        assert any(
            all(row[key] == f[key] for key in ("mod", "op", "params", "layer", "trace"))
            for f in beside
        ), row
    assert tied >= least


def test_every_backward_kernel_of_resnet_is_named_as_its_forward(real_traces: Path) -> None:
    found = rows(real_traces, "v100_resnet50_num_workers_0")
    named = Counter(row["op"] for row in found if row["dir"] == "bprop" and row["seq"] is not None)
    assert named == {
        "conv2d": 1500,
        "batch_norm": 318,
        "relu_": 294,
        "linear": 18,
        "max_pool2d": 12,
        "nll_loss_forward": 6,
        "log_softmax": 6,
        "mean": 6,
    }
    # What has no number adds gradients up.
    assert {row["op"] for row in found if row["dir"] == "bprop" and row["seq"] is None} == {
        "add",
        "add_",
        "sum",
    }


def test_twenty_columns_of_a_product(real_traces: Path) -> None:
    row = rows(real_traces, "h100_bert_small")[8]
    assert {key: row[key] for key in row if key not in ("kernel", "trace")} == {
        "idx": 9,
        "seq": None,
        "altseq": None,
        "tid": "19392",
        "dir": "fprop",
        "sub": 0,
        "mod": "aten",
        "op": "linear",
        "sil": 5824,
        "tc": "1",
        "device": 0,
        "layer": (
            "BertLMHeadModel_0.BertModel_0.BertEncoder_0.BertLayer_0.BertAttention_0.BertSdpaSelfAttention_0.Linear_0"
        ),
        "stream": 7,
        "params": "M=141,N=512,K=512,type=bf16",
        "grid": "40,2,1",
        "block": "128,1,1",
        "flops": 2 * 141 * 512 * 512 + 141 * 512,
        "bytes": 2 * (141 * 512 + 512 * 512 + 512 + 141 * 512),
    }
    assert str(row["trace"]).endswith(
        "transformers/models/bert/modeling_bert.py:505 ->"
        " transformers/models/bert/modeling_bert.py:364"
    )
