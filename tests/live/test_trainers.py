"""Recordings from real training loops: one line in them, traces and curves where TensorBoard looks, and
no failure of ours ends a run.
"""

from __future__ import annotations

import importlib
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.api.test_scalars import curves, summary
from tests.live.ranks import begun, ended
from torch_tb_profiler.api.opening import open_path
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.integrations.steps import StepRecorder

STEP_TIME = "profiler/step_time_ms"
ROUND: dict[str, Any] = {"skip": 3, "active": 2}


def numbers(folder: Path) -> list[int]:
    """Steps of the curve, by TensorBoard's own reader."""
    return [step for step, _ in curves(folder)[STEP_TIME]]


def train(torch: Any, recorder: StepRecorder, steps: int, first: int = 0) -> int:
    """A plain loop; how many steps it took."""
    model = torch.nn.Linear(32, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    taken = 0
    recorder.begin(first)
    for _ in range(steps):
        model(torch.randn(4, 32)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        recorder.step()
        taken += 1
    recorder.end()
    return taken


def test_a_plain_loop(torch: Any, tmp_path: Path) -> None:
    recorder = StepRecorder(tmp_path, every=10, **ROUND)
    assert train(torch, recorder, 20, first=100) == 20
    assert len(recorder.paths) == 2
    assert open_path(tmp_path, use_cache=False).steps["name"].tolist() == [
        f"ProfilerStep#{number}" for number in (103, 104, 113, 114)
    ]
    assert numbers(tmp_path / "scalars") == [103, 104, 113, 114]
    assert "p.pytorch_profiler.worker=worker0" in summary(tmp_path / "scalars")


def test_a_trainer_of_transformers(torch: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    from torch_tb_profiler.integrations.transformers import ProfilerCallback

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def forward(self, x: Any, labels: Any) -> dict[str, Any]:
            out = self.layer(x).squeeze(-1)
            return {"loss": ((out - labels) ** 2).mean(), "logits": out}

    data = [{"x": torch.randn(8), "labels": torch.tensor(1.0)} for _ in range(48)]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=10, per_device_train_batch_size=2,
        gradient_accumulation_steps=2, report_to=[], use_cpu=True, save_strategy="no",
    )  # fmt: skip
    trainer = transformers.Trainer(
        model=Model(), args=arguments, train_dataset=data, callbacks=[ProfilerCallback(**ROUND)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer.train()
    assert trainer.state.global_step == 10
    assert numbers(tmp_path / "runs" / "profiler" / "scalars") == [3, 4]


def test_a_trainer_of_lightning(torch: Any, tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning.pytorch")
    from torch_tb_profiler.integrations.lightning import ProfilerCallback

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch: Any, _: int) -> Any:
            return self.layer(batch).sum()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.01)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = lightning.Trainer(
            default_root_dir=tmp_path, max_steps=10, accelerator="cpu", logger=False,
            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
            accumulate_grad_batches=2, callbacks=[ProfilerCallback(**ROUND)],
        )  # fmt: skip
        trainer.fit(Module(), torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=2))
    assert trainer.global_step == 10
    assert numbers(tmp_path / "profiler" / "scalars") == [3, 4]


def test_a_loop_with_accelerate(torch: Any, tmp_path: Path) -> None:
    accelerate = pytest.importorskip("accelerate")
    from torch_tb_profiler.integrations.accelerate import step_recorder

    accelerator = accelerate.Accelerator(cpu=True, project_dir=str(tmp_path))
    recorder = step_recorder(accelerator, scalars=False, **ROUND)
    train(torch, recorder, 8)
    assert [path.parent for path in recorder.paths] == [tmp_path / "profiler"]


def _reduce(rank: int, folder: str, ranks: Any) -> None:
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    meeting = f"file://{folder}/meet"
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
    value = torch.ones(8)
    with StepRecorder(f"{folder}/traces", skip=2, active=2, ranks=ranks, scalars=False) as profiler:
        for _ in range(6):
            distributed.all_reduce(value)
            profiler.step()
    distributed.destroy_process_group()
    # PyTorch aborts where gloo's thread drops its last tensor while the interpreter ends.
    os._exit(0)


@pytest.mark.parametrize(("ranks", "workers"), [("all", ["rank0", "rank1"]), (1, ["rank1"])])
def test_two_ranks(torch: Any, tmp_path: Path, ranks: Any, workers: list[str]) -> None:
    assert ended(begun(2, _reduce, str(tmp_path), ranks)) == [0, 0]
    names = sorted(path.name.split(".")[0] for path in (tmp_path / "traces").iterdir())
    assert names == workers


def test_a_folder_that_cannot_be_written_to_ends_no_run(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recorder = StepRecorder(tmp_path / "file" / "below", **ROUND)
    with pytest.warns(UserWarning, match="the run goes on without it"):
        assert train(torch, recorder, 8) == 8
    assert recorder.paths == []


def test_a_disk_without_room_ends_no_run(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 4096}))
    recorder = StepRecorder(tmp_path, **ROUND)
    with pytest.warns(UserWarning, match="the disk has 4.00 KiB left"):
        assert train(torch, recorder, 8) == 8
    assert list(tmp_path.iterdir()) == []


def test_a_failing_export_ends_no_run(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("torch_tb_profiler.recording._pack", fail)
    recorder = StepRecorder(tmp_path, **ROUND)
    with pytest.warns(UserWarning, match="No space left on device"):
        assert train(torch, recorder, 8) == 8
    assert list(tmp_path.iterdir()) == []


def test_beyond_its_budget_of_memory_a_recording_ends_early(torch: Any, tmp_path: Path) -> None:
    recorder = StepRecorder(tmp_path, skip=2, active=5, most_host_bytes=-(1 << 40), scalars=False)
    with pytest.warns(UserWarning, match="budget of host memory"):
        assert train(torch, recorder, 12) == 12


def test_beyond_its_budget_of_bytes_nothing_more_is_recorded(torch: Any, tmp_path: Path) -> None:
    recorder = StepRecorder(tmp_path, every=5, most_bytes=1, scalars=False, **ROUND)
    with pytest.warns(UserWarning, match="the traces have"):
        train(torch, recorder, 20)
    assert len(recorder.paths) == 1


def test_another_profiler_is_left_alone(torch: Any, tmp_path: Path) -> None:
    recorder = StepRecorder(tmp_path, **ROUND)
    with torch.profiler.profile() as own, pytest.warns(UserWarning, match="Another profiler"):
        assert train(torch, recorder, 8) == 8
    assert len(own.events()) > 0


def test_numbers_that_make_no_sense() -> None:
    with pytest.raises(BadRequest):
        StepRecorder(skip=-1)
    with pytest.raises(BadRequest):
        StepRecorder(active=5, every=5)
