"""Ranks merged into one file are ranks; a merged copy of recordings that are there themselves is set aside."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import torch_tb_profiler
from tests.builders.loop import FIRST_US, Event, document, launched, process, span
from tests.builders.merged import LABELS
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.runs.loading import Unreadable, load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache_dir=str(tmp_path / "cache"), workers=1)


Work = tuple[str, str, float]
"""An operator, its kernel, and how long that takes in µs."""


def rank(
    works: list[Work], *, pid: int = 100, device: int = 0, first_id: int = 1, steps: int = 3
) -> list[Event]:
    """One rank that does the same works in each step of 1 ms."""
    events = process(pid, "python", "CPU") + process(device, "python", f"GPU {device}")
    correlation = first_id
    for step in range(steps):
        at = FIRST_US + 1000.0 * step
        events.append(span("user_annotation", f"ProfilerStep#{step}", pid, pid, at, 1000))
        begins = at + 450
        for number, (operator, kernel, took) in enumerate(works):
            host = at + 10 + 100 * number
            events += launched(
                operator, kernel, host, 80, begins, took, correlation, pid=pid, device=device
            )
            begins, correlation = begins + took, correlation + 1
    return events


def labelled(events: list[Event], label: Any) -> list[Event]:
    return [{**event, "pid": label(event["pid"])} for event in events]


def combined(*ranks: list[Event], label: int | None = 0) -> list[Event]:
    """The events of all ranks, with labels beside their process ids."""
    form = LABELS[label] if label is not None else lambda _, pid: pid
    return [
        event
        for number, events in enumerate(ranks)
        for event in labelled(events, lambda pid, n=number: form(n, pid))
    ]


def write(path: Path, content: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def device_us(path: Path) -> dict[str, dict[str, float]]:
    """By worker the device time of each operator in µs."""
    table = torch_tb_profiler.open(path, use_cache=False).operators()
    told: dict[str, dict[str, float]] = {}
    for row in table.to_dict("records"):
        told.setdefault(row["worker"], {})[row["name"]] = row["device_self_ns"] / 1000
    return told


MM = [("aten::mm", "kern_rank0", 100.0)]
RELU = [("aten::relu", "kern_rank1", 200.0)]


@pytest.mark.parametrize("label", range(len(LABELS)))
@pytest.mark.parametrize("first_id", [1, 100_001])
def test_labelled_ranks_with_ids_that_clash_or_not(
    tmp_path: Path, label: int, first_id: int
) -> None:
    events = combined(rank(MM), rank(RELU, first_id=first_id), label=label)
    path = write(tmp_path / "merged-p1.trace.json.gz", document(events, rank=0, world=2))
    told = device_us(path)
    assert len(told) == 2
    assert list(told.values()) == [{"aten::mm": 300.0}, {"aten::relu": 600.0}]


def test_ranks_with_processes_and_devices_of_their_own(tmp_path: Path) -> None:
    first = rank([("aten::mm", "gemm", 400.0), ("aten::relu", "relu", 50.0)])
    second = rank([("aten::bmm", "bmm", 300.0), ("aten::gelu", "gelu", 60.0)], pid=101, device=1)
    path = write(tmp_path / "merged-id.trace.json", document(combined(first, second)))
    assert device_us(path) == {
        "TP00": {"aten::mm": 1200.0, "aten::relu": 150.0},
        "TP01": {"aten::bmm": 900.0, "aten::gelu": 180.0},
    }


@pytest.mark.parametrize("kind", ["process_name", "process_labels"])
def test_labels_in_the_names_of_processes(tmp_path: Path, kind: str) -> None:
    """Ids stay numbers: those of the second rank are moved away from those of the first."""
    events = []
    for number, own in enumerate((rank(MM), rank(RELU))):
        for event in own:
            moved = {**event, "pid": event["pid"] + 1_000_000 * number}
            if event["name"] == kind:
                (key,) = event["args"]
                moved["args"] = {key: f"rank {number}: {event['args'][key]}"}
            events.append(moved)
    told = device_us(write(tmp_path / "m.json", document(events)))
    assert told == {"rank 0": {"aten::mm": 300.0}, "rank 1": {"aten::relu": 600.0}}


def test_the_ranks_of_a_file_are_ranks_of_a_job(tmp_path: Path, settings: Settings) -> None:
    events = combined(rank(MM), rank(RELU))
    path = write(tmp_path / "run" / "merged-p1.trace.json.gz", document(events, rank=0, world=2))
    found = [item for item in load_all(str(path), settings) if isinstance(item, Opened)]
    workers = found[0].run.workers
    assert [(w.name, w.rank, w.world_size) for w in workers] == [("TP00", 0, 2), ("TP01", 1, 2)]
    assert len({worker.job for worker in workers}) == 1
    for opened, expected in zip(found, (300_000, 600_000), strict=True):
        assert opened.facts["steps"].n == 3
        assert opened.facts.summary.work[1] == expected
        assert opened.span.path == "merged-p1.trace.json.gz"
    # A rank by its number, alone; also when the import is kept.
    for _ in range(2):
        (second,) = load_all(str(path), settings, workers=["1"])
        assert isinstance(second, Opened)
        assert second.worker.name == "TP01"


def test_without_labels_processes_are_ranks(tmp_path: Path) -> None:
    """Nothing beside the ids of processes and devices tells the ranks apart."""
    works = [("aten::mm", "a", 60.0), ("aten::relu", "b", 20.0), ("aten::add", "c", 30.0)]
    first, second = rank(works), rank([*works, ("aten::gelu", "d", 10.0)], pid=101, device=1)
    path = write(
        tmp_path / "c.json", document(combined(first, second, label=None), rank=1, world=2)
    )
    told = device_us(path)
    assert told["pid 100"] == {"aten::mm": 180.0, "aten::relu": 60.0, "aten::add": 90.0}
    assert told["pid 101"] == {**told["pid 100"], "aten::gelu": 30.0}


def files_beside(folder: Path, merged: str, *, ids: bool) -> list[Path]:
    """Two ranks' own files as SGLang names them, and a merged one."""
    ranks = [
        rank(
            [("aten::mm", "gemm", 200.0 + 100 * n)],
            pid=100 + n,
            device=n,
            first_id=1 + ids * n * 100,
        )
        for n in range(2)
    ]
    files = [
        write(folder / f"1700000000.5-TP-{n}.trace.json.gz", document(events, rank=n, world=2))
        for n, events in enumerate(ranks)
    ]
    return [*files, write(folder / merged, document(combined(*ranks), rank=0, world=2))]


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize(
    "merged", ["merged-1700000000.5.trace.json.gz", "all_ranks.json", "Combined.trace.json.gz"]
)
@pytest.mark.slow
def test_a_merged_copy_beside_the_ranks_files(
    tmp_path: Path, settings: Settings, merged: str, ids: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    files_beside(tmp_path / "run", merged, ids=ids)
    found = list(load_all(str(tmp_path / "run"), settings))
    opened = [item for item in found if isinstance(item, Opened)]
    assert [item.worker.rank for item in opened] == [0, 1]
    assert len(opened[0].run.workers) == 2
    (aside,) = (item for item in found if isinstance(item, Unreadable))
    assert (aside.path, aside.rejected) == (merged, True)
    assert "merged copy" in aside.message
    assert main(["doctor", str(tmp_path / "run"), "--json"]) == 0
    doctor = msgspec.json.decode(capsys.readouterr().out)
    assert len(doctor["traces"]) == 2
    assert [file["path"] for file in doctor["unreadable"]] == [merged]


def test_a_rank_whose_own_file_is_missing_comes_from_the_merged_one(
    tmp_path: Path, settings: Settings
) -> None:
    files = files_beside(tmp_path / "run", "merged-1700000000.5.trace.json.gz", ids=False)
    files[1].unlink()
    found = [item for item in load_all(str(tmp_path / "run"), settings) if isinstance(item, Opened)]
    assert [(item.worker.rank, item.facts.summary.work[1]) for item in found] == [
        (0, 600_000),
        (1, 900_000),
    ]


def test_a_merged_file_of_another_time_is_no_copy(tmp_path: Path, settings: Settings) -> None:
    files = files_beside(tmp_path / "run", "again.json", ids=False)
    content = json.loads(files[2].read_text())
    content["baseTimeNanoseconds"] += 100 * 10**9
    write(files[2], content)
    found = [item for item in load_all(str(tmp_path / "run"), settings) if isinstance(item, Opened)]
    assert len(found) == 4


def test_ranks_of_one_file_are_compared_each_with_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "m.json", document(combined(rank(MM), rank(RELU)), rank=0, world=2))
    assert main(["diff", str(path), str(path), "--format", "json"]) == 0
    workers = msgspec.json.decode(capsys.readouterr().out)["workers"]
    kernel_ns = [
        [worker[side]["steps"][0]["categories_ns"]["kernel"] for side in "ab"] for worker in workers
    ]
    assert kernel_ns == [[100_000, 100_000], [200_000, 200_000]]
