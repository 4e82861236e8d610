"""What is said of who holds a device's memory, against a plain count over the allocator."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import built
from tests.builders.snapshots import Allocator, pickled, snapshot, stack
from tests.examples import examples
from tests.importers.reading import Stream
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.failures import failed_allocations
from torch_tb_profiler.analysis.memory.holding import holding_sentences
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.units import format_bytes, format_share
from torch_tb_profiler.views.memory.headline import memory_headline

MIB = 1 << 20


def said(held: dict[str, Any], *, failed: bool = True) -> list[str]:
    """Of the failed allocation, else of the peak."""
    trace, insight = opened(held)
    if not failed:
        return holding_sentences(insight, 0, None)
    ((failure,), _) = failed_allocations(trace, derive(trace), insight, 1)
    return holding_sentences(insight, 0, failure.time, past=True)


def opened(held: dict[str, Any]) -> tuple[Trace, Any]:
    trace = read_trace(Stream(pickled(held)), Settings())
    return trace, built(trace, derive(trace))


@examples(60)
@given(
    st.lists(
        st.tuples(st.integers(1, 64), st.sampled_from(["", "a", "b", "c", "d"]), st.booleans()),
        min_size=1,
        max_size=20,
    ),
    st.integers(0, 40),
)
def test_shares_are_those_of_a_plain_count(drawn: list[tuple[int, str, bool]], lost: int) -> None:
    device, sites = Allocator(), dict[int, tuple[str, int, int]]()
    for mib, site, stays in drawn:
        frames = stack(f"/w/net.py:{ord(site)}:{site}") if site else None
        address = device.alloc(mib * MIB, frames)
        sites[address] = site, mib * MIB, len(device.entries)
        if not stays:
            device.free(address)
            del sites[address]
    device.alloc(MIB, stack("/w/net.py:9:last"))
    device.fail(999 * MIB)
    # The builder writes a segment's record before its block's.
    lost = min(lost, len(device.entries) - 2)
    told = " ".join(said(snapshot(device, last=len(device.entries) - lost)))
    whole = MIB + sum(size for _, size, _ in sites.values())
    before = sum(size for _, size, entry in sites.values() if entry <= lost)
    unplaced = sum(size for site, size, _ in sites.values() if not site)
    both = sum(size for site, size, entry in sites.values() if not site and entry <= lost)
    assert (" had no stack" in told) == bool(unplaced)
    assert ("before the history" in told) == bool(before)
    if unplaced:
        first = told.partition(". ")[0] if " of it" not in told else told
        assert format_share(unplaced / whole) in first
        assert ("record from the start" in told) == bool(both)
    if before > both:
        assert f"({format_share(before / whole)}) were from before the history." in told
    sums = Counter({"last": MIB})
    for site, size, _ in sites.values():
        if site:
            sums[site] += size
    named = sum(size for _, size in sums.most_common(3))
    assert ("Most was held by" in told) == (2 * named > whole)
    place, size = sums.most_common(1)[0]
    assert f"({format_bytes(size)}" in told
    assert "held by" in told
    if len(set(sums.values())) == len(sums):
        assert f"held by {place} at net.py:" in told


def ring(kept: int, each: int, mib_before: int) -> dict[str, Any]:
    """A history that begins with much allocated already; a line keeps a block per step."""
    device = Allocator()
    device.alloc(mib_before * MIB)
    first = len(device.entries)
    for _ in range(kept):
        work = [device.alloc(10 * MIB, stack(f"/w/net.py:{n}:forward")) for n in (1, 2, 3)]
        device.alloc(each * MIB, stack("/w/train.py:7:log"))
        for address in work:
            device.free(address)
    device.fail(500 * MIB)
    return snapshot(device, last=len(device.entries) - first)


@pytest.mark.parametrize(("kept", "each", "before"), [(4, 8, 300), (3, 2, 77), (9, 5, 1000)])
def test_a_line_that_keeps_a_block_each_time_is_said(kept: int, each: int, before: int) -> None:
    whole = before + kept * each
    share, own = format_share(before / whole), format_share(kept * each / whole)
    told = said(ring(kept, each, before))
    assert told[0].endswith(
        f"({share}) were from before the history and had no stack: record from the start."
    )
    assert told[1:] == [
        f"The largest known part was held by log at train.py:7 ({format_bytes(kept * each * MIB)}, {own}).",
        f"What log at train.py:7 allocates is never released: {format_bytes(each * MIB)} more each of {kept} times.",
    ]


def test_blocks_one_after_the_other_are_no_growth() -> None:
    device = Allocator()
    for _ in range(5):
        device.alloc(MIB, stack("/w/net.py:1:cache"))
    assert said(snapshot(device), failed=False) == ["Most is held by cache at net.py:1 (5.00 MiB)."]


def test_what_has_no_stack_within_the_history() -> None:
    device = Allocator()
    device.alloc(30 * MIB)
    device.alloc(10 * MIB, stack("/w/net.py:1:f"))
    assert said(snapshot(device), failed=False) == [
        '30.0 of 40.0 MiB (75.0 %) have no stack: record with stacks="all".',
        "The largest known part is held by f at net.py:1 (10.0 MiB, 25.0 %).",
    ]


@pytest.mark.parametrize(
    ("setting", "call"),
    [
        ("PYTORCH_CUDA_ALLOC_CONF", "torch.cuda.memory._record_memory_history()"),
        ("PYTORCH_HIP_ALLOC_CONF", "torch.cuda.memory._record_memory_history()"),
        ("PYTORCH_NPU_ALLOC_CONF", "torch_npu.npu.memory._record_memory_history()"),
        ("PYTORCH_XPU_ALLOC_CONF", "torch.xpu.memory._record_memory_history()"),
        ("PYTORCH_MTIA_ALLOC_CONF", "torch.mtia.record_memory_history()"),
        ("PYTORCH_NPU_ALLOC_CONF; rm", "torch.cuda.memory._record_memory_history()"),
    ],
)
def test_without_a_history_it_is_said_which_call_records_one(setting: str, call: str) -> None:
    device = Allocator()
    device.alloc(116 * MIB)
    held = snapshot(device) | {"device_traces": [[]], "allocator_settings": {setting: ""}}
    trace, insight = opened(held)
    assert memory_headline(trace, derive(trace), insight) == (
        "GPU 0 holds 116 MiB (116 MiB reserved) now, without a history.",
        f"Call {call} first: it records every allocation with its stack.",
    )
