"""What standard error shows: a progress bar, on terminals only, and remarks."""

from __future__ import annotations

import sys
from typing import Any

from torch_tb_profiler.untrusted import printable


def say(text: str) -> None:
    """A remark of a command, in a line."""
    print(printable(f"torch-tb-profiler: {text}".rstrip()), file=sys.stderr, flush=True)


class Progress:
    """A bar on standard error for the duration of a ``with`` block. ``unit``: what is counted;
    ``bytes`` are shown in KiB, MiB …
    """

    def __init__(self, what: str, unit: str = "bytes") -> None:
        self._what = what
        self._unit = unit
        self._bar: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from tqdm import tqdm

            in_bytes = self._unit == "bytes"
            self._bar = tqdm(
                desc=self._what,
                unit="B" if in_bytes else f" {self._unit}",
                unit_scale=in_bytes,
                unit_divisor=1024,
                file=sys.stderr,
                leave=False,
                delay=0.3,
            )
        return self

    def update(self, done: int, total: int | None) -> None:
        """Show ``done`` of ``total`` (None: unknown)."""
        if self._bar is None:
            return
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def hide(self) -> None:
        """Hide the bar until the next ``update``."""
        if self._bar is not None:
            self._bar.clear()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
