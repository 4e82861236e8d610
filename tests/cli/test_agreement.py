"""What the commands say agrees with what the DataFrames and the page say of the same traces."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.builders.drawn import Event, events, text_of, trace_of
from tests.builders.loop import span
from tests.web.asked import route
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.cli import main


@pytest.mark.slow
def test_findings_of_a_run_tell_who_holds_the_others_back(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = repository / "samples" / "synthetic_ddp8"
    assert main.main(["findings", str(run), "--json"]) == 0
    told = [
        (t["worker"], f["rule"], f["sentence"])
        for t in json.loads(capsys.readouterr().out)
        for f in t["findings"]
    ]
    frame = torch_tb_profiler.open(run).findings
    assert told == list(frame[["worker", "rule", "sentence"]].itertuples(index=False, name=None))
    assert ("rank5", "late_itself") in {(worker, rule) for worker, rule, _ in told}
    assert main.main(["findings", str(run)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"aten::mm of rank5 #\d+", out)
    assert out.count("Rank 5 holds all others back: 1.74 ms of each 9.86 ms step.") >= 1


def test_runtime_calls_without_a_device_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole: Event = span("user_annotation", "ProfilerStep#1", 1, 1, 0, 100)
    call: Event = span("cuda_runtime", "cudaMalloc", 1, 1, 10, 50, correlation=1)
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(text_of([whole, call]))
    assert main.main(["summary", str(path), "--no-cache"]) == 0
    rows = {
        line.split()[0]: line.split()[1:]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("  Runtime ", "  Kernel "))
    }
    assert rows == {"Kernel": ["–", "–"], "Runtime": ["50.0", "µs", "50.0", "%", "#" * 15]}


def test_rates_above_a_peak_are_explained(real_traces: Path) -> None:
    """A ResNet-50 on a V100: what its cache holds, and convolutions by Winograd's algorithm, which
    by the formula are above the arithmetic peak.
    """
    path = next((real_traces / "v100_resnet50_num_workers_4").glob("*.json*"))
    for by in ("operator", "kernel"):
        found = torch_tb_profiler.open(path).efficiency(by=by)
        assert not (found["flops_share"] > 1).any()
        assert (found["bytes_share"] > 1.05).any()
        assert found["flops_share"][found["fast"]].isna().all()
        assert (found["flops_rate"] > found["peak"])[found["fast"]].any()
        for told in ("the memory bandwidth", "Winograd"):
            assert any(told in note for note in found.attrs["notes"])


def test_rows_of_shapes_keep_arguments_without_a_shape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two calls whose lists differ in the number of scalars at their end are two rows everywhere."""
    longer, shorter = (
        [[32, 256, 14, 14], [1024, 256, 1, 1], *[[]] * scalars] for scalars in (7, 2)
    )
    listed = events("main [aten::convolution ] [aten::convolution ]")
    for event, dims in zip(listed, (longer, shorter), strict=True):
        event["args"] = {"Input Dims": dims}
    texts = {json.dumps(dims, separators=(",", ":")) for dims in (longer, shorter)}
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(text_of(listed))

    def printed(*arguments: str) -> str:
        assert main.main([*arguments, "--by", "shape", "--no-cache"]) == 0
        return capsys.readouterr().out

    asked = ("operators", str(path))
    assert (
        set(route(derive(trace_of(listed)), "/operator", group="shape")["rows"]["input_shapes"])
        == texts
    )
    lines = {line.split()[-1] for line in printed(*asked).splitlines() if "[[" in line}
    assert lines == texts
    assert {
        row["input_shapes"] for row in json.loads(printed(*asked, "--json"))[0]["operators"]
    } == texts
    assert all(f"`{text}`" in printed(*asked, "--markdown") for text in texts)
    main_csv = tmp_path / "operators.csv"
    printed("export", str(path), "--what", "operators", "-o", str(main_csv))
    rows = csv.DictReader(io.StringIO(main_csv.read_text(encoding="utf-8"), newline=""))
    assert {row["input_shapes"] for row in rows} == texts
    trace = torch_tb_profiler.open(path, use_cache=False)
    assert set(trace.operators(by="shape")["input_shapes"]) == texts
    assert set(trace.events["input_shapes"]) == texts
    averages = trace.key_averages(group_by_input_shape=True)
    assert {json.dumps(row.input_shapes, separators=(",", ":")) for row in averages} == texts
