"""numpy floats → a list of the wire: NaN becomes ``null``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def optional_floats(values: NDArray[np.floating[Any]]) -> list[float | None]:
    """NaN and infinities are unknown."""
    finite = np.isfinite(values)
    if finite.all():
        return list(values.tolist())
    return [v if ok else None for v, ok in zip(values.tolist(), finite.tolist(), strict=True)]
