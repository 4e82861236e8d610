"""Frames, flame graphs and parts of traces as files."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas
import pytest

import torch_tb_profiler
from tests.api.traces import write
from tests.builders import nsight, nvprof
from tests.builders.drawn import events, text_of
from torch_tb_profiler.api import export
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.errors import BadRequest, MissingPackage, SourceError
from torch_tb_profiler.tables.registry import OF_A_TRACE


def text(frame: pandas.DataFrame) -> str:
    file = io.BytesIO()
    export.write_table(frame, file, "csv")
    assert not file.closed
    return file.getvalue().decode()


@pytest.mark.parametrize("name", OF_A_TRACE)
def test_every_table_as_csv(one: TraceFrames, name: str) -> None:
    frame = export.table(one, name)
    rows = list(csv.DictReader(io.StringIO(text(frame), newline="")))
    assert len(rows) == len(frame)
    assert all(list(row) == list(frame.columns) for row in rows)


def test_a_table_is_computed_once(one: TraceFrames, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    make = TraceFrames._table

    def counted(frames: TraceFrames, name: str, steps: Any = None, **options: Any) -> Any:
        computed.append(name)
        return make(frames, name, steps, **options)

    monkeypatch.setattr(TraceFrames, "_table", counted)
    export.table(one, "steps")
    export.table(one, "operators")
    assert computed == ["steps", "operators"]


def test_what_stands_in_a_csv(one: TraceFrames) -> None:
    lines = text(export.table(one, "operators", "shape")).split("\r\n")
    assert lines[0].startswith("name,input_shapes,input_dtypes,time_share,calls,device_self_ns")
    assert (
        """aten::mm,"[[8,4],[4,2]]","[""float"",""float""]",0.35294117647058826,1,12000,12000,23000,23000,23000.0,23000.0,,23000,23000,true,,,128,224,launch"""
        in lines
    )
    assert (
        "aten::add,,,0.29411764705882354,1,10000,10000,16000,16000,16000.0,16000.0,,16000,16000,false,0.0,0.0,,,launch"
        in lines
    )


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "w0.pt.trace.json"
    path.write_text(
        text_of(events("main [a  ] [b ] [c]", names={"a": '=HYPERLINK("x")', "b": "+1", "c": "-"}))
    )
    trace = torch_tb_profiler.open(path, use_cache=False)
    for name in ("operators", "events"):
        cells = [
            cell
            for row in csv.reader(io.StringIO(text(export.table(trace, name)), newline=""))
            for cell in row
        ]
        assert {'\'=HYPERLINK("x")', "'+1", "-"} <= set(cells)
        assert not [cell for cell in cells if cell[:1] in "=+@" and cell]


@pytest.mark.parametrize(
    ("name", "by"), [("nothing", None), ("steps", "name"), ("operators", "colour")]
)
def test_tables_that_are_not_there(one: TraceFrames, name: str, by: str | None) -> None:
    with pytest.raises(BadRequest):
        export.table(one, name, by)


def test_parquet_and_arrow_need_a_package(
    one: TraceFrames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    forms: tuple[export.TableForm, ...] = ("parquet", "arrow")
    for form in forms:
        with pytest.raises(MissingPackage, match="need pyarrow") as caught:
            export.write_table(one.steps, io.BytesIO(), form)
        assert "pip install pyarrow" in caught.value.hint


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("name", OF_A_TRACE)
def test_every_table_as_parquet_and_arrow(one: TraceFrames, name: str, form: Any) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed; only these exports need it")
    import pyarrow.ipc
    import pyarrow.parquet

    frame, file = export.table(one, name), io.BytesIO()
    export.write_table(frame, file, form)
    file.seek(0)
    read = (
        pyarrow.parquet.read_table(file)
        if form == "parquet"
        else pyarrow.ipc.open_file(file).read_all()
    )
    assert read.column_names == list(frame.columns)
    assert read.num_rows == len(frame)
    assert {field.name: field.metadata[b"unit"].decode() for field in read.schema} == frame.attrs[
        "units"
    ]
    whole = [key for key in frame.columns if str(frame[key].dtype) in ("int64", "Int64")]
    assert {key: read.column(key).to_pylist() for key in whole} == {
        key: [None if v is pandas.NA else v for v in frame[key].tolist()] for key in whole
    }


def test_folded_stacks_add_up(one: TraceFrames) -> None:
    lines = b"".join(export.flame(one, "module", "folded")).decode().splitlines()
    total = sum(int(line.rpartition(" ")[2]) for line in lines)
    assert total == one.kernels()["total_ns"].sum()
    assert "aten::linear;aten::mm 12000" in lines
    host = b"".join(export.flame(one.in_steps(1), "module", "folded", "host")).decode()
    assert "aten::linear" not in host


def test_speedscope(one: TraceFrames) -> None:
    found = json.loads(b"".join(export.flame(one, "module", "speedscope")))
    assert found["profiles"][0]["unit"] == "nanoseconds"


def opened(pieces: Any, path: Path) -> TraceFrames:
    path.parent.mkdir(exist_ok=True)
    export.save(pieces, path)
    found = torch_tb_profiler.open(path, use_cache=False)
    assert isinstance(found, TraceFrames)
    return found


def test_a_part_opens_again(one: TraceFrames, tmp_path: Path) -> None:
    whole = opened(export.part(one), tmp_path / "whole.pt.trace.json.gz")
    assert whole.operators().equals(one.operators())
    second = opened(export.part(one.in_steps(1)), tmp_path / "second.pt.trace.json.gz")
    assert second.steps["name"].tolist() == ["ProfilerStep#2"]
    assert second.kernels()["calls"].tolist() == [1]
    window = opened(export.part(one, 0, 20_000), tmp_path / "window.pt.trace.json.gz")
    assert "aten::add" not in set(window.operators()["name"])


def test_a_part_of_some_kinds(one: TraceFrames, tmp_path: Path) -> None:
    found = opened(
        export.part(one, kinds={"kernel", "runtime"}), tmp_path / "kinds.pt.trace.json.gz"
    )
    assert found.events["role"].value_counts().loc[lambda counts: counts > 0].to_dict() == {
        "kernel": 3,
        "runtime": 3,
    }
    assert found.events["launch"].notna().sum() == 3
    text = json.loads(gzip.decompress((tmp_path / "kinds.pt.trace.json.gz").read_bytes()))
    assert text["deviceProperties"][0]["name"] == "NVIDIA H100 80GB HBM3"
    with pytest.raises(BadRequest, match="shoes"):
        export.part(one, kinds={"kernel", "shoes"})


def test_a_part_of_a_real_trace(real_traces: Path, tmp_path: Path) -> None:
    """Arrows, memory records and metadata, in chunks of text as a real writer writes them."""
    trace = torch_tb_profiler.open(real_traces / "h100_bert_small")
    assert isinstance(trace, TraceFrames)
    found = opened(
        export.part(trace, kinds={"operator", "runtime", "kernel", "memory"}),
        tmp_path / "part.pt.trace.json.gz",
    )
    assert set(found.events["role"]) == {"operator", "runtime", "kernel"}
    assert found.kernels(by="name")["total_ns"].tolist() == trace.kernels()["total_ns"].tolist()
    assert len(found.memory) == len(trace.memory)
    assert found.trace["flows"].n > 0
    assert list(found.facts.defects) == list(trace.facts.defects)


@pytest.mark.parametrize("name", ["nvprof.sqlite", "nsight.sqlite", "stacks_cuda.txt"])
def test_a_part_of_a_file_that_is_no_json(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".txt"):
        path.write_text(
            "main.py(1): <module>;model.py(3): forward 1200\nmain.py(1): <module> 300\n"
        )
    else:
        {"nvprof": nvprof, "nsight": nsight}[path.stem].write_training(path)
    trace = torch_tb_profiler.open(path, use_cache=False)
    assert isinstance(trace, TraceFrames)
    found = opened(export.part(trace), tmp_path / "again" / "part.pt.trace.json.gz")
    assert len(found.events) == len(trace.events) > 0
    assert found.kernels()["total_ns"].sum() == trace.kernels()["total_ns"].sum()
    kernels = opened(
        export.part(trace, kinds={"kernel"}), tmp_path / "again" / "kernels.pt.trace.json.gz"
    )
    assert len(kernels.events) == (trace.events["role"] == "kernel").sum()


def test_a_window_of_nothing(one: TraceFrames) -> None:
    with pytest.raises(BadRequest, match="holds nothing"):
        export.part(one, 500, 500)


def test_several_traces_are_no_part(tmp_path: Path) -> None:
    run = torch_tb_profiler.open(write(tmp_path, "a", "b"), use_cache=False)
    for ask in (
        lambda: export.part(run),
        lambda: export.flame(run, "line", "folded"),
        lambda: export.table(run, "key_averages"),
    ):
        with pytest.raises(BadRequest, match="2 traces, expected one"):
            ask()


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"

    def half() -> Any:
        yield b"half"
        raise SourceError("The file has gone.")

    with pytest.raises(SourceError, match="gone"):
        export.save(half(), path)
    assert list(tmp_path.iterdir()) == []
    export.save(iter([b"a", b"b"]), path)
    with pytest.raises(BadRequest, match="exists already"):
        export.save(iter([b"c"]), path)
    export.save(iter([b"c"]), path, force=True)
    assert path.read_bytes() == b"c"
    with pytest.raises(SourceError, match="cannot be written"):
        export.save(iter([b"c"]), tmp_path / "nowhere" / "x.csv")
