"""Categories of memory blocks as ``export_memory_timeline`` writes them.

Source: ``_CATEGORY_TO_INDEX`` of ``torch/profiler/_memory_profiler.py`` (2.13), which has the order
of its colours, not of the enum's values.
"""

from __future__ import annotations

BLOCK_CATEGORIES = (
    "parameter",
    "optimizer_state",
    "input",
    "temporary",
    "activation",
    "gradient",
    "autograd_detail",
)
"""One name per number; PyTorch's 7, "unknown", is −1 here."""
CATEGORY_RULES = (
    ("parameter", "allocated while a module was built or moved, never released"),
    ("optimizer_state", "allocated by an optimizer's step, never released"),
    ("gradient", "allocated in the backward pass, held until the optimizer"),
    ("input", "loaded as data, held longer than that"),
    ("input", "allocated ahead of the first module, held into it"),
    ("activation", "allocated in the forward pass, released in the backward pass"),
    ("activation", "allocated in a module, held through the backward pass"),
    ("temporary", "allocated and released in the same phase of a step"),
)
"""The rules by which the category of a block follows from its life, in the order in which they are
tried: the category, and what the block did."""
