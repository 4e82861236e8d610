"""The role of an event, decided by its category.

``roles.txt`` is the vocabulary (lower case); the setting ``categories`` overrides it, for
accelerators that are not listed. ``*_runtime`` and ``*_driver`` are recognised by their suffix.
Events without a category are placed by their process (``store/process_roles.py``), which the setting
may name as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.errors import BadRequest


class Role(IntEnum):
    """Roles of spans; stored as uint8 in ``spans.role``."""

    OTHER = 0
    OPERATOR = 1
    """A host operator: ``cpu_op``, ``Operator``."""
    RUNTIME = 2
    """A host call into the accelerator's runtime or driver."""
    KERNEL = 3
    MEMCPY = 4
    MEMSET = 5
    ANNOTATION = 6
    """A host ``record_function`` region, ``ProfilerStep#N`` included."""
    DEVICE_ANNOTATION = 7
    """The shadow of an annotation on a device stream; never a step, never host time."""
    PYTHON = 8
    """A Python frame (``python_function``)."""
    SYNC = 9
    """A device-side synchronization record (``cuda_sync``)."""
    OVERHEAD = 10
    """Time spent by the profiler itself."""
    COUNTER_RANGE = 11
    """A range with hardware counters (CUPTI's range profiler, Intel's scopes)."""
    PROFILER = 12
    """The profiler's own span (category ``Trace``)."""


DEVICE_ROLES = (Role.KERNEL, Role.MEMCPY, Role.MEMSET)
"""Roles of device work."""

STEP_MARK = "#step="
"""What stands in the name of an annotation that another writer counts as a step, before its number: ``decode#step=3``."""

ROLE_OF_CATEGORY: dict[str, Role] = {
    category: Role[role]
    for row in rows_beside(__file__)
    for role, lines in row.items()
    for category in lines[0].split()
}


ROLE_OF_NAME: dict[tuple[str, str], Role] = {
    ("mtia_ccp_events", "event_wait"): Role.SYNC,
    ("mtia_ccp_events", "event_record"): Role.SYNC,
    ("mtia_ccp_events", "dma_request"): Role.MEMCPY,
}
"""(lower-case category, name) → role, where one category mixes work and waiting; wins over its
role.
"""


def role_of(category: str, own: Mapping[str, Role] | None = None) -> Role | None:
    """The role of a category in any case, None if unknown; ``own`` overrides our table."""
    key = category.lower()
    role = (own or {}).get(setting_name(category), ROLE_OF_CATEGORY.get(key))
    if role is None and key.endswith(("_runtime", "_driver")):
        return Role.RUNTIME
    return role


def setting_name(text: str) -> str:
    """How the setting calls a category or a process: in any case, with blanks for commas."""
    return " ".join(text.lower().replace(",", " ").split())


def own_roles(text: str) -> dict[str, Role]:
    """Parse the setting ``categories``, e.g. ``npu_kernel=kernel, My NPU=kernel``: roles of categories
    and, for events without one, of processes by their names.

    Raises:
        BadRequest: an entry has no ``=`` or names an unknown role.
    """
    roles = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        # The name of a process may hold any character.
        category, mark, role = (piece.strip() for piece in entry.rpartition("="))
        if not mark or not category or role.upper() not in Role.__members__:
            known = ", ".join(name.lower() for name in Role.__members__)
            raise BadRequest(
                f"The setting categories holds {entry!r}, expected category=role with a role of:"
                f" {known}.",
                "Correct it or unset it.",
            )
        roles[setting_name(category)] = Role[role.upper()]
    return roles
