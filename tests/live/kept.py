"""What PyTorch recorded or said, kept in the user's cache folder: each version of it and of the program that
asks is run once.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import platformdirs

SUMS = "sha256"


def kept(
    name: str, make: Callable[[Path], None], *sources: Path | str, base: Path | None = None
) -> Path:
    """The folder that ``make`` fills, or has filled before with the same ``sources`` (files or texts) under
    the same PyTorch and Python. What is damaged is made anew.
    """
    key = hashlib.sha256(
        f"{version('torch')} {platform.python_version()} {platform.machine()}".encode()
    )
    for source in sources:
        key.update(source.read_bytes() if isinstance(source, Path) else source.encode())
    base = base or platformdirs.user_cache_path("torch_tb_profiler_tests")
    folder = base / f"{name}-{key.hexdigest()[:16]}"
    if _whole(folder):
        return folder
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=base) as made:
        fresh = Path(made, "made")
        fresh.mkdir()
        make(fresh)
        (fresh / SUMS).write_text(_sums(fresh))
        if not _whole(folder):
            # Nobody else was faster.
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                fresh.rename(folder)
    assert _whole(folder)
    return folder


def _whole(folder: Path) -> bool:
    sums = folder / SUMS
    return sums.is_file() and sums.read_text() == _sums(folder)


def _sums(folder: Path) -> str:
    """A line per file."""
    files = (path for path in folder.rglob("*") if path.is_file() and path != folder / SUMS)
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.relative_to(folder).as_posix()}\n"
        for path in sorted(files)
    )
