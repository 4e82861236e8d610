"""``StepRecorder``: a few steps of a training run now and then, which never ends the run.

::

    step      0 … 9   10        11  12  13      14 …              510        511 …
    every=500 run     warm up   recorded        run               warm up    recorded
                                                ▲ written; another process writes curves of it
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from torch_tb_profiler.child_process import start
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.recording import Recording
from torch_tb_profiler.store.memory import free_memory, resident_memory
from torch_tb_profiler.units import format_bytes

Ranks = Literal["all"] | int | Iterable[int]
WAIT_SECONDS = 120.0
"""For the curves, once the run has ended."""
_LEAST_FREE_BYTES = 256 << 20
"""Of the disk; below it nothing is recorded."""


class StepRecorder:
    """Records ``active`` steps after the first ``skip``, and again every ``every`` steps.

    >>> with StepRecorder("runs/profiler") as profiler:      # doctest: +SKIP
    ...     for batch in loader:
    ...         train_step(batch)
    ...         profiler.step()

    Whatever goes wrong here is a warning, and the run goes on without a recording. Between recordings a
    step costs one comparison.

    Attributes:
        paths: the traces written so far.

    Args:
        directory: where the traces go; TensorBoard looks there, or in a folder above.
        skip: steps before the first recording, the profiler's own warm-up step among them; 0: nothing is recorded
            until ``plan`` asks for it.
        active: steps of a recording.
        every: distance of the begins of recordings, in steps; 0: one recording.
        ranks: which ranks record: ``"all"``, one, or several.
        most_bytes: of all traces of this process; once they have more, no further recording begins.
        most_host_bytes: how much the process may grow during a recording, which ends early beyond;
            None: a quarter of the memory that is free.
        scalars: whether curves and a summary for TensorBoard are written after each recording, by
            another process.
        options: options of ``torch.profiler.profile`` that override those of ``record``.

    Raises:
        BadRequest: a number is too small.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] = "./log",
        *,
        skip: int = 10,
        active: int = 3,
        every: int = 0,
        ranks: Ranks = 0,
        most_bytes: int = 2 << 30,
        most_host_bytes: int | None = None,
        scalars: bool = True,
        **options: Any,
    ) -> None:
        if skip < 0 or active < 1 or (every and every < steps_of(active)):
            raise BadRequest(
                f"skip={skip}, active={active}, every={every}: expected at least 0, 1 and"
                f" {steps_of(active)}, or every=0 for one recording."
            )
        self.directory = Path(directory).expanduser()
        self.paths: list[Path] = []
        self._skip, self._active, self._every = skip, active, every
        self._ranks = None if ranks == "all" else ranks
        self._most, self._most_host = most_bytes, most_host_bytes
        self._scalars, self._options = scalars, options
        self._recording: Recording | None = None
        self._step = 0
        self._next: int | None = None
        self._end = self._allowed = 0
        self._without_scalars: list[Path] = []
        self._writer: tuple[subprocess.Popen[bytes], Any] | None = None

    def __enter__(self) -> StepRecorder:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self, step: int = 0) -> None:
        """The run begins; ``step``: how many steps it took before, as a resumed one."""
        self._step = step
        self._next = step + self._skip - 1 if self._skip else None
        self._at_step()

    def plan(self, step: int, active: int) -> bool:
        """Record ``active`` steps from ``step`` on, by the numbers of the run, also from another thread.

        False: that step has begun already, there is no step before it for the profiler to warm up in,
        or something is being recorded.
        """
        if self.busy or step < self._step + 2:
            return False
        self._active, self._every = active, 0
        self._next = step - 1
        return True

    @property
    def steps(self) -> int:
        """Steps that the run has taken."""
        return self._step

    @property
    def busy(self) -> bool:
        """Whether a recording is planned or runs."""
        if self._next is not None and self._next < self._step:
            self._next = None  # Planned for a step that began at that moment.
        return self._next is not None or self._recording is not None

    def step(self) -> None:
        """A step has ended."""
        self._step += 1
        if self._recording is not None or self._step == self._next:
            self._at_step()

    def end(self) -> None:
        """The run has ended; what is being recorded is written."""
        self._next = None
        self._safely(self._stop)
        while self._without_scalars or self._writer:
            self._safely(lambda: self._write_scalars(wait=True))

    def _at_step(self) -> None:
        recording = self._recording
        if recording is not None:
            self._safely(recording.step)
            if self._step >= self._end:
                self._safely(self._stop)
            elif resident_memory() > self._allowed:
                self._safely(self._stop)
                self._give_up(
                    "The recording ended early: the process grew beyond its budget of host memory."
                    " Record fewer steps, or without stacks (with_stack=False)."
                )
        if self._recording is None and self._step == self._next:
            self._safely(self._start)
            if self._next == self._step:
                self._next = self._step + self._every if self._every else None

    def _start(self) -> None:
        written = sum(path.stat().st_size for path in self.paths if path.exists())
        if written > self._most:
            self._give_up(f"Nothing more is recorded: the traces have {format_bytes(written)}.")
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.directory).free
        if free < _LEAST_FREE_BYTES:
            self._give_up(f"Nothing is recorded: the disk has {format_bytes(free)} left.")
            return
        first, last = self._step, self._step + self._active
        recording = Recording(
            self.directory,
            warmup=0,
            active=1,
            repeat=1,
            ranks=self._ranks,
            worker=None,
            options={"schedule": _plan(first, last), **self._options},
            first_step=first,
        )
        grown = self._most_host if self._most_host is not None else free_memory() // 4
        self._allowed = resident_memory() + grown
        self._end = last + 1
        recording.start()
        self._recording = recording

    def _stop(self) -> None:
        recording = self._recording
        if recording is None:
            return
        try:
            recording.stop()
            self.paths += recording.paths
        finally:
            self._recording = None  # Not before: others see when a recording is over.
        if self._scalars:
            self._without_scalars += recording.paths
            self._write_scalars(wait=False)

    def _write_scalars(self, *, wait: bool) -> None:
        """Have the curves of the next trace written. One after the other, as TensorBoard reads files of
        curves in the order in which they were made.
        """
        if self._writer is not None:
            process, said = self._writer
            if not wait and process.poll() is None:
                return
            self._writer = None
            _finish(process, said)
        if self._without_scalars:
            self._writer = _start_writer(self._without_scalars.pop(0))

    def _safely(self, action: Callable[[], object]) -> None:
        """Where something fails, the run goes on without a recording."""
        try:
            action()
        except Exception as error:
            self._recording = None
            self._give_up(f"Recording failed, and the run goes on without it: {error}")

    def _give_up(self, why: str) -> None:
        self._next = None
        warnings.warn(why, stacklevel=4)


