"""The peaks of a device, from the device table or, first, from a file of the user's.

The file is JSON: patterns of device names (``*`` matches anything) → what overrides the table::

    {"NVIDIA H100*": {"bandwidth_gbps": 3100, "peaks": {"matrix_bf16": 780, "vector_fp32": 60},
    "source": "measured with nvbandwidth and mamf-finder"}}

``bandwidth_gbps``: 1e9 bytes/s; ``peaks``: 1e12 FLOP/s.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from torch_tb_profiler import untrusted
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.hardware.accelerators import PRECISIONS, find

_SHAPE = (
    'Expected is {"name pattern": {"bandwidth_gbps": 3350, "peaks": {"matrix_bf16": 989.4},'
    ' "source": "..."}}.'
)
_KEYS = tuple(f"{unit}_{precision}" for unit in ("matrix", "vector") for precision in PRECISIONS)
_LARGEST = 1e9
_MOST_BYTES = 4 << 20
"""TFLOP/s or GB/s; no device reaches it."""

USUAL = 0.7
"""Where nothing better is known."""

_OF_FAMILY = {
    # FlashAttention-2 reaches 50 to 73 % of an A100's peak, forward and backward (arXiv 2307.08691,
    # figures 4 and 5); FlashAttention-3 up to 75 % of an H100's (arXiv 2407.08608).
    "attention": 0.6,
}


class Peaks(msgspec.Struct, frozen=True):
    """The peaks of one device.

    Attributes:
        entry: the entry of the device table or of the user's file; None if both lack the device.
        bandwidth: bytes/s; None unknown. bandwidth_source: its source.
        rates: (unit, precision) → (FLOP/s, source).
    """

    entry: str | None
    bandwidth: float | None
    bandwidth_source: str
    rates: dict[tuple[str, str], tuple[float, str]]

    def rate(self, unit: str, precision: str) -> float | None:
        """FLOP/s; None unknown."""
        rate = self.rates.get((unit, precision))
        return None if rate is None else rate[0]


def peaks_of(name: str, vendor: str, units: int, memory: int, file: str = "") -> Peaks:
    """The peaks of a device by name (``""`` unknown), vendor, units and bytes of memory (−1 unknown).

    ``file``: path of the user's figures; empty: none.

    Raises:
        SourceError: the file cannot be read or is invalid.
    """
    known = find(name, vendor, units, memory)
    rates: dict[tuple[str, str], tuple[float, str]] = {}
    entry, bandwidth, source = None, None, ""
    if known is not None:
        entry, bandwidth, source = known.name, known.bandwidth * 1e9, known.source
        rates = {
            (unit, p): (rate * 1e12, source)
            for unit, rates_by_precision in (("matrix", known.matrix), ("vector", known.vector))
            for p, rate in rates_by_precision.items()
        }
    for pattern, figures in (read_file(file, changed(file)) if file else {}).items():
        if fnmatchcase(name.lower(), pattern.lower()):
            figures_source = figures.get("source") or f"{Path(file).name}, {pattern}"
            entry = (
                f"{pattern} ({Path(file).name})"
                if entry is None
                else f"{entry}, changed by {Path(file).name}"
            )
            if "bandwidth_gbps" in figures:
                bandwidth, source = figures["bandwidth_gbps"] * 1e9, figures_source
            rates |= {
                (key[:6], key[7:]): (rate * 1e12, figures_source)
                for key, rate in figures.get("peaks", {}).items()
            }
            break
    return Peaks(entry, bandwidth, source, rates)


def changed(file: str) -> int:
    """Time of the last change of the user's file, Unix ns; 0 without a file.

    Raises:
        SourceError: it cannot be read.
    """
    if not file:
        return 0
    try:
        return Path(file).expanduser().stat().st_mtime_ns
    except OSError as error:
        raise SourceError(
            f"The file of peaks {Path(file).name} cannot be read: {error.strerror}.",
            "Correct TORCH_TB_PROFILER_PEAKS.",
        ) from None


def usable(file: str) -> str:
    """The file, or ``""`` if it cannot be used, to fall back on the device table."""
    try:
        return file if file and read_file(file, changed(file)) else ""
    except SourceError:
        return ""


def version(file: str) -> str:
    """Distinguishes the contents of files of peaks; empty without a usable file."""
    return repr(read_file(file, changed(file))) if usable(file) else ""


@lru_cache(maxsize=8)
def read_file(file: str, changed: int) -> dict[str, dict[str, Any]]:
    """The user's figures by pattern; ``changed`` invalidates the cache.

    Raises:
        SourceError: it cannot be read, is not JSON, or has the wrong structure.
    """
    named = Path(file).name
    try:
        content = untrusted.decoded(untrusted.read_file(Path(file).expanduser(), _MOST_BYTES))
    except OSError as error:
        why = untrusted.said(error.strerror)
        raise SourceError(f"The file of peaks {named} cannot be read: {why}.", _SHAPE) from None
    except ValueError as error:
        raise SourceError(f"The file of peaks {named} is not JSON: {error}.", _SHAPE) from None
    if not isinstance(content, dict):
        raise SourceError(f"The file of peaks {named} is not a JSON object.", _SHAPE)
    for pattern, figures in content.items():
        wrong = _wrong(figures)
        if wrong:
            raise SourceError(f"The file of peaks {named} says of {pattern!r} {wrong}.", _SHAPE)
    return content


def _wrong(figures: Any) -> str:
    """What is wrong with an entry; empty if nothing is."""
    if not isinstance(figures, dict):
        return "no object"
    unknown = sorted(set(figures) - {"bandwidth_gbps", "peaks", "source"})
    if unknown:
        return f"{unknown[0]!r}, which is none of bandwidth_gbps, peaks and source"
    peaks = figures.get("peaks", {})
    if not isinstance(peaks, dict):
        return "peaks that are no object"
    for key in peaks:
        if key not in _KEYS:
            return f"{key!r}, expected one of {', '.join(_KEYS)}"
    for key, value in (
        *peaks.items(),
        *((k, figures[k]) for k in ("bandwidth_gbps",) if k in figures),
    ):
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not 0 < value < _LARGEST
        ):
            return f"{key} {value!r}, expected a number above 0"
    return "" if isinstance(figures.get("source", ""), str) else "a source that is no text"


def achievable_share(family: str) -> float:
    """The share of what the peaks of computing and memory allow."""
    return _OF_FAMILY.get(family, USUAL)
