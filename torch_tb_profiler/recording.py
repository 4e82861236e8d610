"""``record``: PyTorch's own profiler with what every view needs switched on, and one file per
worker at the end, whatever happens.

::

    step           0      1      2      3 … 7            8 …
    default     [ kept in case  ][ warm ][ recorded ]  written, nothing runs any more
                    ▲ written instead when the loop ends before step 3, or step() is never called

The first steps are recorded without call stacks: following Python through a first iteration, in
which models may be compiled, can take more memory than there is. PyTorch is imported when a
recording starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from torch_tb_profiler.errors import BadRequest, MissingPackage, SourceError

KEPT = 2
"""First steps at most that are kept in case the loop ends early."""
DEFAULTS: dict[str, bool] = {"record_shapes": True, "profile_memory": True, "with_stack": True}
"""Without ``with_modules``: ``nn.Module``s come with the stacks, and since 2.14 PyTorch warns of
it. Without ``with_flops``: PyTorch 2.13 counts while it
measures, which made a multiplication of 4 µs one of 40 to 80. We count from the shapes afterwards.
"""
_EXPERIMENTAL = {"enable_cuda_sync_events": True}
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
"""Variables in which torchrun, Open MPI, MPICH and Slurm tell a process its rank."""
_NO_NAME = frozenset("/\\\0")


class Recording:
    """A recording that is made; see ``record``.

    Attributes:
        paths: the files that were written.
        profile: the ``torch.profiler.profile`` that runs now, None while none does.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        warmup: int,
        active: int,
        repeat: int,
        ranks: int | Iterable[int] | None,
        worker: str | None,
        options: dict[str, Any],
    ) -> None:
        if warmup < 0 or active < 1 or repeat < 1:
            raise BadRequest(
                f"warmup={warmup}, active={active}, repeat={repeat}: expected at least 0, 1 and 1."
            )
        if worker is not None and (not worker or _NO_NAME & set(worker) or worker.startswith(".")):
            raise BadRequest(
                f"The worker's name {worker!r} cannot be part of a file name.",
                "Leave out slashes and a dot in front.",
            )
        if "://" in str(directory):
            raise BadRequest(
                f"{directory} is a URL; recordings are written to folders.",
                "Give a local folder and copy its files afterwards.",
            )
        self.directory = Path(directory).expanduser()
        self.paths: list[Path] = []
        self.profile: Any = None
        self._warmup, self._active, self._cycles, self._worker = warmup, active, repeat, worker
        self._ranks = None if ranks is None else {ranks} if isinstance(ranks, int) else set(ranks)
        self._ready: Callable[[Any], object] | None = options.pop("on_trace_ready", None)
        self._schedule: Callable[[int], Any] | None = options.pop("schedule", None)
        self._options = {**DEFAULTS, **options}
        self._torch: Any = None
        self._step, self._begin = 0, 0
        self._kept: Any = None
        self._running = self._empty = False

    def __enter__(self) -> Recording:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.stop()
            return
        # What was recorded before an error is wanted all the more, but the error is what must be
        # seen.
        try:
            self._finish(failed=True)
        except Exception as failed:
            warnings.warn(f"The recording could not be ended: {failed}", stacklevel=2)

    def start(self) -> None:
        """Begin; ``with`` does it.

        Raises:
            MissingPackage: PyTorch is not installed.
            SourceError: the folder cannot be written to.
        """
        if self._torch is not None:
            raise BadRequest("The recording has begun already.", "Use one `record` per recording.")
        self._torch = _torch()
        rank = _rank(self._torch)
        if self._ranks is not None and (rank or 0) not in self._ranks:
            return
        _make(self.directory)
        self._running = True
        self._at_step()

    def step(self) -> None:
        """The end of an iteration.

        Raises:
            BadRequest: the recording was not begun.
        """
        if self._torch is None:
            raise BadRequest(
                "The recording has not begun.",
                "Use it in `with record(...) as p:`, or call p.start() before the loop.",
            )
        self._step += 1
        if not self._running:
            return
        if self._schedule is not None or self.profile is not None:
            self._unbroken(self.profile.step)
        if self._running:
            self._at_step()

    def stop(self) -> None:
        """The end: what is not written yet is written; ``with`` does it."""
        steps, running = self._step, self._running
        self._finish()
        if running and self._kept is not None and self.paths:
            done = (
                f"The loop ended after {steps} step{'' if steps == 1 else 's'}"
                if steps
                else "step() was never called"
            )
            warnings.warn(
                f"{done}: the beginning was recorded, without call stacks. record(..., warmup=0)"
                " records everything from the beginning.",
                stacklevel=3,
            )

    def _finish(self, *, failed: bool = False) -> None:
        if not self._running:
            return
        self._running = False
        # A loop that ends right where the recording began left nothing in it; one that raised there
        # did.
        self._empty = (
            not failed and self._kept is not None and self._step == self._begin + self._warmup
        )
        if self.profile is not None:
            self._end_profile()
        if not self.paths and self._kept is not None:
            self._write(self._kept)
        elif self.paths:
            self._kept = None

    def _at_step(self) -> None:
        """Start and end profilers where the step that begins asks for it."""
        if self._schedule is not None:
            if self.profile is None:
                self._start_profile(self._options, self._schedule, self._save)
            return
        number, record = self._step, self._begin + self._warmup
        kept = min(KEPT, max(self._warmup - 1, 1)) if self._begin == 0 and self._warmup else 0
        if self.profile is not None and number in (kept, record + self._active):
            self._end_profile()
        if number == record + self._active:
            self._cycles -= 1
            self._begin = number
            if not self._cycles:
                self._running = False
                self._kept = None
                return
            record, kept = self._begin + self._warmup, 0
        if number == 0 and kept:
            self._start_profile(
                {**self._options, "with_stack": False}, self._plan(0, kept), self._keep
            )
        elif self.profile is None and number >= record - 1 and number >= kept:
            self._start_profile(
                self._options, self._plan(record, record + self._active), self._save
            )

    def _plan(self, first: int, end: int) -> Callable[[int], Any]:
        """A schedule that records the steps from ``first`` to before ``end``, and warms up before."""
        action = self._torch.profiler.ProfilerAction
        actions = {end - 1: action.RECORD_AND_SAVE, end: action.NONE}
        return lambda n: action.WARMUP if n < first else actions.get(n, action.RECORD)

    def _start_profile(
        self,
        options: dict[str, Any],
        schedule: Callable[[int], Any],
        ready: Callable[[Any], object],
    ) -> None:
        if self._torch.autograd._profiler_enabled():
            # PyTorch has one at a time: ours would take the other's place, whose export then ends
            # the program.
            warnings.warn(
                "Another profiler is running: nothing is recorded. Start it after this recording,"
                " or leave one of them out.",
                stacklevel=4,
            )
            self._running = False
            return
        begin = self._step
        given = {**_experimental(), **options}
        # PyTorch asks for step 0 when it is made, and for its own numbers from then on, which shall
        # be those of the loop.
        self.profile = self._torch.profiler.profile(
            schedule=lambda n: schedule(max(n, begin)), on_trace_ready=ready, **given
        )
        self.profile.step_num = begin
        if hasattr(self.profile, "preset_metadata_json"):
            self.profile.preset_metadata_json(
                "torch_version", json.dumps(str(self._torch.__version__))
            )
        self.profile.start()

    def _end_profile(self) -> None:
        profile, self.profile = self.profile, None
        # More than stop(): PyTorch counts steps for its daemon, too.
        self._unbroken(lambda: profile.__exit__(None, None, None))

    def _unbroken(self, action: Callable[[], object]) -> None:
        """A program shall not end because of what watches it: where PyTorch fails the recording
        ends.
        """
        try:
            action()
        except RuntimeError as error:
            self.profile, self._running = None, False
            warnings.warn(f"The recording ended early, PyTorch says: {error}", stacklevel=4)

    def _keep(self, profile: Any) -> None:
        self._kept = profile

    def _save(self, profile: Any) -> None:
        if not self._empty:
            self._write(profile)
            self._kept = None

    def _write(self, profile: Any) -> None:
        """Everything is written beside its place under a hidden name, which no one who looks at the
        folder takes for a trace, and renamed at the end.
        """
        if _was_taken_over(profile):
            warnings.warn(
                "Another profiler was started within the recording and took its place: nothing is"
                " written.",
                stacklevel=2,
            )
            return
        rank = _rank(self._torch)
        worker = self._worker or (f"rank{rank}" if rank is not None else "worker0")
        name = f"{worker}.{time.time_ns()}.pt.trace.json.gz"
        text, packed = self.directory / f".{name}.text", self.directory / f".{name}.part"
        try:
            profile.export_chrome_trace(str(text))
            _pack(text, packed)
            os.replace(packed, self.directory / name)
        except (OSError, RuntimeError) as error:
            # A program shall not end because of what watches it: a full disk costs the recording
            # alone.
            warnings.warn(
                f"The recording could not be written to {self.directory}: {error}", stacklevel=2
            )
            return
        finally:
            for left in (text, packed):
                with contextlib.suppress(OSError):
                    left.unlink()
        self.paths.append(self.directory / name)
        if self._ready is not None:
            self._ready(profile)


