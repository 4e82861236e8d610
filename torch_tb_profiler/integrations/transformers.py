"""``ProfilerCallback`` for ``transformers.Trainer``.

>>> trainer = Trainer(..., callbacks=[ProfilerCallback()])      # doctest: +SKIP
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from torch_tb_profiler.integrations.steps import StepRecorder


class ProfilerCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Records a few steps; see ``StepRecorder`` for the options.

    ``directory``: None: ``profiler`` below the folder of the trainer's own curves
    (``TENSORBOARD_LOGGING_DIR``, else ``runs`` in ``output_dir``).
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None, **options: Any) -> None:
        self._directory, self._options = directory, options
        self._recorder: StepRecorder | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin."""
        curves = os.environ.get("TENSORBOARD_LOGGING_DIR") or Path(args.output_dir) / "runs"
        self._recorder = StepRecorder(
            self._directory or Path(curves).expanduser() / "profiler", **self._options
        )
        self._recorder.begin(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """An optimizer step has ended."""
        if self._recorder is not None:
            self._recorder.step()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Write what is left."""
        if self._recorder is not None:
            self._recorder.end()
            self._recorder = None
