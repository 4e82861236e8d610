"""What a table of hardware knowledge can answer."""

from __future__ import annotations

from enum import IntEnum


class Knowledge(IntEnum):
    """An answer that may be missing; stored as uint8, so that a maximum over rows is *not* its join
    (see ``analysis``).
    """

    NO = 0
    YES = 1
    UNKNOWN = 2
