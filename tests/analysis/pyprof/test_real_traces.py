"""The kernel table of public traces: what must hold in every one, and the backward pass of three
against the rows of their forward.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.analysis.figures import opened
from tests.analysis.pyprof.rows import Row, rows_of


def first(real_traces: Path, run: str) -> Path:
    return sorted((real_traces / run).glob("*.json*"))[0]


def rows(real_traces: Path, run: str) -> list[Row]:
    return rows_of(*opened(first(real_traces, run)))


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
