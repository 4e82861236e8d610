"""The generator: the same bytes every time, and a text that says what the ledger says."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.samples.conftest import document

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def ns(text_of_us: str) -> int:
    """Kineto's microseconds with three decimals, exactly."""
    whole, fraction = text_of_us.split(".")
    assert len(fraction) == 3
    return int(whole) * 1000 + int(fraction)


def events_of(path: Path) -> list[dict[str, Any]]:
    """Entries of traceEvents, times as integer ns from the decimal text."""
    parsed = json.loads(path.read_text(encoding="utf-8"), parse_float=str)
    events: list[dict[str, Any]] = parsed["traceEvents"]
    for event in events:
        event["start"] = ns(event["ts"])
        event["end"] = event["start"] + (ns(event["dur"]) if "dur" in event else 0)
    return events


@pytest.fixture(scope="module")
def rank0(small_run: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return events_of(small_run / "rank0.pt.trace.json"), document(small_run / "rank0.expected.json")


def test_same_arguments_give_same_bytes(generator: Any, small_run: Path, tmp_path: Path) -> None:
    generator.synthesize(tmp_path, ranks=2, steps=3, seed=1)
    names = sorted(path.name for path in small_run.iterdir())
    assert names == [
        "rank0.expected.json",
        "rank0.pt.trace.json",
        "rank1.expected.json",
        "rank1.pt.trace.json",
    ]
    assert all((tmp_path / name).read_bytes() == (small_run / name).read_bytes() for name in names)


def test_another_seed_gives_other_bytes(generator: Any, small_run: Path, tmp_path: Path) -> None:
    generator.synthesize(tmp_path, ranks=2, steps=3, seed=2)
    assert (tmp_path / "rank0.pt.trace.json").read_bytes() != (
        small_run / "rank0.pt.trace.json"
    ).read_bytes()


def test_packed_is_the_same_trace(generator: Any, small_run: Path, tmp_path: Path) -> None:
    generator.synthesize(tmp_path, ranks=2, steps=3, seed=1, packed=True, expected=False)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "rank0.pt.trace.json.gz",
        "rank1.pt.trace.json.gz",
    ]
    text = gzip.decompress((tmp_path / "rank1.pt.trace.json.gz").read_bytes())
    assert text.replace(b".json.gz", b".json") == (small_run / "rank1.pt.trace.json").read_bytes()


