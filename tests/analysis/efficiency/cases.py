"""A drawn trace with operators of known shapes, and what is found of its workloads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tests.builders.drawn import draw
from torch_tb_profiler.analysis.efficiency.workloads import build_workloads
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder

H100: dict[str, Any] = {
    "deviceProperties": [
        {
            "id": 0,
            "name": "NVIDIA H100 80GB HBM3",
            "totalGlobalMem": 85_018_279_936,
            "computeMajor": 9,
            "computeMinor": 0,
            "numSms": 132,
        },
    ]
}
NAMES = {
    "linear": "aten::linear",
    "addmm": "aten::addmm",
    "mm": "aten::mm",
    "add": "aten::add",
    "zero": "aten::zero_",
    "other": "mine::thing",
    "L": "cudaLaunchKernel",
    "gemm": "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
    "reduce": "void cublasLt::splitKreduce_kernel<32, 16, int, float>",
    "fill": "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
    "plus": "void at::native::vectorized_elementwise_kernel<4>",
    "sgemm": "ampere_sgemm_128x64_tn",
    "copy": "Memcpy HtoD (Pageable -> Device)",
}
BF16 = "c10::BFloat16"


def inputs(*shapes: tuple[int, ...], dtype: str = BF16) -> dict[str, Any]:
    """The arguments of an operator that record its inputs."""
    strides = [[math.prod(shape[i + 1 :]) for i in range(len(shape))] for shape in shapes]
    return {
        "Input Dims": [list(shape) for shape in shapes],
        "Input type": [dtype] * len(shapes),
        "Input Strides": strides,
        "Concrete Inputs": [""] * len(shapes),
    }


ARGUMENTS: dict[str, dict[str, Any]] = {
    "linear": inputs((64, 128), (256, 128), (256,)),
    "addmm": inputs((256,), (64, 128), (128, 256)),
    "mm": inputs((64, 128), (128, 256)),
    "add": inputs((64, 256), (64, 256)),
    "zero": inputs((64, 256)),
    "mm32": inputs((64, 128), (128, 256), dtype="float"),
}


def drawn(
    drawing: str,
    args: Mapping[str, Mapping[str, Any]] | None = None,
    scale: int = 1,
    names: Mapping[str, str] | None = None,
    **header: Any,
) -> tuple[Trace, Facts, Insight]:
    """A drawing with the names and inputs above and others, its facts, and an insight with its
    workloads alone; a column is 1 µs.
    """
    known = NAMES | {"mm32": "aten::mm"} | dict(names or {})
    trace = draw(drawing, known, {**ARGUMENTS, **(args or {})}, scale, **header)
    facts = derive(trace)
    texts = StringBuilder()
    tables, _ = build_workloads(trace, facts, {}, texts, call_tree(trace))
    return trace, facts, Insight(texts.table(), tables)


def of(insight: Insight, table: Table, key: str) -> dict[str, list[int]]:
    """A column of a table by name of the operator, step by step; ``""``: of none."""
    found: dict[str, list[int]] = {}
    names = insight["workloads"]["name"]
    for workload, value in zip(table["workload"].tolist(), table[key].tolist(), strict=True):
        found.setdefault(insight.strings[int(names[workload])] if workload >= 0 else "", []).append(
            value
        )
    return found
