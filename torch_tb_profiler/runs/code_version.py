"""Which program made what is kept of a trace: its version, and a digest of the files that decide what is made."""

from __future__ import annotations

import hashlib
import os
from functools import cache

from torch_tb_profiler._version import __version__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OTHERS = {"api", "cli", "compat", "integrations", "live", "skill", "sql", "static", "tables", "views", "web"}  # fmt: skip
"""Rooms that make nothing that is kept."""


@cache
def program_version() -> str:
    """Tells apart programs that may make something else of the same trace: ``1.0.0-0123456789abcdef``."""
    digest = hashlib.sha256()
    for folder, below, names in os.walk(_PACKAGE):
        below[:] = sorted(set(below) - _OTHERS)
        for name in sorted(names):
            if name.endswith((".py", ".txt", ".c")):
                with open(os.path.join(folder, name), "rb") as file:
                    digest.update(
                        f"{os.path.relpath(folder, _PACKAGE)}/{name}\0".encode() + file.read()
                    )
    return f"{__version__}-{digest.hexdigest()[:16]}"
