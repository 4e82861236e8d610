"""Damage for sidecars."""

from __future__ import annotations

import json
from pathlib import Path

from torch_tb_profiler.store import sidecar


def damage_large_columns(path: Path) -> bytes:
    """Flip a bit in every large column of a sidecar that has rows; what is written."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[:8], "little")
    for name, column in json.loads(data[8 : 8 + size]).items():
        if name.startswith(sidecar._LARGE) and column["shape"] != [0]:
            data[8 + size + column["data_offsets"][0]] ^= 1
    path.write_bytes(data)
    return bytes(data)