def record(
    directory: str | os.PathLike[str] = "./log",
    *,
    warmup: int = 3,
    active: int = 5,
    repeat: int = 1,
    ranks: int | Iterable[int] | None = None,
    worker: str | None = None,
    **options: Any,
) -> Recording:
    """Record a few steps of a loop into a folder that TensorBoard shows; to be used in ``with``,
    ``step()`` at the end of each iteration.

    >>> with torch_tb_profiler.record("./log") as p:      # doctest: +SKIP
    ...     for batch in loader:
    ...         train_step(batch)
    ...         p.step()

    A loop that ends early, one without ``step()`` and one that raises leave a file, too. Loops that
    go on are not slowed down once it is written.

    Args:
        warmup: steps that are passed over first; 0 records from the beginning, to the end where
            ``step()`` is never called.
        active: steps that are recorded.
        repeat: how often, each time after ``warmup`` steps; one file each.
        ranks: ranks of a distributed job that record; None: all.
        worker: name of the file's first part; else ``rank<N>`` where the process knows its rank,
            else ``worker0``.
        options: any of ``torch.profiler.profile``, in the place of our defaults: shapes, memory,
            stacks and modules are recorded, of the host and every accelerator that PyTorch sees.
            ``schedule`` takes the place of ``warmup``, ``active`` and ``repeat``.

    Raises:
        BadRequest: a number is too small, the worker's name is none, or the folder is a URL.
    """
    return Recording(
        directory,
        warmup=warmup,
        active=active,
        repeat=repeat,
        ranks=ranks,
        worker=worker,
        options=options,
    )


