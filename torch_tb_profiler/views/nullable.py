"""numpy columns → lists of the wire: NaN and −1 become ``null``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

OTHER = "other"
"""Name of the row in which those beyond a table's limit stand together."""


def optional_floats(values: NDArray[np.floating[Any]]) -> list[float | None]:
    """NaN and infinities are unknown."""
    finite = np.isfinite(values)
    if finite.all():
        return list(values.tolist())
    return [v if ok else None for v, ok in zip(values.tolist(), finite.tolist(), strict=True)]


def optional_integers(values: NDArray[np.integer[Any]]) -> list[int | None]:
    """−1 is unknown."""
    return [v if v >= 0 else None for v in values.tolist()]


def rounded(values: NDArray[np.floating[Any]]) -> list[int]:
    """Nearest integers; every value must be finite."""
    return [int(v) for v in np.rint(values).astype(np.int64)]
