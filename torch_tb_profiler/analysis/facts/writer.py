"""What kind of program a trace was recorded in, by what stands in the trace: who reads how to record
something should read it for that program.

The first rule that holds decides:

============  =================================================================================
torch_npu     the profiler of torch_npu, whatever the program
other         another profiler (``store/process_roles.py``), or a file in which nothing is named as
              PyTorch names it
sglang, vllm  a server (``workload_kind.py``) with names of it
server        another server, or one that does not say which
lightning     annotations or Python frames of Lightning's trainer
transformers  Python frames of the trainer of Hugging Face
loop          ``ProfilerStep``, a step of an optimizer, or a backward pass
script        none of them: a script or a notebook
============  =================================================================================
"""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.facts.names import distinct, distinct_names
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.process_roles import PROFILERS, TORCH_NPU
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role, role_of
from torch_tb_profiler.store.summary import Workload, WorkloadKind, Writer

# SGLang uses parts of vLLM, not the other way round.
_OF_SERVERS = (
    (Writer.SGLANG, re.compile(r"sglang|sgl_kernel|step\[[A-Z_]+ ")),
    (Writer.VLLM, re.compile(r"vllm")),
)
_OF_TRAINERS = (
    (Writer.LIGHTNING, re.compile(r"\[pl\]|\[Strategy\]|(?:pytorch_lightning|lightning/pytorch)/")),
    (Writer.TRANSFORMERS, re.compile(r"transformers/trainer\.py")),
    (Writer.LOOP, re.compile(r"ProfilerStep|Optimizer\.step#")),
)

_HEADER = frozenset(
    (
        "schemaVersion",
        "deviceProperties",
        "distributedInfo",
        "baseTimeNanoseconds",
        "traceName",
        "record_shapes",
        "profile_memory",
        "with_stack",
        "with_flops",
        "with_modules",
        "cupti_version",
        "cuda_runtime_version",
        "cuda_driver_version",
        "profiler",
        "sums",
    )
)
"""Keys of PyTorch's files, and of those that another importer reads."""


def find_writer(trace: Trace, workload: Workload) -> Writer:
    """The program that a trace was recorded in."""
    profiler = trace.header.get("profiler")
    if profiler == TORCH_NPU:
        return Writer.TORCH_NPU
    if any(known.name == profiler for known in PROFILERS) or _is_foreign(trace):
        return Writer.OTHER
    serving = workload.kind == WorkloadKind.SERVING
    roles = (Role.ANNOTATION, Role.OPERATOR, Role.PYTHON)
    names = list(distinct_names(trace, *roles))
    for writer, pattern in _OF_SERVERS if serving else _OF_TRAINERS:
        if any(map(pattern.search, names)):
            return writer
    if serving:
        return Writer.SERVER
    return Writer.LOOP if workload.kind == WorkloadKind.TRAINING else Writer.SCRIPT


def _is_foreign(trace: Trace) -> bool:
    """Whether nothing in a file of events is named as PyTorch names it; that kernels are called so
    (Triton's Proton) does not tell.
    """
    spans = trace["spans"]
    if not spans.n or not _HEADER.isdisjoint(trace.header):
        return False
    roles = {role_of(trace.strings[n]) for n in distinct(spans["category"], trace.strings)}
    return roles <= {None, Role.OTHER, *DEVICE_ROLES}
