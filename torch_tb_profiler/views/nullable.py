"""numpy floats → a list of the wire: NaN becomes ``null``."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray


def optional_floats(values: NDArray[np.floating[Any]]) -> list[float | None]:
    """NaN and infinities are unknown."""
    return [value if isfinite(value) else None for value in values.tolist()]
