"""Categories of memory blocks as ``export_memory_timeline`` writes them.

Source: ``_CATEGORY_TO_INDEX`` of ``torch/profiler/_memory_profiler.py`` (2.13), which has the order
of its colours, not of the enum's values.
"""

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
"""One name per number of a file; PyTorch's 7, "unknown", is −1 here."""
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
    ("kept", "past the next such phase"),
    ("temporary", "within a phase"),
)
"""The rules by which the category of a block follows from its life (``definitions.md``), in the order
in which they are tried: the category, and what the rule is called.
"""
