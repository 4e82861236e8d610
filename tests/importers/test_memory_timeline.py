"""Memory timelines: both files of a recording agree, and defects are counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.importers.reading import Stream, defects
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.runs.import_job import read as read_file
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import sniff
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.model import Trace

PREEXISTING, CREATE, INCREMENT_VERSION, DESTROY = 1, 2, 3, 4
PARAMETER, STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, DETAIL, UNKNOWN = range(8)
START = 1_795_247_924_219_603_128
# The begin of what PyTorch 2.13 wrote of a training step on the CPU, a new version of a tensor
# added.
RAW = [
    [-1, PREEXISTING, 32768, PARAMETER],
    [-1, PREEXISTING, 512, PARAMETER],
    [START, CREATE, 8192, INPUT],
    [START + 814_639, CREATE, 16384, ACTIVATION],
    [START + 34_606_337, CREATE, 16384, ACTIVATION],
    [START + 48_547_313, DESTROY, -16384, ACTIVATION],
    [START + 48_716_254, INCREMENT_VERSION, -8192, INPUT],
    [START + 48_716_254, INCREMENT_VERSION, 8192, TEMPORARY],
    [START + 60_676_641, CREATE, 4, UNKNOWN],
]


def read(rows: Any) -> Trace:
    return read_trace(Stream(json.dumps(rows).encode()), Settings())


def sums(rows: list[list[int]]) -> list[Any]:
    """The output of ``export_memory_timeline("x.json")`` (``_coalesce_timeline`` of PyTorch 2.13)."""
    times: list[int] = []
    sizes: list[list[int]] = []
    first = -1
    for time, _, change, category in rows:
        microseconds = time if time == -1 else time // 1000
        first = microseconds if first == -1 or (0 < microseconds < first) else first
        if not times or microseconds != times[-1]:
            times.append(microseconds)
            sizes.append(list(sizes[-1]) if sizes else [0] * 9)
        sizes[-1][category + 1] += change
    return [[first if t < 0 else t for t in times], sizes]


def test_records_have_times_changes_and_categories() -> None:
    trace = read(RAW)
    memory = trace["memory"]
    assert memory["time"].tolist() == [
        0,
        0,
        0,
        814_639,
        34_606_337,
        48_547_313,
        48_716_254,
        48_716_254,
        60_676_641,
    ]
    assert memory["bytes"].tolist() == [row[2] for row in RAW]
    assert memory["allocated"].tolist() == np.cumsum([row[2] for row in RAW]).tolist()
    assert memory["category"].tolist() == [0, 0, 2, 4, 4, 4, 2, 3, -1]
    assert memory["ordinal"].tolist() == [-1, -1, 2, 3, 4, 5, 6, 7, 8]
    assert [BLOCK_CATEGORIES[c] for c in (0, 2, 4, 3)] == [
        "parameter",
        "input",
        "activation",
        "temporary",
    ]
    assert set(memory["address"].tolist()) == {0}
    assert set(memory["reserved"].tolist()) == {-1}
    assert (trace.header, trace.origin_ns, trace.entries, defects(trace)) == (
        {"memory_source": "timeline"},
        START,
        9,
        {},
    )


def held(trace: Trace) -> dict[tuple[int, int], int]:
    """Bytes of each category after each µs in which something changed."""
    memory, now = trace["memory"], dict.fromkeys(range(-1, 7), 0)
    found: dict[tuple[int, int], int] = {}
    for time, change, category in zip(
        memory["time"].tolist(), memory["bytes"].tolist(), memory["category"].tolist(), strict=True
    ):
        now[category] += change
        found |= {((trace.origin_ns + time) // 1000, c): b for c, b in now.items()}
    return found


def test_the_file_of_sums_says_the_same_at_every_time() -> None:
    # Both begin with what was there before; the sums stand at whole µs.
    assert held(read(sums(RAW))) == held(read(RAW))


def test_no_sum_stands_above_one_of_the_file() -> None:
    rows = [
        [START, CREATE, 100, INPUT],
        [START + 5000, INCREMENT_VERSION, 100, STATE],
        [START + 5000, INCREMENT_VERSION, -100, INPUT],
    ]
    assert read(sums(rows))["memory"]["allocated"].tolist() == [100, 0, 100]


def test_wrong_records_are_counted_and_left_out() -> None:
    rows: list[Any] = [
        *RAW,
        [1],
        [],
        [START, CREATE, "7", INPUT],
        [START, CREATE, 1 << 60, INPUT],
        [START + 70_000_000, 9, 5, 12],
    ]
    trace = read(rows)
    assert trace["memory"]["bytes"].tolist() == [*(row[2] for row in RAW), 5]
    assert trace["memory"]["category"][-1] == -1
    assert defects(trace) == {
        "unusable_memory_record": 4,
        "unknown_memory_action": 1,
        "unknown_category": 1,
    }


def test_wrong_sums_are_counted_and_left_out() -> None:
    times, sizes = sums(RAW)
    trace = read([[*times, times[-1] + 1, "x"], [*sizes, [1, 2], [0] * 9]])
    assert held(trace) == held(read(RAW))
    assert defects(trace) == {"unusable_memory_record": 2}


@pytest.mark.parametrize(
    "text",
    [b"[[1, 2, 3, 4], [5", b"[[1, 2, 3, 4], 5]", b"[[1" + b"[" * 5000, b'[[1, 2, 3, 4], {"a": 1}]'],
)
def test_damage_is_refused(text: bytes) -> None:
    with pytest.raises(NotATrace, match="timeline"):
        read_trace(Stream(text), Settings())


def test_both_files_are_taken_by_their_content(tmp_path: Path) -> None:
    for name, value in (("a.raw.json.gz", RAW), ("b.json", sums(RAW))):
        text = json.dumps(value).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
        assert sniff.rejection(Place(str(path))) is None
        trace, facts = read_file(Place(str(path)), Settings())
        assert facts.summary.has_memory
        assert trace.header["memory_source"] == "timeline"


@pytest.mark.parametrize("text", ["[]", "[[]]", '[["a"]]', '[[{"ph": 1}]]'])
def test_other_lists_of_lists_are_not(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    assert sniff.rejection(Place(str(tmp_path / "a.json"))) is not None
