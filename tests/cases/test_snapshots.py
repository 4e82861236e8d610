"""Memory snapshots as recordings of their own: the answer, the curve from the first state on, notes that change nothing."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import torch_tb_profiler
from tests.builders.snapshots import stack
from tests.examples import examples
from torch_tb_profiler.cli.main import main

MIB = 1 << 20
BASE, FRAMES = 0x7F0000000000, stack("/app/model.py:12:forward")
Record = dict[str, Any]


def record(action: str, addr: int, size: int, time: int, **more: Any) -> Record:
    fields = {"addr": BASE + addr, "size": size, "stream": 0, "frames": FRAMES}
    return {"action": action, **fields, "time_us": 1000 + time, **more}


def block(size: int, state: str, requested: int = 0) -> Record:
    asked = requested or (size if state.startswith("active") else 0)
    return {"size": size, "requested_size": asked, "state": state, "frames": FRAMES}


RECORDS = [
    record("segment_alloc", 0, 20 * MIB, 0),
    record("alloc", 0, 4 * MIB, 1),
    record("alloc", 4 * MIB, 6 * MIB, 2),
    record("free_requested", 0, 4 * MIB, 3),
    record("free_completed", 0, 4 * MIB, 3),
    record("alloc", 10 * MIB, 8 * MIB, 4),
]
SEGMENT = {
    "device": 0,
    "address": BASE,
    "total_size": 20 * MIB,
    "stream": 0,
    "segment_type": "large",
    "segment_pool_id": (0, 0),
    "blocks": [
        {**block(4 * MIB, "inactive"), "address": BASE},
        {**block(6 * MIB, "active_allocated"), "address": BASE + 4 * MIB},
        {**block(8 * MIB, "active_allocated"), "address": BASE + 10 * MIB},
        {**block(2 * MIB, "inactive"), "address": BASE + 18 * MIB},
    ],
}
FAILED = {
    "action": "oom",
    "device_free": 123,
    "size": 999 * MIB,
    "stream": 0,
    "time_us": 1005,
    "frames": FRAMES,
}


def value(records: list[Record]) -> dict[str, Any]:
    return {"segments": [SEGMENT], "device_traces": [records], "external_annotations": []}


def curve(path: Path, held: object) -> tuple[list[float], list[float], dict[str, int]]:
    """Allocated and reserved MiB after each record, and the defects."""
    path.write_bytes(pickle.dumps(held, 4))
    opened = torch_tb_profiler.open(str(path), use_cache=False)
    rows = opened.memory
    found = opened.context.trace.defects.as_dict()
    return (rows["allocated_bytes"] / MIB).tolist(), (rows["reserved_bytes"] / MIB).tolist(), found


@examples(20)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["annotate", "workspace_snapshot", "snapshot", "defragment", "q"]),
            st.integers(0, 6),
        ),
        max_size=5,
    )
)
def test_notes_among_the_records_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, notes: list[tuple[str, int]]
) -> None:
    records = list(RECORDS)
    for action, place in notes:
        at = records[place]["time_us"] - 1000 if place < len(records) else 4
        records.insert(place, record(action, 4 * MIB, 6 * MIB, at, user_metadata="retained"))
    path = tmp_path_factory.mktemp("snapshot") / "s.pickle"
    allocated, reserved, defects = curve(path, value(records))
    assert allocated == [0, 4, 10, 6, 14]
    assert reserved == [20] * 5
    unknown = sum(action in ("defragment", "q") for action, _ in notes)
    assert defects == ({"other_memory_action": unknown} if unknown else {})


@pytest.mark.parametrize("lost", range(1, 7))
def test_curve_begins_with_the_state_before_the_first_record(tmp_path: Path, lost: int) -> None:
    """Whatever the buffer of the history has dropped, as far as the rest and the segments tell it."""
    allocated, reserved, defects = curve(tmp_path / "s.pickle", value(RECORDS[lost:]))
    assert allocated == {1: [0, 4, 10, 6, 14], 2: [4, 10, 6, 14], 6: [14]}.get(
        lost, [10, 6, 14] if lost < 5 else [6, 14]
    )
    assert set(reserved) == {20}
    assert not defects


def test_reserved_before_a_segment_was_given_back_is_in_the_peak(tmp_path: Path) -> None:
    records = [record("segment_free", 100 * MIB, 30 * MIB, 0), *RECORDS[1:]]
    allocated, reserved, _ = curve(tmp_path / "s.pickle", value(records))
    assert reserved == [50] + [20] * 5
    assert allocated == [0, 0, 4, 10, 6, 14]


@pytest.mark.parametrize(
    "held", [value([]), {"segments": [SEGMENT], "device_traces": []}, [SEGMENT]]
)
def test_segments_alone_are_a_state(
    tmp_path: Path, held: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert curve(tmp_path / "s.pickle", held)[:2] == ([14], [20])
    said = summary(tmp_path / "s.pickle", capsys)
    assert (
        "GPU 0 holds 14.0 MiB (20.0 MiB reserved) now, without a history. Call"
        " torch.cuda.memory._record_memory_history() first: it records every allocation with its stack."
        " Most is held by forward at model.py:12 (14.0 MiB)." in said
    )


def summary(path: Path, capsys: pytest.CaptureFixture[str], command: str = "summary") -> str:
    assert main([command, str(path)]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["summary", "findings"])
def test_what_a_snapshot_says_first(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, records in (("fine", RECORDS), ("failed", [*RECORDS, FAILED])):
        (tmp_path / f"{name}.pickle").write_bytes(pickle.dumps(value(records), 4))
    fine = summary(tmp_path / "fine.pickle", capsys, command)
    place = "forward at model.py:12"
    assert "GPU 0 peaked at 14.0 MiB (20.0 MiB reserved)." in fine
    assert f"Most is held by {place} (14.0 MiB)." in fine
    failed = summary(tmp_path / "failed.pickle", capsys, command)
    told = "Out of memory: 999 MiB were asked for; 123 B were free."
    why = "Fragmentation is not why: all but 6.00 MiB of what was reserved was in use."
    assert (
        f"{told} Most was held by {place} (14.0 MiB). {why} It was asked for by {place}." in failed
    )
    described = " ".join(repr(torch_tb_profiler.open(str(tmp_path / "failed.pickle"))).split())
    assert f"{told} Most was held by {place}" in described
    for said in (fine, failed):
        assert "Nothing to analyse" not in said
        assert "accelerator" not in said
        assert "lost" not in said
