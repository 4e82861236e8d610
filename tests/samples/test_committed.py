"""The committed sample runs: readable, small, free of machine paths, each with its row in the
README.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

LIMIT = 15_000_000
RUNS = {
    "cnn_workers_0": 1,
    "cnn_workers_2": 1,
    "transformer": 1,
    "ddp_gloo": 4,
    "inference": 1,
    "synthetic_ddp8": 8,
}
_PATH = re.compile(r'(?:(?<=["\s;(])/(?:[\w.+-]+/)+[\w.+-]*)|[A-Za-z]:\\\\')


def traces(run: Path) -> list[Path]:
    return sorted(run.glob("*.pt.trace.json.gz"))


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest, samples: Path) -> Path:
    return samples / str(request.param)


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return loaded


def test_no_run_is_missing_or_unknown(samples: Path) -> None:
    assert {path.parent.name for path in samples.glob("*/*.pt.trace.json*")} == set(RUNS)


def test_one_trace_per_worker_with_steps_and_everything_on(run: Path) -> None:
    found = traces(run)
    assert len(found) == RUNS[run.name]
    assert len({path.name.split(".")[0] for path in found}) == len(found)
    for path in found:
        trace = load(path)
        assert all(
            trace[option] == 1
            for option in (
                "record_shapes",
                "profile_memory",
                "with_stack",
                "with_modules",
                "with_flops",
            )
        )
        names = {
            event["name"] for event in trace["traceEvents"] if event.get("cat") == "user_annotation"
        }
        steps = [name for name in names if name.startswith("ProfilerStep#")]
        assert len(steps) == {"inference": 0, "synthetic_ddp8": 7}.get(run.name, 4)
        assert trace.get("synthetic", False) is (run.name == "synthetic_ddp8")
        if len(found) > 1:
            assert path.name.startswith(f"rank{trace['distributedInfo']['rank']}.")
            assert trace["distributedInfo"]["world_size"] == len(found)


def test_no_machine_path_and_no_host_name(run: Path) -> None:
    for path in traces(run):
        text = gzip.decompress(path.read_bytes()).decode()
        assert _PATH.findall(text) == []
        assert load(path).get("host_name", "sample") == "sample"
        assert load(path)["traceName"] == path.name


def test_the_check_for_paths_finds_paths() -> None:
    assert _PATH.search(
        '"name": "/somewhere/lib/python3.11/site-packages/torch/nn/modules/linear.py(1): forward"'
    )
    assert _PATH.search('"Call stack": "a.py(1): f;/somewhere/else/b.py(2): g"')
    assert not _PATH.search(
        '"name": "torch/nn/modules/linear.py(130): forward", "bandwidth (GB/s)": 1'
    )


def test_size(samples: Path) -> None:
    assert (
        sum(
            path.stat().st_size
            for path in samples.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        )
        <= LIMIT
    )


def test_readme_has_a_row_for_each_run_and_names_its_program(run: Path, samples: Path) -> None:
    text = (samples / "README.md").read_text(encoding="utf-8")
    (row,) = (line for line in text.splitlines() if line.startswith(f"| `{run.name}` |"))
    program = re.search(r"python samples/(\S+\.py) .*--out samples/(\S+?)[ `]", row)
    assert program is not None
    assert (samples / program[1]).is_file()
    assert program[2] == run.name
    assert ("synthetic" in row) is (run.name == "synthetic_ddp8")
