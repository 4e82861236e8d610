"""What is said of an allocation that failed, against a plain walk over the allocator."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import built
from tests.builders.snapshots import pickled
from tests.builders.splitting import BACKWARD, FORWARD, Splitting
from tests.examples import examples
from tests.importers.reading import Stream
from tests.views.findings.test_answers import faults
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.failures import failed_allocations
from torch_tb_profiler.analysis.memory.shortage import (
    Shortage,
    shortage_of,
    shortage_sentences,
    taken_at_once,
)
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings

MIB = 1 << 20


def shortage(device: Splitting) -> Shortage:
    trace = read_trace(Stream(pickled(device.snapshot())), Settings())
    insight = built(trace, derive(trace))
    ((failure,), _) = failed_allocations(trace, derive(trace), insight, 1)
    return shortage_of(trace, insight, failure)


def pieces(device: Splitting) -> list[int]:
    """Bytes of each free stretch."""
    return [
        size for base in device.segments for _, size, asked in device.stretches(base) if asked < 0
    ]


@examples(40)
@given(
    st.integers(0, 1 << 30),
    st.floats(0.2, 3),
    st.sampled_from([0, 1, 5, 15, 40, 400]),
    st.booleans(),
)
def test_why_it_failed_is_what_a_plain_walk_finds(
    seed: int, much: float, free_mib: int, goes_on: bool
) -> None:
    draw, device = random.Random(seed), Splitting()
    for _ in range(40):
        if device.live and draw.random() < 0.45:
            device.free(draw.choice(list(device.live)))
        else:
            device.alloc(
                draw.randrange(1, 12 * MIB), draw.choice((FORWARD, BACKWARD)), draw.choice((0, 7))
            )
    there = pieces(device)
    asked = max(int(much * max(there, default=MIB)), 1)
    held = sum(requested for requested, *_ in device.live.values())
    free = free_mib * MIB
    device.fail(asked, free, FORWARD)
    if goes_on:
        for address in list(device.live)[::2]:
            device.free(address)
        device.alloc(3 * MIB, FORWARD)
    short = shortage(device)
    assert short.pieces is not None
    assert short.pieces.tolist() == sorted(there, reverse=True)
    assert short.unused == sum(there)
    assert short.held is not None
    assert short.held.allocated == held
    assert int(short.held.bytes.sum()) == held
    fits, enough = max(there, default=0) >= asked, sum(there) + free >= asked
    if fits:
        assert short.why == "elsewhere"
    elif free >= asked:
        assert short.why == ("limit" if free >= taken_at_once(asked) else "grain")
    else:
        assert short.why == ("fragmented" if enough else "full")
    told = shortage_sentences(short)
    assert faults(told[0]) == []
    assert ("Fragmentation is why" in " ".join(told)) == (short.why == "fragmented")


def test_an_answer_names_what_held_most_and_the_pieces() -> None:
    device = Splitting()
    rooms = [device.alloc(9 * MIB, ("/w/net.py:3:forward", *FORWARD)) for _ in range(4)]
    for address in rooms[::2]:
        device.free(address)
    device.fail(16 * MIB, MIB, ("/w/attention.py:88:softmax", *FORWARD))
    assert shortage_sentences(shortage(device), 3) == [
        "Out of memory: 16.0 MiB were asked for; 1.00 MiB were free.",
        "Most was held by forward at net.py:3 (18.0 MiB).",
        "Fragmentation is why: 22.0 MiB more were reserved and free, in pieces of at most 9.00 MiB.",
        "It was asked for by softmax at attention.py:88, the first of 3 that failed.",
    ]


@pytest.mark.parametrize(
    ("asked", "wanted"), [(1, 2), (MIB, 2), (MIB + 1, 20), (9 * MIB, 20), (11 * MIB, 12)]
)
def test_the_allocator_takes_whole_segments(asked: int, wanted: int) -> None:
    assert taken_at_once(asked) == wanted * MIB
