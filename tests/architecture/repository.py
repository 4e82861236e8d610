"""What may not be committed: paths of one machine, registries' hosts, other people's traces, large
samples.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

SAMPLES_LIMIT = 15_000_000

# Written in pieces so that this file does not find itself.
_MACHINE = re.compile(
    r"(?<![\w.~$})\]-])(/(?:work|root|Users/(?!user\b)\w+|home/(?!user\b|me\b|you\b|\w/)\w+)/|/tmp/(?:v|brief|bash_jobs)\b)"
)
_REGISTRY = re.compile(
    "registry[.]npm"
    + "js|registry[.]yarn"
    + "pkg|files[.]python"
    + "hosted|pypi[.]org/"
    + 'simple|"resol'
    + 'ved"\\s*:'
)


def machine_paths(files: Mapping[str, str]) -> list[str]:
    """``path:line: text`` of absolute paths that exist on one machine only."""
    return _found(files, _MACHINE)


def registry_hosts(files: Mapping[str, str]) -> list[str]:
    """``path:line: text`` of hosts of package registries, and lock file entries that name one."""
    return _found(files, _REGISTRY)


def _found(files: Mapping[str, str], pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path}:{i}: {m[0]}"
        for path, text in files.items()
        for i, line in enumerate(text.splitlines(), 1)
        if (m := pattern.search(line))
    ]


def texts(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """The files that are text, by content: no zero byte in the first 8 KiB and UTF-8."""
    found = {}
    for path in paths:
        data = (root / path).read_bytes()
        if b"\0" in data[:8192]:
            continue
        try:
            found[path] = data.decode()
        except UnicodeDecodeError:
            continue
    return found


def copies(root: Path, paths: Iterable[str], others: Path) -> list[str]:
    """Files of ours that are byte for byte one of ``others``."""
    known = {
        (p.stat().st_size, _digest(p)): p.name
        for p in others.rglob("*")
        if p.is_file() and p.stat().st_size
    }
    sizes = {size for size, _ in known}
    ours = [root / p for p in paths]
    return [
        p.relative_to(root).as_posix()
        for p in ours
        if p.stat().st_size in sizes and (p.stat().st_size, _digest(p)) in known
    ]


def _digest(path: Path) -> str:
    with path.open("rb") as f:
        return (
            hashlib.file_digest(f, "sha256").hexdigest()
            if hasattr(hashlib, "file_digest")
            else hashlib.sha256(f.read()).hexdigest()
        )


def total_size(root: Path, paths: Iterable[str]) -> int:
    """Bytes of the files together."""
    return sum((root / p).stat().st_size for p in paths)
