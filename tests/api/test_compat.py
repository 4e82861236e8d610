"""Lines of other tools, unchanged but for the import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.cli.test_pyprof import SAMPLE, folder, printed
from torch_tb_profiler.compat import TraceAnalysis
from torch_tb_profiler.errors import NotFound

__all__ = ["folder"]


def test_htas_counters_of_a_rank(real_traces: Path) -> None:
    path = real_traces / "a100_alexnet_cupti_ranges"
    analyzer = TraceAnalysis(trace_dir=str(path))
    frame = analyzer.get_cupti_counter_data_with_operators(ranks=[0])[0]
    ours = torch_tb_profiler.open(path).counters
    assert {"cat", "pid", "tid", "ts", "dur", "stream", "correlation", "input_dims"} <= {*frame}
    assert frame["name"].tolist() == ours["kernel"].tolist()
    assert frame["top_level_op"].tolist() == ours["top_op"].tolist()
    assert frame["bottom_level_op"].tolist() == ours["bottom_op"].tolist()
    assert frame["op_stack"].tolist() == [list(stack) for stack in ours["op_stack"]]
    assert set(frame["cat"]) == {"cuda_profiler_range"}
    assert set(frame["dur"]) == {121431.0}
    counters = [name for name in ours.columns if str(name).startswith("smsp__")]
    assert frame[counters].equals(ours[counters])
    (file,) = path.glob("*.json.gz")
    by_file = TraceAnalysis(trace_files={3: str(file)})
    assert by_file.get_cupti_counter_data_with_operators([3])[0].equals(frame)
    with pytest.raises(NotFound, match="rank 0"):
        by_file.get_cupti_counter_data_with_operators()


def module(name: str, *options: str, given: bytes | None = None) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", f"torch_tb_profiler.compat.{name}", *options],
        input=given,
        capture_output=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("file", ["nvprof.sqlite", SAMPLE], ids=["nvprof", "trace"])
def test_pyprofs_programs(
    file: str | Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = module("parse", str(folder / file))
    assert listed.decode() == printed(capsys, folder / file, "--dict")
    net = tmp_path / "net.dict"
    net.write_bytes(listed)
    wide = module("prof", "-w", "150", str(net))
    assert wide.decode() == printed(capsys, folder / file, "-w", "150")
    assert module("prof", "-w", "150", given=listed) == wide
