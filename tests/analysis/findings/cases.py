"""Traces for the rules: drawn ones for those that a picture shows, made ones for those that need
many events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tests.builders import loop
from tests.builders.drawn import Event, draw, events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.findings.step_findings import findings_of
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.summary import Summary

Findings = dict[str, Any]
NVIDIA = {
    "deviceProperties": [
        {
            "id": 0,
            "name": "NVIDIA A100",
            "computeMajor": 8,
            "computeMinor": 0,
            "numSms": 108,
            "totalGlobalMem": 40_000_000,
        }
    ]
}
NAMES = {
    "load": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "fetch": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
    "own": "batches.py(3): __next__",
    "lib": "torch/batches.py(3): __next__",
    "launch": "cudaLaunchKernel",
    "L": "cudaLaunchKernel",
    "sync": "cudaStreamSynchronize",
    "item": "aten::_local_scalar_dense",
    "reduce": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    "gloo": "gloo:all_reduce",
    "malloc": "cudaMalloc",
    "sgemm": "volta_sgemm_128x64_nn",
    "tensorop": "cutlass_80_tensorop_s16816gemm_f16_128x128_align8",
    "align1": "cutlass_80_tensorop_s16816gemm_f16_128x128_align1",
    "gemv": "void gemv2T_kernel_val<int, int, float, float, float>",
    "up": "Memcpy HtoD (Pageable -> Device)",
    "flush": "Buffer Flush",
    "node": "autograd::engine::evaluate_function: MulBackward0",
    "optim": "Optimizer.step#SGD.step",
    "parallel": "DataParallel.forward",
}


def looked_at(trace: Trace) -> Findings:
    """What the engine finds in a trace."""
    facts = of_some_program(derive(trace))
    return findings_of(facts, build_insight(trace, facts))


def of_some_program(facts: Facts) -> Facts:
    """Facts of a drawing that stands for a part of a program: its few kernels make no microbenchmark."""
    return replace(facts, summary=replace(facts.summary, workload=Summary().workload))


def drawn(
    drawing: str,
    args: Mapping[str, Mapping[str, Any]] | None = None,
    scale: int = 10,
    **header: Any,
) -> Findings:
    """What is found in a drawing with the names above; a column is 10 µs."""
    return looked_at(draw(drawing, NAMES, args, scale, **header))


def facts_of(drawing: str, scale: int = 10) -> tuple[Trace, Facts]:
    """A drawing with the names above, and its facts."""
    trace = draw(drawing, NAMES, scale=scale)
    return trace, derive(trace)


def rules(found: Findings) -> dict[str, float | None]:
    """Rule → share of the step, rounded to per cent; None where no time is claimed."""
    return {
        item["rule"]: None if item.get("share") is None else round(item["share"], 2)
        for item in found["found"]
    }


def item(found: Findings, rule: str) -> dict[str, Any]:
    """The finding of a rule."""
    [one] = [entry for entry in found["found"] if entry["rule"] == rule]
    return dict(one)


def span(category: str, name: str, begin: float, length: float, tid: int = 1, **args: Any) -> Event:
    """One entry; times in µs. Device work has the stream as ``tid``."""
    device = category in ("kernel", "gpu_memcpy", "gpu_memset")
    more = {"device": 0, "stream": tid} if device else {}
    return loop.span(category, name, 0 if device else 100, tid, begin, length, **(more | args))


def steps(*bounds: tuple[float, float]) -> list[Event]:
    """``ProfilerStep``s."""
    return [
        span("user_annotation", f"ProfilerStep#{i + 1}", begin, end - begin)
        for i, (begin, end) in enumerate(bounds)
    ]


def launched(
    name: str,
    number: int,
    called: float,
    begin: float,
    length: float,
    stream: int = 7,
    category: str = "kernel",
    **args: Any,
) -> list[Event]:
    """A launch of 2 µs and its device work."""
    call = "cudaMemcpyAsync" if category == "gpu_memcpy" else "cudaLaunchKernel"
    return [
        span("cuda_runtime", call, called, 2, correlation=number),
        span(category, name, begin, length, stream, correlation=number, **args),
    ]


def made(entries: list[Event], **header: Any) -> Findings:
    """What is found in a list of entries."""
    return looked_at(trace_of(entries, **header))


def entries_of(
    drawing: str, args: Mapping[str, Mapping[str, Any]] | None = None, scale: int = 10
) -> list[Event]:
    """The entries of a drawing with the names above."""
    return events(drawing, NAMES, args, scale)
