"""The folders that a recording asks about, each copied to a place of its own."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

LARGE = 50 << 20
"""From so many bytes of inflated text on, fewer questions are asked."""
WRITTEN = 1_700_000_000
"""Every copied file was written then, seconds since 1970: a checkout gives each a time of its own."""


class Subject(NamedTuple):
    """A folder of recordings: the name of the folder that it was found in, and its own."""

    source: str
    folder: Path
    size: int

    @property
    def name(self) -> str:
        """Like ``cases/zlib``."""
        return f"{self.source}/{self.folder.name}"

    @property
    def large(self) -> bool:
        """Whether fewer questions are asked."""
        return self.size >= LARGE

    def copied(self, logs: Path) -> Path:
        """A copy below a folder, writable and with one time for all."""
        to = logs / self.folder.name
        shutil.copytree(self.folder, to, symlinks=True)
        for place, _, files in os.walk(to):
            os.chmod(place, 0o755)
            for name in files:
                path = Path(place, name)
                if not path.is_symlink():
                    os.chmod(path, 0o644)
                    os.utime(path, (WRITTEN, WRITTEN))
        return to


def subjects(sources: Iterable[Path]) -> Iterator[Subject]:
    """The folders of each source, by name; a source that is not there is named on standard error."""
    for source in sources:
        if not source.is_dir():
            print(f"{source} is not there: it is left out.", file=sys.stderr)
            continue
        for folder in sorted(source.iterdir()):
            if folder.is_dir() and any(path.is_file() for path in folder.rglob("*")):
                size = sum(_inflated(path) for path in folder.rglob("*") if path.is_file())
                yield Subject(source.name, folder, size)


def _inflated(path: Path) -> int:
    if path.suffix != ".gz":
        return path.stat().st_size
    total = 0
    try:
        with gzip.open(path) as file:
            while part := file.read(1 << 20):
                total += len(part)
    except (OSError, EOFError, zlib.error):
        pass
    return total
