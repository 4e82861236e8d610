"""What blocks of memory are for, as ``export_memory_timeline`` writes it; the column ``category``
holds positions in ``BLOCK_CATEGORIES``.

Source: ``_CATEGORY_TO_INDEX`` of ``torch/profiler/_memory_profiler.py`` (2.13): the order of the
    colours there, not that of the enum's values.
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
"""One name per number; PyTorch's next number, 7, says that it does not know, which is −1 here."""
