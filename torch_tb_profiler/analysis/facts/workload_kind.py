"""What kind of work a trace recorded, and how that is known.

The first rule that holds decides:

===============  =======================================================================================
capture          most kernel launches lie between ``StreamBeginCapture`` and ``StreamEndCapture``: they
                 went into a graph and ran nothing
training         a backward function or an optimizer step; without host operators, kernels of a backward
serving          annotations, operators or Python frames of vLLM, SGLang, TensorRT-LLM or TGI
single kernel    every computing kernel has one name, and copies take no more time than they
microbenchmark   at most ``FEW_KERNELS`` names of computing kernels, most of them launched by operators,
                 at most ``FEW_OPERATORS`` names of operators, and no module; copies as above
inference        modules, or more names of operators than that
unknown          none of them
===============  =======================================================================================

The program that it was recorded in is found likewise; who reads how to record something reads it for that program:

============  =================================================================================
torch_npu     the profiler of torch_npu, whatever the program
other         another profiler (``store/process_roles.py``), or a file in which nothing is named as
              PyTorch names it
sglang, vllm  a server, with names of it
server        another server, or one that does not say which
lightning     annotations or Python frames of Lightning's trainer
transformers  Python frames of the trainer of Hugging Face
loop          ``ProfilerStep``, a step of an optimizer, or a backward pass
script        none of them: a script or a notebook
============  =================================================================================
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.facts.host_names import distinct, distinct_names, named
from torch_tb_profiler.analysis.facts.launches import KERNEL_LAUNCH, capturing
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.process_roles import PROFILERS, TORCH_NPU
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role, role_of
from torch_tb_profiler.store.summary import Workload, WorkloadKind, Writer
from torch_tb_profiler.units import fit_text, format_count

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses

FEW_KERNELS = 8
FEW_OPERATORS = 20
_LONGEST = 80
"""Characters of a name that the evidence quotes."""
_OPTIMIZER = regex(r"Optimizer\.(?:step|zero_grad)#")
BACKWARD = regex(r"autograd::engine::evaluate_function: |(?:\w+::)*\w+Backward\d*$")
BACKWARD_KERNEL = regex(r"backward|_bwd|bwd_|wgrad|dgrad", re.I)
_SERVERS = (
    # execute_32_context_0(sq0…)_generation_32(sq32…), execute_context_1(888)_generation_0(0)
    ("vLLM or SGLang", regex(r"execute_(?:\d+_)?(?:context|new)_\d+"), ()),
    (
        "SGLang",
        regex(r"step\[[A-Z_]+ |sglang(?:_profiler)?::|sgl_kernel::"),
        ("sglang/srt/",),
    ),
    ("vLLM", regex(r"vllm::"), ("vllm/v1/", "vllm/worker/", "vllm/engine/")),
    (
        "TensorRT-LLM",
        regex(r"trtllm::|tensorrt_llm::|\[Executor\] _forward_step"),
        ("tensorrt_llm/",),
    ),
    ("TGI", None, ("text_generation_server/",)),
)
"""Server, its annotations and operators, and folders of its Python frames."""
_MODULE = "nn.Module: "

# SGLang uses parts of vLLM, not the other way round.
_OF_SERVERS = (
    (Writer.SGLANG, regex(r"sglang|sgl_kernel|step\[[A-Z_]+ ")),
    (Writer.VLLM, regex(r"vllm")),
)

_OF_TRAINERS = (
    (Writer.LIGHTNING, regex(r"\[pl\]|\[Strategy\]|(?:pytorch_lightning|lightning/pytorch)/")),
    (Writer.TRANSFORMERS, regex(r"transformers/trainer\.py")),
    (Writer.LOOP, regex(r"ProfilerStep|Optimizer\.step#")),
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


def find_workload(trace: Trace, caused: DeviceCauses, communication: Mask) -> Workload:
    """The kind of work of a trace.

    ``communication``: whether each device event is a communication kernel, bool of shape (device
        events,).
    """
    return next(
        (
            found
            for found in (
                _capture(trace, caused),
                _training(trace),
                _serving(trace),
                _few_kernels(trace, caused, communication),
                _inference(trace),
            )
            if found
        ),
        Workload(WorkloadKind.UNKNOWN, "Nothing in the trace says what kind of work it is."),
    )


def _quoted(name: str) -> str:
    return fit_text(name, _LONGEST)


def is_training(trace: Trace) -> bool:
    """Whether the trace has a backward pass or an optimizer."""
    return _training(trace) is not None


def _capture(trace: Trace, caused: DeviceCauses) -> Workload | None:
    calls = np.flatnonzero(trace["spans"]["role"] == Role.RUNTIME)
    launches = named(trace, calls, KERNEL_LAUNCH.match)
    # Another thread may launch meanwhile what does run.
    ran = mask_of(trace["spans"].n + 1, caused.launch)[calls]
    captured = int((launches & capturing(trace, calls) & ~ran).sum())
    if 2 * captured <= launches.sum():
        return None
    return Workload(
        WorkloadKind.CAPTURE,
        f"{format_count(captured)} of {format_count(int(launches.sum()))} kernel launches went into a graph"
        " (between StreamBeginCapture and StreamEndCapture) and ran nothing.",
    )


def _training(trace: Trace) -> Workload | None:
    host = list(distinct_names(trace, Role.OPERATOR, Role.ANNOTATION))
    for what, pattern in (("an optimizer", _OPTIMIZER), ("a backward pass", BACKWARD)):
        name = next(filter(pattern.match, host), None)
        if name is not None:
            return Workload(WorkloadKind.TRAINING, f"It has {what}: {_quoted(name)}.")
    if any(distinct_names(trace, Role.OPERATOR)):
        return None
    kernel = next(filter(BACKWARD_KERNEL.search, distinct_names(trace, Role.KERNEL)), None)
    if kernel is None:
        return None
    return Workload(WorkloadKind.TRAINING, f"It has kernels of a backward pass: {_quoted(kernel)}.")


def _serving(trace: Trace) -> Workload | None:
    host = list(distinct_names(trace, Role.ANNOTATION, Role.OPERATOR))
    frames = list(distinct_names(trace, Role.PYTHON))
    for server, pattern, folders in _SERVERS:
        name = next(filter(pattern.match, host), None) if pattern else None
        for folder in folders:
            name = name or next((frame for frame in frames if folder in frame), None)
        if name is not None:
            return Workload(WorkloadKind.SERVING, f"It has names of {server}: {_quoted(name)}.")
    return None


def _few_kernels(trace: Trace, caused: DeviceCauses, communication: Mask) -> Workload | None:
    computing = (trace["spans"]["role"][caused.row] == Role.KERNEL) & ~communication
    spans, row = trace["spans"], caused.row
    name = spans["name"][row[computing]]
    kinds = distinct(name, trace.strings)
    copies = row[spans["role"][row] == Role.MEMCPY]
    # Where copies take most of the time it is not kernels that are looked at.
    if spans["dur"][copies].sum() > spans["dur"][row[computing]].sum():
        return None
    if not kinds or len(kinds) > FEW_KERNELS:
        return None
    if len(kinds) == 1:
        return Workload(
            WorkloadKind.SINGLE_KERNEL,
            f"All {format_count(len(name))} kernels are {_quoted(trace.strings[kinds[0]])}."
            if len(name) > 1
            else f"The only kernel is {_quoted(trace.strings[kinds[0]])}.",
        )
    operators = len(list(distinct_names(trace, Role.OPERATOR)))
    launched = 2 * int((caused.operator[computing] >= 0).sum()) > len(name)
    if not launched or operators > FEW_OPERATORS or _modules(trace):
        return None
    return Workload(
        WorkloadKind.MICROBENCHMARK,
        f"It has {len(kinds)} kinds of kernel, {operators} kinds of operator and no module.",
    )


def _modules(trace: Trace) -> bool:
    named_by_operators = bool((trace["operator_args"]["hierarchy"] >= 0).any())
    return named_by_operators or any(
        name.startswith(_MODULE) for name in distinct_names(trace, Role.PYTHON)
    )


def _inference(trace: Trace) -> Workload | None:
    operators = len(list(distinct_names(trace, Role.OPERATOR)))
    if not operators or not (operators > FEW_OPERATORS or _modules(trace)):
        return None
    return Workload(
        WorkloadKind.INFERENCE,
        f"It has {operators} kinds of operator and neither a backward pass nor an optimizer.",
    )


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