def steps_of(active: int) -> int:
    """Steps that a recording takes: one for the profiler to warm up, and those that are kept."""
    return active + 1


def _plan(first: int, last: int) -> Callable[[int], Any]:
    """Warm up in ``first``, record until ``last``."""

    def action(step: int) -> Any:
        from torch.profiler import ProfilerAction

        if step <= first:
            return ProfilerAction.WARMUP
        if step < last:
            return ProfilerAction.RECORD
        return ProfilerAction.RECORD_AND_SAVE if step == last else ProfilerAction.NONE

    return action


def _start_writer(trace: Path) -> tuple[subprocess.Popen[bytes], Any]:
    """Curves and summary of a trace, by a process that gives way to the run."""
    said = tempfile.TemporaryFile()  # noqa: SIM115 - read and closed when the process has ended
    try:
        return start(
            "cli.main:main",
            ["export", str(trace), "--what", "scalars"],
            niceness=10,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        ), said
    except OSError:
        said.close()
        raise


def _finish(writer: subprocess.Popen[bytes], said: Any) -> None:
    with said:
        try:
            code = writer.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            return
        if code:
            said.seek(0)
            text = said.read().decode("utf-8", "replace").strip()
            warnings.warn(f"The curves of a recording were not written: {text}", stacklevel=4)
