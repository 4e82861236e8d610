"""Names of categories: of memory blocks, of the time of a step, and of flows between events."""

from __future__ import annotations

RECORDED_CATEGORIES = (
    "parameter",
    "optimizer_state",
    "input",
    "temporary",
    "activation",
    "gradient",
    "autograd_detail",
)
"""Of memory blocks as ``export_memory_timeline`` writes them, one name per number of a file; PyTorch's 7, "unknown", is
−1 here. Source: ``_CATEGORY_TO_INDEX`` of ``torch/profiler/_memory_profiler.py`` (2.13), which has the order of its
colours, not of the enum's values.
"""
BLOCK_CATEGORIES = (*RECORDED_CATEGORIES, "kept")
"""One name per number of a block. What is kept, its life alone tells."""
CATEGORY_RULES = (
    ("parameter", "built by a module"),
    ("optimizer_state", "kept by the optimizer"),
    ("gradient", "held for the optimizer"),
    ("input", "loaded"),
    ("input", "ahead of the modules"),
    ("activation", "released in backward"),
    ("activation", "held through backward"),
    ("kept", "to the end of its phase"),
    ("kept", "past its step"),
    ("temporary", "within a phase"),
)
"""The rules by which the category of a block follows from its life (``definitions.md``), in the order
in which they are tried: the category, and what the rule is called.
"""

CATEGORIES = (
    "kernel",
    "memcpy",
    "memset",
    "communication",
    "runtime",
    "dataloader",
    "cpu_exec",
    "other",
)
"""Into which the wall time of a step is split, in order of priority: time that fits several belongs to the first."""

# Categories of flows with a meaning of their own; others are shown as written.
FORWARD_BACKWARD = ("fwdbwd", "forward_backward")
"""From an operator to its backward, as several versions of PyTorch call it."""

GRAPH_CAPTURE = "graph_capture"
"""From the capture of a graph node to the work of its replays."""

OPERATOR_TO_WORK = "async_npu"
"""From an operator to the work that it had done (torch_npu)."""

AROUND_LAUNCH = "HostToDevice"
"""From a point within a call of the runtime, which need not be recorded itself, to the work (CANN)."""

ENQUEUED, DEQUEUED = "enqueue", "dequeue"
"""Categories of the spans in which torch_npu hands a call to another thread, and in which that thread
makes it.
"""
