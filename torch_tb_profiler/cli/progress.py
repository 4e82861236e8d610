"""A line that says how far something is: on a terminal only, so that no log or pipe gets it."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Progress:
    """A bar on standard error; ``update(done, total)`` moves it, the end of the ``with`` block
    removes it.

    ``unit``: what is counted; ``bytes`` are shown in KiB, MiB and so on.
    """

    def __init__(self, what: str, unit: str = "bytes") -> None:
        self._what = what
        self._unit = unit
        self._bar: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from tqdm import tqdm

            of_bytes = self._unit == "bytes"
            self._bar = tqdm(
                desc=self._what,
                unit="B" if of_bytes else f" {self._unit}",
                unit_scale=of_bytes,
                unit_divisor=1024,
                file=sys.stderr,
                leave=False,
                delay=0.3,
            )
        return self

    def update(self, done: int, total: int | None) -> None:
        """``done`` of ``total`` (None: not known)."""
        if self._bar is None:
            return
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def hide(self) -> None:
        """Take the bar away while something is printed; the next ``update`` brings it back."""
        if self._bar is not None:
            self._bar.clear()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
