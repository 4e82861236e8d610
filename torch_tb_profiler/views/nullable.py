"""numpy columns → lists of the wire: NaN and −1 become ``null``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.store.strings import StringTable

OTHER = "other"
"""Name of the row in which those beyond a table's limit stand together."""
UNKNOWN = 2
"""``Knowledge.UNKNOWN`` on the wire."""


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


def optional_texts(strings: StringTable, numbers: NDArray[np.integer[Any]]) -> list[str | None]:
    """Texts of numbers of strings, each read once; −1 is unknown."""
    used, row = np.unique(numbers, return_inverse=True)
    texts: list[str | None] = [strings[number] if number >= 0 else None for number in used.tolist()]
    return [texts[i] for i in row.tolist()]
