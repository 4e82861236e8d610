"""Write what an allocator recorded, one record a line: ``thread time device address bytes
[allocated [reserved]]``, times in microseconds.

::

    main   10  gpu0  a   +512    512  2048
    main   20  gpu0  a   -512      0  2048
    other  15  cpu   -    +64

``device`` is ``cpu``, ``gpuN`` (c10's CUDA) or ``TYPE:ID`` as c10 numbers them. An address is a
letter or a number, ``-`` for none. Threads are numbered as in ``drawn.py``, so that records may
stand beside a drawing whose threads are the same in the same order; a number is that thread as
``listed.py`` has it.
"""

from __future__ import annotations

import re
from typing import Any

from tests.builders import listed
from tests.builders.drawn import Event

_GPU = re.compile(r"gpu(\d+)")
PID = 100
_NUMBERS = ("Total Allocated", "Total Reserved")


def records(text: str, threads: tuple[str, ...] = ("main", "other")) -> list[Event]:
    """The ``[memory]`` entries of a list."""
    return [_record(line.split(), threads) for line in text.splitlines() if line.strip()]


def _record(words: list[str], threads: tuple[str, ...]) -> Event:
    thread, time, device, address, size, *stated = words
    arguments: dict[str, Any] = {
        "Bytes": int(size),
        **device_of(device),
        **dict(zip(_NUMBERS, map(int, stated), strict=False)),
    }
    if address != "-":
        arguments["Addr"] = int(address) if address.isdigit() else ord(address)
    pid, tid = (listed.PID, int(thread)) if thread.isdigit() else (PID, 1 + threads.index(thread))
    return {
        "ph": "i",
        "s": "t",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": pid,
        "tid": tid,
        "ts": float(time),
        "args": arguments,
    }


def device_of(text: str) -> dict[str, int]:
    """``Device Type`` and ``Device Id`` of a device as it is written here."""
    if text == "cpu":
        return {"Device Type": 0, "Device Id": -1}
    match = _GPU.fullmatch(text)
    kind, number = (1, int(match[1])) if match else map(int, text.split(":"))
    return {"Device Type": kind, "Device Id": number}