@pytest.mark.slow
def test_committed_run_is_what_its_command_writes(
    generator: Any, samples: Path, tmp_path: Path
) -> None:
    generator.synthesize(tmp_path, ranks=8, steps=7, layers=4)
    for rank in range(8):
        committed = gzip.decompress(
            (samples / "synthetic_ddp8" / f"rank{rank}.pt.trace.json.gz").read_bytes()
        )
        assert (
            committed.replace(b".json.gz", b".json")
            == (tmp_path / f"rank{rank}.pt.trace.json").read_bytes()
        )
        name = f"rank{rank}.expected.json"
        assert (samples / "synthetic_ddp8" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_command_line_writes_as_many_events_as_asked(samples: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-B",
        str(samples / "synthesize.py"),
        "--out",
        str(tmp_path),
        "--events",
        "5000",
        "--no-expected",
    ]
    subprocess.run(command, check=True, capture_output=True)
    assert [path.name for path in tmp_path.iterdir()] == ["rank0.pt.trace.json"]
    assert 5000 <= len(events_of(tmp_path / "rank0.pt.trace.json")) < 6000


def test_says_that_it_is_synthetic(small_run: Path) -> None:
    header = document(small_run / "rank1.pt.trace.json")
    assert header["synthetic"] is True
    assert "Made up" in header["note"]
    assert header["distributedInfo"]["rank"] == 1
    assert header["distributedInfo"]["world_size"] == 2
    assert all("Synthetic" in device["name"] for device in header["deviceProperties"])


def test_ledger_counts_what_the_text_holds(
    rank0: tuple[list[dict[str, Any]], dict[str, Any]],
) -> None:
    events, expected = rank0
    assert expected["events"]["total"] == len(events)
    kernels: dict[str, list[int]] = {}
    for event in events:
        if event.get("cat") == "kernel":
            kernels.setdefault(event["name"], []).append(event["end"] - event["start"])
    shown = [
        {"name": name, "calls": len(d), "total_ns": sum(d), "min_ns": min(d), "max_ns": max(d)}
        for name, d in sorted(kernels.items())
    ]
    assert shown == expected["kernels"]
    launches = {
        event["args"]["correlation"]
        for event in events
        if event.get("cat") in ("cuda_runtime", "cuda_driver")
    }
    device = [event for event in events if event.get("cat") in DEVICE]
    launched = [event for event in device if event["args"]["correlation"] in launches]
    assert expected["attribution"]["device_events"] == len(device)
    assert (
        expected["attribution"]["with_launch"]
        == len([event for event in launched if event["cat"] == "kernel"])
        == expected["attribution"]["kernels"] - 2
    )


def test_host_total_of_operators_is_in_the_text(
    rank0: tuple[list[dict[str, Any]], dict[str, Any]],
) -> None:
    events, expected = rank0
    total: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for event in events:
        if event.get("cat") == "cpu_op":
            total[event["name"]] += event["end"] - event["start"]
            calls[event["name"]] += 1
    for row in expected["operators"]:
        if row["name"] == "aten::linear":
            # Every call is one only child in another of the same name: half the calls remain.
            assert row["calls"] * 2 == calls["aten::linear"]
            assert row["host_total_ns"] < total["aten::linear"]
        else:
            assert (row["calls"], row["host_total_ns"]) == (calls[row["name"]], total[row["name"]])
    assert {row["name"] for row in expected["operators"]} == set(calls)


def test_categories_add_up_and_windows_do_not_overlap(
    rank0: tuple[list[dict[str, Any]], dict[str, Any]],
) -> None:
    steps = rank0[1]["steps"]
    assert [step["name"] for step in steps] == [
        "ProfilerStep#3",
        "ProfilerStep#4",
        "ProfilerStep#5",
    ]
    for step in steps:
        assert sum(step["categories_ns"].values()) == step["wall_ns"]
        assert step["categories_ns"]["kernel"] > 0
        assert step["categories_ns"]["communication"] > 0
    assert all(
        before["start_ns"] + before["wall_ns"] <= after["start_ns"]
        for before, after in pairwise(steps)
    )


def test_streams_overlap_and_threads_nest(
    rank0: tuple[list[dict[str, Any]], dict[str, Any]],
) -> None:
    events = rank0[0]
    kernels = sorted(
        (event["start"], event["end"], event["tid"])
        for event in events
        if event.get("cat") == "kernel"
    )
    assert any(a[1] > b[0] and a[2] != b[2] for a, b in pairwise(kernels))
    assert not any(a[1] > b[0] and a[2] == b[2] for a, b in pairwise(kernels))
    for tid in {event["tid"] for event in events if event.get("cat") == "cpu_op"}:
        open_ends: list[int] = []
        host = [event for event in events if event["ph"] == "X" and event["tid"] == tid]
        for event in sorted(host, key=lambda event: (event["start"], -event["end"])):
            while open_ends and open_ends[-1] <= event["start"]:
                open_ends.pop()
            assert not open_ends or event["end"] <= open_ends[-1]
            open_ends.append(event["end"])


def test_ranks_wait_for_the_last_and_a_graph_has_one_launch(small_run: Path) -> None:
    ranks = [events_of(small_run / f"rank{rank}.pt.trace.json") for rank in range(2)]
    skews = [
        document(small_run / f"rank{rank}.expected.json")["story"]["clock_skew_ns"]
        for rank in range(2)
    ]
    assert skews[0] != skews[1]
    spans = [
        [
            (event["start"] - skew, event["end"] - skew)
            for event in events
            if event["name"].startswith("ncclDevKernel")
        ]
        for events, skew in zip(ranks, skews, strict=True)
    ]
    assert len(spans[0]) == len(spans[1]) == 6
    assert all(
        max(a[0], b[0]) < min(a[1], b[1]) and abs(a[1] - b[1]) < 400
        for a, b in zip(*spans, strict=True)
    )
    graphs = Counter(
        event["args"]["correlation"]
        for event in ranks[0]
        if event.get("cat") == "kernel" and event["args"]["correlation"]
    )
    assert sorted(count for count in graphs.values() if count > 1) == [20, 20, 20]
