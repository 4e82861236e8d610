"""What may happen to a sidecar behind our back."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[random.Random, Path, Path], object]


def overwritten(chance: random.Random, path: Path, other: Path) -> None:
    """Some bytes are others."""
    with path.open("r+b") as file:
        for _ in range(chance.choice((1, 64))):
            at = chance.randrange(path.stat().st_size)
            file.seek(at)
            (byte,) = file.read(1)
            file.seek(at)
            file.write(bytes([byte ^ (1 << chance.randrange(8))]))


def cleared(chance: random.Random, path: Path, _: Path) -> None:
    """Zeros stand from some byte on."""
    size, at = path.stat().st_size, chance.randrange(path.stat().st_size)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes(size - at))


def cut(chance: random.Random, path: Path, _: Path) -> None:
    """Its end is missing."""
    os.truncate(path, chance.randrange(path.stat().st_size))


def grown(chance: random.Random, path: Path, _: Path) -> None:
    """More stands behind it."""
    with path.open("ab") as file:
        file.write(chance.randbytes(chance.randrange(1, 9000)))


def copied_over(_: random.Random, path: Path, other: Path) -> None:
    """It holds what another one holds."""
    content = other.read_bytes()
    with path.open("r+b") as file:
        file.truncate()
        file.write(content)


def swapped(_: random.Random, path: Path, other: Path) -> None:
    """It changes places with another one."""
    part = path.with_name("part")
    path.rename(part)
    other.rename(path)
    part.rename(other)


IN_PLACE: tuple[Damage, ...] = (overwritten, cleared, cut, grown, copied_over)
EVERY: tuple[Damage, ...] = (*IN_PLACE, swapped)
