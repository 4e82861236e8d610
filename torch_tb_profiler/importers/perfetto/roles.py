"""Kineto's category of an event that PyTorch wrote without one, from its arguments.

The first versions with ``.pftrace`` wrote no categories, later ones none for synchronization and overhead.
"""

from __future__ import annotations

import re

_COLLECTIVE = re.compile(r"\w+:\w")
"""``nccl:all_reduce``: an annotation with shapes."""
_DRIVER = re.compile(r"(?:cu|hip)[A-Z]")
_COPY = re.compile(r"mem(cpy|set)", re.IGNORECASE)


def category_of(name: str, fields: bytes, is_overhead: bool) -> str:
    """Kineto's category; ``""`` where nothing tells. ``fields``: the event's arguments as JSON."""
    if is_overhead:
        return "overhead"
    if not fields:
        return ""
    if b'"cuda_sync_kind":' in fields:
        return "cuda_sync"
    if b'"cbid":' in fields:
        return "cuda_driver" if _DRIVER.match(name) else "cuda_runtime"
    if b'"Python id":' in fields:
        return "python_function"
    if b'"External id":' in fields and b'"Ev Idx":' in fields:
        return _host_category(name, fields)
    if b'"device":' in fields and b'"stream":' in fields and b'"correlation":' in fields:
        copy = _COPY.match(name)
        if copy:
            return f"gpu_mem{copy[1].lower()}"
        return "kernel" if b'"grid":' in fields else ""
    return ""


def _host_category(name: str, fields: bytes) -> str:
    if "::" in name or b'"Sequence number":' in fields:
        return "cpu_op"
    shaped = b'"Input Dims":' in fields or b'"Input type":' in fields
    return "cpu_op" if shaped and not _COLLECTIVE.match(name) else "user_annotation"
