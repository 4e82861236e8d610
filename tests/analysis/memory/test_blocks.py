"""Blocks from allocations and releases by address, against a simulation with a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import blocks, insight
from tests.examples import examples
from torch_tb_profiler.analysis.memory.blocks import pair


def test_records_without_an_address_are_in_no_block_but_in_the_curve() -> None:
    memory = insight("""
        main  0 gpu0 - +64
        main 10 gpu0 - -64
    """)
    assert blocks(memory) == []
    assert memory["memory_curve"]["allocated"].tolist() == [64, 0]


def test_a_record_of_no_bytes_begins_nothing() -> None:
    memory = insight("""
        main  0 gpu0 a +64 64 1024
        main  5 gpu0 a  0  64 2048
        main 10 gpu0 a -64 0  2048
    """)
    assert blocks(memory) == [(64, 0, 10)]
    assert memory["memory_curve"]["reserved"].tolist() == [1024, 2048, 2048]


def test_a_record_of_an_impossible_size_is_left_out_and_counted() -> None:
    memory = insight(f"""
        main  0 gpu0 a +64
        main  5 gpu0 b +{1 << 60}
        main  6 gpu0 c -{1 << 62}
    """)
    assert blocks(memory) == [(64, 0, None)]
    assert memory.about["memory_left_out"] == 2


def test_devices_beyond_the_limit_are_left_out_and_counted() -> None:
    lines = [f"main {i} 1:{i} a +1" for i in range(300)] + [
        "main 400 1:7 b +1",
        "main 401 1:299 b +1",
    ]
    memory = insight("\n".join(lines))
    assert memory["memory_devices"].n == 256
    assert memory.about["memory_left_out"] == 44
    assert {7, 299} <= set(memory["memory_devices"]["id"].tolist())


RECORDS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 3), st.sampled_from([-3, -2, -1, 0, 1, 2, 3])),
    max_size=40,
)


def one_by_one(
    listed: list[tuple[int, int, int]],
) -> tuple[set[tuple[int, int, int, bool]], int, int]:
    """(allocation, begin, end, whether the end is its release) of every block, and the counts of
    lost releases and allocations.
    """
    held: dict[tuple[int, int], int] = {}
    released: dict[tuple[int, int], int] = {}
    found = set()
    lost_releases = lost_allocations = 0
    for place, (device, address, size) in enumerate(listed):
        key = (device, address)
        if address == 0 or size == 0:
            continue
        if size > 0:
            if key in held:
                found.add((held[key], held[key], place, False))
                lost_releases += 1
            held[key] = place
            continue
        if key in held:
            begin = held.pop(key)
            found.add((begin, begin, place, True))
        else:
            found.add((-1, released.get(key, -1), place, True))
            lost_allocations += key in released
        released[key] = place
    found |= {(begin, begin, -1, False) for begin in held.values()}
    return found, lost_releases, lost_allocations


@examples(300)
@given(RECORDS)
def test_pairs_are_those_of_a_dictionary(listed: list[tuple[int, int, int]]) -> None:
    listed = sorted(listed, key=lambda record: record[0])
    device, address, size = (np.array([record[k] for record in listed], np.int64) for k in range(3))
    found = pair(device, address.astype(np.uint64), size)
    rows = set(
        zip(
            found.allocation.tolist(),
            found.begin.tolist(),
            found.end.tolist(),
            found.releases.tolist(),
            strict=True,
        )
    )
    assert (rows, found.lost_releases, found.lost_allocations) == one_by_one(listed)
    assert len(rows) == len(found.end)
