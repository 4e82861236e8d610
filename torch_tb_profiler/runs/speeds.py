"""What earlier imports took on this machine: a small file in the cache folder, from which the time of the next is expected."""

from __future__ import annotations

import json
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from torch_tb_profiler.untrusted import decoded, read_file

Kind = Literal["read", "arrange", "analyse", "lay_out", "events"]
"""Seconds to read a byte of text, to arrange, to analyse and to lay out an event; events of a byte of text."""

FIRST: Mapping[Kind, float] = {
    "read": 45e-9,
    "arrange": 4e-6,
    "analyse": 24e-6,
    "lay_out": 3e-6,
    "events": 1 / 380,
}
"""Amount per unit where nothing was imported yet: what ``h100_owlv2``, alone and twelve times in a row, takes on one core.
They only share out the bar.
"""
MOST = 24
"""Samples of a kind that are kept, the newest."""
NEAREST = 3
"""Samples of a like size that an expectation is from."""
LARGEST = 1e15
"""Of units and amounts."""
MOST_BYTES = 1 << 16
NAME = "speeds.json"


class Expected(NamedTuple):
    """An amount; ``known``: whether this machine has told it."""

    amount: float
    known: bool


class Speeds:
    """Thread-safe. ``folder`` is asked when the file is first needed; ``ignored``: what of the file could not be used."""

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._samples: dict[str, deque[tuple[float, float]]] | None = None
        self.ignored = 0

    @property
    def note(self) -> str:
        """That something of the file was not used, in words; else empty."""
        if not self.ignored:
            return ""
        entries = "1 entry" if self.ignored == 1 else f"{self.ignored} entries"
        return f"{NAME} of the cache folder holds {entries} that no import wrote: left out of the time that is left."

    def expect(self, kind: Kind, units: float) -> Expected:
        """What so many units take, by the samples of the most similar size, of equal ones the newest; finite and positive."""
        units = min(max(units, 1.0), LARGEST)
        with self._lock:
            samples = list(reversed(self._read()[kind]))
        if not samples:
            return Expected(units * FIRST[kind], False)
        samples.sort(key=lambda sample: abs(math.log(sample[0] / units)))
        rates = sorted(amount / of for of, amount in samples[:NEAREST])
        return Expected(units * rates[len(rates) // 2], True)

    def learn(self, kind: Kind, units: float, amount: float) -> None:
        """Keep what so many units took; what cannot be so is left out."""
        if not (_is_real(units) and _is_real(amount)):
            return
        with self._lock:
            self._read()[kind].append((float(units), float(amount)))
            text = json.dumps({key: list(kept) for key, kept in self._read().items()})
            # A folder that cannot be written has the next server learn anew.
            with suppress(OSError):
                path = self._folder() / NAME
                part = path.with_name(f"{NAME}.{os.getpid()}.part")
                part.write_text(text, encoding="ascii")
                part.replace(path)

    def _read(self) -> dict[str, deque[tuple[float, float]]]:
        if self._samples is None:
            self._samples = {kind: deque(maxlen=MOST) for kind in FIRST}
            for kind, sample in self._entries():
                if kind in self._samples and _is_sample(sample):
                    self._samples[kind].append((float(sample[0]), float(sample[1])))
                else:
                    self.ignored += 1
        return self._samples

    def _entries(self) -> list[tuple[str, Any]]:
        """(kind, sample) of the file, which anybody may have written."""
        try:
            found = decoded(read_file(self._folder() / NAME, MOST_BYTES, own=True))
        except FileNotFoundError:
            return []
        except (OSError, ValueError):
            return [("", None)]
        if not isinstance(found, dict):
            return [("", None)]
        return [
            (kind, sample)
            for kind, samples in found.items()
            for sample in (samples if isinstance(samples, list) else [None])
        ]


def _is_sample(sample: object) -> bool:
    return isinstance(sample, list) and len(sample) == 2 and all(_is_real(one) for one in sample)


def _is_real(value: object) -> bool:
    return type(value) in (int, float) and 1 / LARGEST < value < LARGEST  # type: ignore[operator]
