"""The whole road with the real import: files, worker processes, sidecars, opened traces."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.builders.loop import span
from tests.runs.conftest import LONG_AGO_NS, Start, spans, states, until, write
from torch_tb_profiler.errors import ImportFailed
from torch_tb_profiler.runs.products import IMPORT


def trace(events: int = 2000) -> str:
    spans = [span("cpu_op", f"aten::op{i}", 1, 1, i * 10, 5) for i in range(events)]
    return json.dumps(
        {
            "schemaVersion": 1,
            "distributedInfo": {"rank": 1, "world_size": 2, "backend": "gloo"},
            "traceEvents": spans,
        }
    )


def packed(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))


def test_good_cut_and_bad_files_side_by_side(logdir: Path, start: Start) -> None:
    whole = gzip.compress(trace().encode())
    packed(logdir / "run" / "a.1.pt.trace.json.gz", whole)
    packed(logdir / "run" / "a.2.pt.trace.json.gz", whole[: len(whole) // 2])
    write(logdir / "run" / "cut.json", trace()[:50_000])
    write(logdir / "run" / "page.pt.trace.json", "<html></html>")
    write(logdir / "run" / "settings.json", '{"lr": 0.1}')
    catalogue = start(logdir, maker=IMPORT.maker)
    until(
        lambda: (
            len(states(catalogue)) == 5
            and set(states(catalogue).values()) <= {"ready", "failed", "rejected"}
        )
    )
    assert states(catalogue) == {
        "run/a.1.pt.trace.json.gz": "ready",
        "run/a.2.pt.trace.json.gz": "ready",
        "run/cut.json": "ready",
        "run/page.pt.trace.json": "failed",
        "run/settings.json": "rejected",
    }
    found = spans(catalogue)
    assert (
        found["run/a.1.pt.trace.json.gz"].events,
        found["run/a.1.pt.trace.json.gz"].message,
    ) == (2000, "")
    assert 0 < (found["run/a.2.pt.trace.json.gz"].events or 0) < 2000
    assert "ends early" in found["run/a.2.pt.trace.json.gz"].message
    assert "at byte 50\u202f000" in found["run/cut.json"].message
    opened = catalogue.open("run", "a", "1")
    assert opened.trace["spans"].n == 2000
    assert (opened.worker.rank, opened.worker.world_size) == (1, 2)
    with pytest.raises(ImportFailed, match="HTML"):
        catalogue.open("run", "page", "trace")


def test_the_next_start_reads_sidecars_only(logdir: Path, start: Start) -> None:
    write(logdir / "run" / "w.json", trace())
    first = start(logdir, maker=IMPORT.maker)
    until(lambda: "ready" in states(first).values())
    first.close()
    second = start(logdir, maker="tests.runs.targets:gone")
    until(lambda: "ready" in states(second).values())
    assert (
        second.open("run", "w", "trace").facts.summary
        == first.open("run", "w", "trace").facts.summary
    )
    assert not second.store.queue.started
