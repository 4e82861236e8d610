"""Figures per step as a table and as TensorBoard's event files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import torch_tb_profiler
from tests.builders.drawn import events, text_of
from torch_tb_profiler.api.event_files import SUMMARY, TAGS, write_event_files
from torch_tb_profiler.api.frames import RunFrames
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.errors import SourceError

SAMPLES = Path(__file__).parents[2] / "samples"
DRAWN = """
main     [ProfilerStep#7      ][ProfilerStep#8      ]
main     [launch #1][a       ] [launch #2   ]
stream 7    {k #1  }               {k #2        }
"""


def curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Tag → (step, value), as TensorBoard itself reads them."""
    read = EventAccumulator(str(folder))
    read.Reload()
    return {
        tag: [(event.step, event.tensor_proto.float_val[0]) for event in read.Tensors(tag)]
        for tag in read.Tags()["tensors"]
        if tag != SUMMARY
    }


def summary(folder: Path) -> str:
    read = EventAccumulator(str(folder))
    read.Reload()
    return str(read.Tensors(SUMMARY)[-1].tensor_proto.string_val[0].decode())


def test_a_row_per_step(tmp_path: Path) -> None:
    (tmp_path / "w0.pt.trace.json").write_text(text_of(events(DRAWN)))
    frame = torch_tb_profiler.open(tmp_path / "w0.pt.trace.json", use_cache=False).scalars
    steps = torch_tb_profiler.open(tmp_path / "w0.pt.trace.json", use_cache=False).steps
    assert frame["number"].tolist() == [7, 8]
    assert frame["wall_ns"].tolist() == steps["wall_ns"].tolist()
    assert frame["device_share"].tolist() == pytest.approx(
        (steps["kernel_ns"] / steps["wall_ns"]).tolist()
    )
    assert frame["exposed_ns"].tolist() == [0, 0]
    assert frame["mfu"].isna().all()
    assert frame["memory_bytes"].isna().all()


def test_without_a_device_its_figures_are_unknown() -> None:
    frame = torch_tb_profiler.open(SAMPLES / "cnn_workers_0").scalars
    assert frame["device_share"].isna().all()
    assert frame["exposed_ns"].isna().all()
    assert (frame["wall_ns"] > 0).all()


@pytest.mark.slow
def test_tensorboard_reads_a_curve_per_figure(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(SAMPLES / "synthetic_ddp8", run)
    frames = torch_tb_profiler.open(run, use_cache=False)
    assert isinstance(frames, RunFrames)
    paths = write_event_files(frames, first_step=100)
    assert [path.parent.name for path in paths] == [f"rank{rank}" for rank in range(8)]
    own = frames["rank3"].scalars
    found = curves(run / "scalars" / "rank3")
    assert set(found) <= {tag for tag, _, _ in TAGS.values()}
    steps, times = zip(*found["profiler/step_time_ms"], strict=True)
    assert list(steps) == (own["number"] + 100).tolist()
    assert list(times) == pytest.approx((own["wall_ns"] / 1e6).tolist())
    assert found["profiler/exposed_communication_ms"][0][1] == pytest.approx(
        own["exposed_ns"][0] / 1e6
    )
    assert "p.pytorch_profiler.worker=rank3" in summary(run / "scalars" / "rank3")


def test_what_was_written_is_replaced_only_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SAMPLES / "cnn_workers_0", tmp_path / "run")
    command = ["export", str(tmp_path / "run"), "--what", "scalars"]
    assert main(command) == 0
    assert main(command) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    assert len(list((tmp_path / "run" / "scalars").glob("events.out.tfevents.*"))) == 1


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    frames = torch_tb_profiler.open(SAMPLES / "cnn_workers_0")
    with pytest.raises(SourceError, match="cannot be created or written to"):
        write_event_files(frames, tmp_path / "file" / "below")


def test_the_option_belongs_to_event_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(SAMPLES), "--to", "csv", "--first-step", "3"]) == 2
    assert "--first-step cannot be used with csv" in capsys.readouterr().err
