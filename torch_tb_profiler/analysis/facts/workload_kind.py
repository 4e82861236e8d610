"""What kind of work a trace recorded, and how that is known.

The first rule that holds decides:

===============  =======================================================================================
capture          most kernel launches lie between ``StreamBeginCapture`` and ``StreamEndCapture`` of
                 their thread: they went into a graph and ran nothing
training         a backward function or an optimizer step; without host operators, kernels of a backward
serving          annotations, operators or Python frames of vLLM, SGLang, TensorRT-LLM or TGI
single kernel    every computing kernel has one name
microbenchmark   at most ``FEW_KERNELS`` names of computing kernels, most of them launched by operators,
                 at most ``FEW_OPERATORS`` names of operators, and no module
inference        modules, or more names of operators than that
unknown          none of them
===============  =======================================================================================
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.names import distinct, distinct_names, named
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.summary import Workload, WorkloadKind
from torch_tb_profiler.units import format_count

FEW_KERNELS = 8
FEW_OPERATORS = 20
_LONGEST = 80
"""Characters of a name that the evidence quotes."""
_LAUNCH = re.compile(r"(?:cuda|cu|hip)(?!Graph)\w*Launch(?!HostFunc)\w*")
_BEGIN, _END = "StreamBeginCapture", "StreamEndCapture"
_OPTIMIZER = re.compile(r"Optimizer\.(?:step|zero_grad)#")
_BACKWARD = re.compile(r"autograd::engine::evaluate_function: |(?:\w+::)*\w+Backward\d*$")
_BACKWARD_KERNEL = re.compile(r"backward|_bwd|bwd_|wgrad|dgrad", re.I)
_SERVERS = (
    # execute_32_context_0(sq0…)_generation_32(sq32…), execute_context_1(888)_generation_0(0)
    ("vLLM or SGLang", re.compile(r"execute_(?:\d+_)?(?:context|new)_\d+"), ()),
    (
        "SGLang",
        re.compile(r"step\[[A-Z_]+ |sglang(?:_profiler)?::|sgl_kernel::"),
        ("sglang/srt/",),
    ),
    ("vLLM", re.compile(r"vllm::"), ("vllm/v1/", "vllm/worker/", "vllm/engine/")),
    (
        "TensorRT-LLM",
        re.compile(r"trtllm::|tensorrt_llm::|\[Executor\] _forward_step"),
        ("tensorrt_llm/",),
    ),
    ("TGI", None, ("text_generation_server/",)),
)
"""Server, its annotations and operators, and folders of its Python frames."""
_MODULE = "nn.Module: "


def find_workload(trace: Trace, caused: Causes, communication: Mask) -> Workload:
    """The kind of work of a trace.

    ``communication``: whether each device event is a communication kernel, bool of shape (device
        events,).
    """
    return next(
        (
            found
            for found in (
                _capture(trace),
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
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def is_training(trace: Trace) -> bool:
    """Whether the trace has a backward pass or an optimizer."""
    return _training(trace) is not None


def _capture(trace: Trace) -> Workload | None:
    calls = np.flatnonzero(trace["spans"]["role"] == Role.RUNTIME)
    begin = calls[named(trace, calls, lambda name: _BEGIN in name)]
    if not len(begin):
        return None
    end = calls[named(trace, calls, lambda name: _END in name)]
    launch = calls[named(trace, calls, _LAUNCH.match)]
    captured = int(_within(trace, launch, begin, end).sum())
    if 2 * captured <= len(launch):
        return None
    return Workload(
        WorkloadKind.CAPTURE,
        f"{format_count(captured)} of {format_count(len(launch))} kernel launches went into a graph"
        " (between StreamBeginCapture and StreamEndCapture) and ran nothing.",
    )


def _within(trace: Trace, launch: Ints, begin: Ints, end: Ints) -> Mask:
    """Which launches have more begins than ends of captures before them on their thread."""
    spans = trace["spans"]
    row = np.concatenate((launch, begin, end))
    change = np.repeat([0, 1, -1], [len(launch), len(begin), len(end)])
    # Rows of spans are in time order.
    order = np.lexsort((row, spans["track"][row]))
    track = spans["track"][row[order]]
    _, first, group = np.unique(track, return_index=True, return_inverse=True)
    opened = np.cumsum(change[order])
    before = np.concatenate(([0], opened))[first][group]
    inside = np.zeros(len(row), np.bool_)
    inside[order] = opened > before
    return inside[: len(launch)]


def _training(trace: Trace) -> Workload | None:
    host = list(distinct_names(trace, Role.OPERATOR, Role.ANNOTATION))
    for what, pattern in (("an optimizer", _OPTIMIZER), ("a backward pass", _BACKWARD)):
        name = next(filter(pattern.match, host), None)
        if name is not None:
            return Workload(WorkloadKind.TRAINING, f"It has {what}: {_quoted(name)}.")
    if any(distinct_names(trace, Role.OPERATOR)):
        return None
    kernel = next(filter(_BACKWARD_KERNEL.search, distinct_names(trace, Role.KERNEL)), None)
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


def _few_kernels(trace: Trace, caused: Causes, communication: Mask) -> Workload | None:
    computing = (trace["spans"]["role"][caused.row] == Role.KERNEL) & ~communication
    name = trace["spans"]["name"][caused.row[computing]]
    kinds = distinct(name, trace.strings)
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
