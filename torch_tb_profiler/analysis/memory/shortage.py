"""Why an allocation failed: what was asked for and free, what held the rest, and whether memory was there in pieces.

::

    asked 6       device [reserved: aa.bb..cc. ][free ..]     4 + 2 free would do, in no piece: fragmented
    asked 6       device [reserved: aaaabbbbcc ][free ..]     0 + 2 free: full

Every surface tells it in these sentences.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.memory.allocator_state import allocator_state_at
from torch_tb_profiler.analysis.memory.failures import Failure
from torch_tb_profiler.analysis.memory.fragmentation import free_pieces
from torch_tb_profiler.analysis.memory.holding import holding_sentences
from torch_tb_profiler.analysis.memory.live_memory import LiveMemory, live_memory_at, short_place
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.units import format_bytes, format_count

_MIB = 1 << 20
Why = Literal["fragmented", "elsewhere", "limit", "grain", "full", "pieces", ""]


class Shortage(msgspec.Struct, frozen=True):
    """A failed allocation and the memory of its device then, bytes, −1 unknown.

    held: what was alive; None where the file does not say on which device. holding: that in sentences.
    unused: reserved and in no block. pieces: of that, the largest first; None where they are not told.
    """

    failure: Failure
    held: LiveMemory | None
    holding: list[str]
    unused: int
    pieces: Ints | None

    @property
    def largest(self) -> int:
        """The largest piece."""
        return -1 if self.pieces is None else int(self.pieces[0]) if len(self.pieces) else 0

    @property
    def why(self) -> Why:
        """``fragmented``: what was free would do in one piece; ``elsewhere``: such a piece was there, for another stream
        or pool; ``limit``: the device had it; ``grain``: it had what was asked for, not what the allocator takes at once;
        ``full``: all that was free would not do; ``pieces``: it would, in pieces of unknown size.
        """
        asked, free = self.failure.bytes, max(self.failure.free, 0)
        if asked < 0 or self.unused < 0:
            return ""
        if self.largest >= asked:
            return "elsewhere"
        if free >= taken_at_once(asked):
            return "limit"
        if free >= asked:
            return "grain"
        if self.unused + free < asked:
            return "full"
        return "fragmented" if self.largest >= 0 else "pieces"


def shortage_of(trace: Trace, insight: Insight, failure: Failure) -> Shortage:
    """What was so when an allocation failed."""
    device = failure.device
    if device < 0:
        return Shortage(failure, None, [], -1, None)
    held = live_memory_at(insight, device, failure.time)
    state = allocator_state_at(trace, insight, device, failure.time)
    unused, pieces = held.reserved - held.allocated if held.reserved >= 0 else -1, None
    if state is not None:
        pieces = np.sort(free_pieces(state)[1])[::-1]
        unused = int(pieces.sum())
    holding = holding_sentences(insight, device, failure.time, past=True)
    return Shortage(failure, held, holding, unused, pieces)


def taken_at_once(asked: int) -> int:
    """Bytes that PyTorch's allocator takes from a device for a block (``c10/cuda/CUDACachingAllocator.h``)."""
    if asked <= _MIB:
        return 2 * _MIB
    return 20 * _MIB if asked < 10 * _MIB else -(-asked // (2 * _MIB)) * 2 * _MIB


def asked_and_free(failure: Failure) -> str:
    """``2.00 GiB were asked for; 1.21 GiB were free``, as far as it is known."""
    asked = f"{format_bytes(failure.bytes)} were asked for" if failure.bytes >= 0 else ""
    free = f"{format_bytes(failure.free)} were free" if failure.free >= 0 else ""
    return "; ".join(filter(None, (asked or "an allocation failed", free)))


def shortage_sentences(short: Shortage, count: int = 1) -> list[str]:
    """What happened, of at most twelve words and two quantities; then what held the rest, why it did not fit, and where
    it was asked for. ``count``: how many allocations failed.
    """
    failure = short.failure
    where = f"It was asked for by {short_place(failure.line)}" if failure.line else ""
    if count > 1:
        before = f"{where}," if where else "It was"
        where = f"{before} the first of {format_count(count)} that failed"
    return [
        f"Out of memory: {asked_and_free(failure)}.",
        *short.holding,
        *([why] if (why := _reason(short)) else []),
        *([f"{where}."] if where else []),
    ]


def _reason(short: Shortage) -> str:
    """Whether fragmentation is why, in a sentence; empty where nothing is known of it."""
    unused, largest = format_bytes(max(short.unused, 0)), format_bytes(max(short.largest, 0))
    used = "all" if short.unused <= 0 else f"all but {unused}"
    return {
        "fragmented": f"Fragmentation is why: {unused} more were reserved and free, in pieces of at most {largest}.",
        "pieces": f"Besides, {unused} were reserved and free, in no piece that would do.",
        "elsewhere": f"A piece of {largest} was reserved and free, but for another stream or pool.",
        "limit": "The device had enough: a limit such as set_per_process_memory_fraction refused it.",
        "grain": f"The allocator takes {format_bytes(taken_at_once(short.failure.bytes))} at once for it.",
        "full": f"Fragmentation is not why: {used} of what was reserved was in use.",
        "": "",
    }[short.why]
