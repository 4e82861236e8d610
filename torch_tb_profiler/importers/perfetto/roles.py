"""Kineto's category of an event that PyTorch wrote without one, from its arguments.

The first versions with ``.pftrace`` wrote no categories, later ones none for synchronization and overhead.
"""

from __future__ import annotations

import re

_COLLECTIVE = re.compile(r"\w+:\w")
"""``nccl:all_reduce``: an annotation with shapes."""
_DRIVER = re.compile(r"(?:cu|hip)[A-Z]")
_COPY = re.compile(r"mem(cpy|set)", re.IGNORECASE)


def category_of(name: str, fields: str, is_overhead: bool) -> str:
    """Kineto's category; ``""`` where nothing tells. ``fields``: the event's arguments as JSON."""
    if is_overhead:
        return "overhead"
    if not fields:
        return ""
    if '"cuda_sync_kind":' in fields:
        return "cuda_sync"
    if '"cbid":' in fields:
        return "cuda_driver" if _DRIVER.match(name) else "cuda_runtime"
    if '"Python id":' in fields:
        return "python_function"
    if '"External id":' in fields and '"Ev Idx":' in fields:
        return _host_category(name, fields)
    if '"device":' in fields and '"stream":' in fields and '"correlation":' in fields:
        copy = _COPY.match(name)
        if copy:
            return f"gpu_mem{copy[1].lower()}"
        return "kernel" if '"grid":' in fields else ""
    return ""


def _host_category(name: str, fields: str) -> str:
    if "::" in name or '"Sequence number":' in fields:
        return "cpu_op"
    shaped = '"Input Dims":' in fields or '"Input type":' in fields
    return "cpu_op" if shaped and not _COLLECTIVE.match(name) else "user_annotation"