def _make(directory: Path) -> None:
    """Make the folder now: that it cannot be written to is to be known before hours of training."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(
            f"{directory} cannot be made: {error}.", "Give a folder that can be written to."
        ) from error
    if not os.access(directory, os.W_OK):
        raise SourceError(f"{directory} cannot be written to.", "Give a folder that can be.")


def _torch() -> Any:
    try:
        torch = import_module("torch")
        import_module("torch.profiler")
    except ImportError as error:
        raise MissingPackage(
            f"record() needs PyTorch, which cannot be imported: {error}.",
            "Install torch where the program runs.",
        ) from error
    return torch


def _experimental() -> dict[str, Any]:
    """Options that not every version of PyTorch knows."""
    with contextlib.suppress(ImportError, AttributeError, TypeError):
        return {
            "experimental_config": (
                import_module("torch._C._profiler")._ExperimentalConfig(**_EXPERIMENTAL)
            )
        }
    return {}


def _was_taken_over(profile: Any) -> bool:
    """Whether a profiler that was started later ended this one; PyTorch has no results then, and
    exporting them ends the program.
    """
    began = getattr(
        getattr(getattr(profile, "profiler", None), "kineto_results", None), "trace_start_ns", None
    )
    return began is not None and not began()


def _rank(torch: Any) -> int | None:
    """The rank of this process; None where nothing tells that there are several."""
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    for variable in _RANKS:
        text = os.environ.get(variable, "")
        if text.isascii() and text.isdigit():
            return int(text)
    return None


def _pack(text: Path, packed: Path) -> None:
    from shutil import copyfileobj

    # Several times as fast as Python's own, and what it writes is as good for every reader.
    igzip: Any = import_module("isal.igzip")
    with text.open("rb") as plain, igzip.open(packed, "wb") as file:
        copyfileobj(plain, file, 1 << 20)
