"""``ProfilerCallback`` for ``lightning.Trainer``.

>>> trainer = Trainer(..., callbacks=[ProfilerCallback()])      # doctest: +SKIP
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch_tb_profiler.integrations.steps import StepRecorder

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback  # type: ignore[no-redef, assignment, unused-ignore]


class ProfilerCallback(Callback):  # type: ignore[misc, unused-ignore]
    """Records a few steps; see ``StepRecorder`` for the options. A step is one of the trainer's ``global_step``.

    ``directory``: None: ``profiler`` in the folder of the trainer's logger, else in its ``default_root_dir``.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None, **options: Any) -> None:
        self._directory, self._options = directory, options
        self._recorder: StepRecorder | None = None
        self._seen = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin."""
        folder = trainer.log_dir or trainer.default_root_dir
        self._recorder = StepRecorder(self._directory or Path(folder) / "profiler", **self._options)
        self._seen = trainer.global_step
        self._recorder.begin(self._seen)

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """A batch has ended, and with it perhaps a step."""
        if self._recorder is not None and trainer.global_step != self._seen:
            self._seen = trainer.global_step
            self._recorder.step()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Write what is left."""
        self._finish()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Write what is left."""
        self._finish()

    def _finish(self) -> None:
        if self._recorder is not None:
            self._recorder.end()
            self._recorder = None
