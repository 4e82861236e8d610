"""What is alive at a moment, against a program that keeps a dictionary of addresses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import built, insight
from tests.analysis.memory.simulated import RECORDS, Call, as_events, calls, innermost
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.live_memory import LiveMemory, live_memory_at
from torch_tb_profiler.store.insight import Insight

US = 1000


def origins(found: Insight, alive: LiveMemory) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """By operator and parent: bytes, blocks, the largest, begin of the oldest in µs (-1 before the
    recording).
    """
    names, parents = found.strings.many(alive.operator), found.strings.many(alive.parent)
    sums: dict[tuple[str, str], tuple[int, int, int, int]] = {}
    for row, key in enumerate(zip(names, parents, strict=True)):
        oldest = int(alive.oldest[row]) // US if alive.oldest[row] >= 0 else -1
        size, count, largest = (
            int(column[row]) for column in (alive.bytes, alive.count, alive.largest)
        )
        # Blocks of one origin stand apart where their categories differ.
        before = sums.get(key, (0, 0, 0, oldest))
        sums[key] = (
            before[0] + size,
            before[1] + count,
            max(before[2], largest),
            min(before[3], oldest),
        )
    return sums


def test_blocks_of_one_origin_stand_together() -> None:
    memory = insight(
        """
        main 14 gpu0 a +1   101 1000
        main 15 gpu0 b +10  111 1000
        main 32 gpu0 c +100 211 1000
        main 40 gpu0 p -50  161 1000
        main 45 gpu0 b -10  151 1000
        """,
        """
        main    [aten::zeros      ] [aten::mm ]
        main        [aten::empty]
        """,
    )
    alive = live_memory_at(memory, 0, 36 * US)
    assert origins(memory, alive) == {
        ("aten::mm", ""): (100, 1, 100, 32),
        ("aten::empty", "aten::zeros"): (11, 2, 10, 14),
        ("", ""): (50, 1, 50, -1),
    }
    assert (alive.allocated, alive.reserved, alive.unknown) == (211, 1000, 50)
    assert origins(memory, live_memory_at(memory, 0, 45 * US)) == {
        ("aten::mm", ""): (100, 1, 100, 32),
        ("aten::empty", "aten::zeros"): (1, 1, 1, 14),
    }


def test_the_peak_is_the_moment_of_the_peak_even_if_the_block_goes_in_the_same_ns() -> None:
    memory = insight("""
        main  0 gpu0 a +64 64 100
        main 10 gpu0 b +36 100 100
        main 10 gpu0 b -36 64 100
        main 20 gpu0 a -64 0 100
    """)
    for time in (None, 10 * US):
        alive = live_memory_at(memory, 0, time)
        assert (alive.time, alive.allocated, int(alive.bytes.sum()), alive.unknown) == (
            10 * US,
            100,
            100,
            0,
        )
    assert live_memory_at(memory, 0, 10 * US + 1).allocated == 64


def test_a_peak_before_the_first_record() -> None:
    memory = insight("main 10 gpu0 a -64 36 100")
    alive = live_memory_at(memory, 0, None)
    assert (alive.time, alive.allocated, alive.unknown) == (0, 100, 36)


@examples(150)
@given(calls(), RECORDS, st.integers(0, 110))
def test_alive_is_what_a_dictionary_holds(
    tree: list[Call], listed: list[tuple[int, int, int, bool]], at: int
) -> None:
    trace = trace_of(as_events(tree, listed))
    found = built(trace, derive(trace))
    devices = found["memory_devices"]
    alive = live_memory_at(found, 0, at * US)
    assert alive.allocated == alive.unknown + int(alive.bytes.sum())
    if at * US != int(devices["peak_time"][0]):
        assert origins(found, alive) == held(tree, sorted(listed), at)
    peak = live_memory_at(found, 0, None)
    assert (peak.allocated, peak.time) == (int(devices["peak"][0]), int(devices["peak_time"][0]))
    assert live_memory_at(found, 0, 1 << 40).allocated == int(devices["end"][0])


def held(
    tree: list[Call], listed: list[tuple[int, int, int, bool]], at: int
) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    """Origins of what is held at a time: all pairs first, then those around the time."""
    blocks: list[tuple[int, int, int | None, int]] = []
    opened: dict[int, tuple[int, int]] = {}
    released: dict[int, int] = {}
    for time, address, size, releases in listed:
        if address == 0:
            continue
        if address in opened:
            begin, before = opened.pop(address)
            blocks.append((begin, begin, time, before))
        elif releases:
            blocks.append((-1, released.get(address, -1), time, size))
        if releases:
            released[address] = time
        else:
            opened[address] = (time, size)
    blocks += [(begin, begin, None, size) for begin, size in opened.values()]
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for allocation, begin, end, size in blocks:
        if begin <= at and (end is None or end > at):
            call = innermost(tree, allocation) if allocation >= 0 else None
            key = (call.name, call.around[0].name if call.around else "") if call else ("", "")
            found.setdefault(key, []).append((size, begin))
    return {
        key: (sum(s for s, _ in some), len(some), max(s for s, _ in some), min(b for _, b in some))
        for key, some in found.items()
    }
