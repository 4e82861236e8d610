"""Answers of hardware tables."""

from __future__ import annotations

from enum import IntEnum


class Knowledge(IntEnum):
    """An answer that may be unknown, stored as uint8; the maximum of rows is *not* their union."""

    NO = 0
    YES = 1
    UNKNOWN = 2
