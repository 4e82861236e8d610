"""The frames of what is alive, against a plain count over stacks, and by hand."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import case
from tests.analysis.memory.test_holding import opened
from tests.builders.snapshots import Allocator, snapshot, stack
from tests.builders.splitting import TORCH
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.held_frames import HeldFrame, held_frames
from torch_tb_profiler.analysis.memory.live_memory import live_memory_at

MIB = 1 << 20
Path = tuple[str, ...]


def paths(frames: list[HeldFrame]) -> dict[Path, tuple[int, int]]:
    """Bytes and blocks by the names from the outermost one."""
    named: list[Path] = []
    for frame in frames:
        named.append((*(named[frame.parent] if frame.parent >= 0 else ()), frame.name))
    return {path: (f.bytes, f.blocks) for path, f in zip(named, frames, strict=True)}


@examples(60)
@given(
    st.lists(
        st.tuples(st.integers(1, 64), st.lists(st.integers(0, 2), max_size=4), st.booleans()),
        min_size=1,
        max_size=20,
    ),
    st.integers(0, 30),
)
def test_each_frame_holds_what_its_stacks_hold(
    drawn: list[tuple[int, list[int], bool]], lost: int
) -> None:
    device, live = Allocator(), {}
    inside = f"{TORCH}/nn/modules/module.py:9:_call_impl"
    for mib, calls, stays in drawn:
        # PyTorch's own frames lie between those of the program and are not drawn.
        frames = [text for call in calls for text in (f"/w/net.py:{call}:f{call}", inside)]
        address = device.alloc(mib * MIB, stack(*frames) if calls else None)
        live[address] = (mib * MIB, calls[::-1], len(device.entries))
        if not stays:
            device.free(address)
            del live[address]
    device.alloc(MIB, stack("/w/net.py:9:last"))
    live[-1] = (MIB, [9], len(device.entries))
    first = min(lost, len(device.entries) - 1)
    trace, insight = opened(snapshot(device, last=len(device.entries) - first))
    expected: dict[Path, Counter[str]] = {}
    for size, calls, entry in live.values():
        names = [f"/w/net.py({call}): {'last' if call == 9 else f'f{call}'}" for call in calls]
        chain = ["before the history", *names] if entry <= first else names or ["no stack"]
        for depth in range(len(chain)):
            found = expected.setdefault(tuple(chain[: depth + 1]), Counter())
            found.update(bytes=size, blocks=1)
    facts = derive(trace)
    last = int(insight["memory_curve"]["time"][-1])
    frames_found = held_frames(facts, insight, 0, live_memory_at(insight, 0, last))
    assert paths(frames_found) == {
        path: (sums["bytes"], sums["blocks"]) for path, sums in expected.items()
    }


def test_without_stacks_the_calls_around_stand_for_lines_and_the_smallest_are_one() -> None:
    _, facts, insight = case(
        """
        main 14 gpu0 a +1000
        main 15 gpu0 b +3
        main 32 gpu0 c +2
        main 40 gpu0 p -50
        """,
        """
        main    [aten::zeros      ] [aten::mm ]
        main        [aten::empty]
        """,
    )
    held = live_memory_at(insight, 0, 36_000)
    assert paths(held_frames(facts, insight, 0, held, smallest=100)) == {
        ("aten::zeros",): (1003, 2),
        ("aten::zeros", "aten::empty"): (1003, 2),
        ("before the recording",): (50, 1),
        ("1 smaller",): (2, 1),
    }
