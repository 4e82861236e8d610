"""Values that no profiler writes where it writes another one."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

BARE = "@bare:"
"""A text that begins so is written without its quotes: what no Python value becomes."""
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.0, -0.0, 1.5, 1e308, -1e308, 5e-324),
    *(1 << 31, -(1 << 31) - 1, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, 1 << 64, -(1 << 64)),
    *(10**40, -(10**40), 10**400),
    *("", " ", "0", "-1", "7", "0x1f", "1.5", "1e5", "1e400", "nan", "inf", "²", "٣", "1_0"),
    *("9" * 30, "9" * 400, "9" * 5000, "N/A", "None", "null", "true"),
    *("é", "\u202e", "\ufeff", "😀", "\ud800", "\x00", "\x1f", "a\nb", '"', "\\", "\\u12", "<b>"),
    *("x" * 3000, "ProfilerStep#1", "ProfilerStep#-1", "nn.Module: Linear_0", "aten::mm"),
    *([], {}, [[]], [[1, 2], [3]], [None] * 3, [1 << 70], {"a": 1}, {"": []}, ["x"] * 40),
    *(BARE + bare for bare in ("NaN", "-Infinity", "Infinity", "1e400", "-1e400", "N/A", "inf")),
    *(BARE + bare for bare in ("01", "1.", ".5", "+1", "0x10", "1e", "undefined", "'x'", "1.0e0")),
    *(BARE + "[" * depth + "]" * depth for depth in (47, 60, 600)),
    *(BARE + '{"a":' * depth + "1" + "}" * depth for depth in (49, 1100)),
)


def strange_value(random: Random) -> Any:
    """Any of them, or a number as it may come."""
    if random.random() < 0.25:
        number = random.choice((1, -1)) * random.getrandbits(random.choice((3, 8, 31, 62, 70)))
        return random.choice((number, number / 8, str(number)))
    return copy.deepcopy(random.choice(_VALUES))
