"""Allocations that failed for lack of memory."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import ancestry
from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.analysis.memory.origins import innermost_spans
from torch_tb_profiler.store.display import display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.untrusted import prepared

OUT_OF_MEMORY = "[OutOfMemory]"
"""Kineto's name for them, also used for those of snapshots."""

_ENDLESS = 1 << 62
_MOST_FRAMES = 64
MEMORY_FAILURES = display_spec("""
memory_failures: One row per allocation that failed for lack of memory.
    device           text   -  unsent    The device.
    time_ns          time   -  -         When.
    requested_bytes  bytes  -  optional  What was asked for.
    free_bytes       bytes  -  optional  What the device had free.
    allocated_bytes  bytes  -  optional  What was allocated then.
    reserved_bytes   bytes  -  optional  What was reserved then.
    line             code   -  optional  Where the program asked for it.
    stack            text   -  optional  Its call stack, innermost first.
""")


class Failure(msgspec.Struct, frozen=True):
    """A failed allocation: time in ns, requested and free bytes (−1 unknown), the row of
    ``memory_devices`` (−1 none), and its call stack, innermost first.
    """

    time: int
    bytes: int
    free: int
    device: int
    stack: tuple[str, ...]

    @property
    def line(self) -> str:
        """The frame to show; empty where the stack is."""
        return line_of_frames("\n".join(self.stack))


class _Args(msgspec.Struct):
    size: object = msgspec.field(default=-1, name="Bytes")
    free: object = msgspec.field(default=-1, name="Device Free")
    kind: object = msgspec.field(default=-1, name="Device Type")
    number: object = msgspec.field(default=-1, name="Device Id")
    stack: object = msgspec.field(default="", name="Call stack")


def failed_allocations(
    trace: Trace, facts: Facts, insight: Insight, most: int
) -> tuple[list[Failure], int]:
    """The first ``most`` failed allocations in order of time, and how many there are."""
    instants, number = trace["instants"], trace.strings.number(OUT_OF_MEMORY)
    row = np.flatnonzero(instants["name"] == number) if number >= 0 else np.zeros(0, np.int64)
    kept = row[:most]
    inner = innermost_spans(
        trace, facts["span_links"], instants["track"][kept], instants["time"][kept]
    )
    found = []
    for place, span in zip(kept.tolist(), inner.tolist(), strict=True):
        try:
            args = msgspec.json.decode(
                trace.strings[int(instants["args"][place])], type=prepared(_Args)
            )
        except (msgspec.MsgspecError, RecursionError):
            args = _Args()
        written = args.stack.split("\n") if isinstance(args.stack, str) and args.stack else None
        found.append(
            Failure(
                int(instants["time"][place]),
                _size(args.size),
                _size(args.free),
                _device(insight, args.kind, args.number),
                tuple(written or _around(trace, facts, span)),
            )
        )
    return found, len(row)


def _size(value: object) -> int:
    return value if type(value) is int and 0 <= value < _ENDLESS else -1


def _device(insight: Insight, kind: object, number: object) -> int:
    devices = insight["memory_devices"]
    if type(kind) is not int or type(number) is not int:
        return -1
    row = np.flatnonzero((devices["type"] == kind) & (devices["id"] == number))
    return int(row[0]) if len(row) else -1


def _around(trace: Trace, facts: Facts, span: int) -> list[str]:
    """The names of the spans around a moment, the innermost first."""
    around = ancestry(facts["span_links"]["parent"], span, _MOST_FRAMES)
    return trace.strings.many(trace["spans"]["name"][around])
