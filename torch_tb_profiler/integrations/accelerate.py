"""``step_recorder`` for loops with ``accelerate``.

>>> with step_recorder(accelerator) as profiler:      # doctest: +SKIP
...     for batch in loader:
...         train_step(batch)
...         profiler.step()
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch_tb_profiler.integrations.steps import StepRecorder


def step_recorder(
    accelerator: Any, directory: str | os.PathLike[str] | None = None, **options: Any
) -> StepRecorder:
    """A ``StepRecorder`` that writes to ``profiler`` in the accelerator's folder for logs, else in its
    project's, else in ``log``.
    """
    folder = accelerator.logging_dir or accelerator.project_dir or "log"
    return StepRecorder(directory or Path(folder) / "profiler", **options)
