"""Names of the functions that inductor fuses: aten, prims and higher-order operators (``aten_names.txt``).

From the dispatcher of PyTorch 2.13 (``torch._C._dispatch_get_all_op_names()``), without functions in
place and those of other back ends; ``tests/live/test_compiled.py`` compares.
"""

from __future__ import annotations

from pathlib import Path

ATEN_NAMES = frozenset(Path(__file__).with_suffix(".txt").read_text("ascii").split())
