"""``record``: PyTorch's profiler with everything that the views need; always writes one file per
worker.

::

    step           0      1      2      3 … 7            8 …
    default     [ fallback      ][ warm ][ recorded ]  written; the profiler is off
                    ▲ written instead if the loop ends before step 3 or never calls step()

The fallback has no call stacks: tracing Python through a first iteration, which may compile the
model, can exhaust memory. PyTorch is imported when a recording starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from torch_tb_profiler.atomic_files import make_folder, whole_file
from torch_tb_profiler.errors import BadRequest, MissingPackage

Schedule = Callable[[int], Any]
"""Number of a step → what PyTorch's profiler does in it (``ProfilerAction``)."""
FALLBACK_STEPS = 2
"""At most this many first steps are recorded in case the loop ends early."""
DEFAULTS: dict[str, bool] = {"record_shapes": True, "profile_memory": True, "with_stack": True}
"""``with_modules`` is left out: stacks include ``nn.Module``s, and PyTorch 2.14 warns about it. So
is ``with_flops``: PyTorch 2.13 counts while it measures, which turned a 4 µs multiplication into 40
to 80 µs. We count from the shapes afterwards.
"""
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
"""Environment variables in which torchrun, Open MPI, MPICH and Slurm pass the rank."""
_NO_NAME = frozenset("/\\\0")
_OF_AUTOGRAD = ("use_cpu", "use_device", "use_kineto", "use_mtia")
"""Options of ``torch.autograd.profiler.profile`` that ``torch.profiler`` lacks: they choose
activities.
"""
_ACTIVITIES = {"cuda": "CUDA", "xpu": "XPU", "mtia": "MTIA", "hpu": "HPU"}
"""``use_device`` → name of the ``ProfilerActivity``; any other device is PrivateUse1's."""


class Recording:
    """A recording in progress; see ``record``.

    Attributes:
        paths: the files written so far.
        profile: the running ``torch.profiler.profile``, else None.
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
        first_step: int = 0,
        enabled: bool = True,
    ) -> None:
        if warmup < 0 or active < 1 or repeat < 1:
            raise BadRequest(
                f"warmup={warmup}, active={active}, repeat={repeat}: expected at least 0, 1 and 1."
            )
        if worker is not None and (not worker or _NO_NAME & set(worker) or worker.startswith(".")):
            raise BadRequest(
                f"The worker name {worker!r} cannot be part of a file name.",
                "Remove slashes and leading dots.",
            )
        if "://" in str(directory):
            raise BadRequest(
                f"{directory} is a URL; recordings are written to local folders.",
                "Pass a local folder and copy its files afterwards.",
            )
        _check_activities(options)
        self.directory = Path(directory).expanduser()
        self.paths: list[Path] = []
        self.profile: Any = None
        self._warmup, self._active, self._cycles, self._worker = warmup, active, repeat, worker
        self._ranks = None if ranks is None else {ranks} if isinstance(ranks, int) else set(ranks)
        self._ready: Callable[[Any], object] | None = options.pop("on_trace_ready", None)
        self._schedule: Schedule | None = options.pop("schedule", None)
        self._options = {**DEFAULTS, **options}
        self._enabled = enabled
        self._torch: Any = None
        self._step = self._begin = self._first = first_step
        self._fallback: Any = None
        self._running = self._empty = False

    def __enter__(self) -> Recording:
        self.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.stop()
            return
        # Save what was recorded, but never hide the loop's own error.
        try:
            self._finish(failed=True)
        except Exception as failed:
            warnings.warn(f"The recording could not be finished: {failed}", stacklevel=2)

    def start(self) -> None:
        """Begin recording; ``with`` calls it.

        Raises:
            MissingPackage: PyTorch is not installed.
            SourceError: the folder cannot be written to.
        """
        if not self._enabled:
            return
        if self._torch is not None:
            raise BadRequest("The recording has already begun.", "Use one `record` per recording.")
        self._torch = _torch()
        self._options = _with_activities(self._torch, self._options)
        rank = rank_of_process()
        if self._ranks is not None and (rank or 0) not in self._ranks:
            return
        make_folder(self.directory)  # Better fail here than after hours of training.
        self._running = True
        self._at_step()

    def step(self) -> None:
        """Mark the end of an iteration.

        Raises:
            BadRequest: the recording has not begun.
        """
        if not self._enabled:
            return
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
        """End the recording and write what is left; ``with`` calls it."""
        steps, running = self._step - self._first, self._running
        self._finish()
        if running and self._fallback is not None and self.paths:
            ended = f"The loop ended after {steps} step{'' if steps == 1 else 's'}"
            reason = ended if steps else "step() was never called"
            warnings.warn(
                f"{reason}: only the beginning was recorded, without call stacks."
                " record(..., warmup=0) records everything from the beginning.",
                stacklevel=3,
            )

    def _finish(self, *, failed: bool = False) -> None:
        if not self._running:
            return
        self._running = False
        # A loop that ends just as the recording begins leaves it empty, unless it raised there.
        self._empty = (
            not failed and self._fallback is not None and self._step == self._begin + self._warmup
        )
        if self.profile is not None:
            self._end_profile()
        if not self.paths and self._fallback is not None:
            self._write(self._fallback)
        elif self.paths:
            self._fallback = None

    def _at_step(self) -> None:
        """Start or end profilers as the step that begins requires."""
        if self._schedule is not None:
            if self.profile is None:
                self._start_profile(self._options, self._schedule, self._save)
            return
        number, record = self._step, self._begin + self._warmup
        fallback = 0
        if self._begin == self._first and self._warmup:
            fallback = self._first + min(FALLBACK_STEPS, max(self._warmup - 1, 1))
        if self.profile is not None and number in (fallback, record + self._active):
            self._end_profile()
        if number == record + self._active:
            self._cycles -= 1
            self._begin = number
            if not self._cycles:
                self._running = False
                self._fallback = None
                return
            record, fallback = self._begin + self._warmup, 0
        if number == self._first and fallback:
            plan = self._plan(number, fallback)
            self._start_profile({**self._options, "with_stack": False}, plan, self._save_fallback)
        elif self.profile is None and number >= record - 1 and number >= fallback:
            plan = self._plan(record, record + self._active)
            self._start_profile(self._options, plan, self._save)

    def _plan(self, first: int, end: int) -> Schedule:
        """A schedule that records the steps from ``first`` to before ``end`` and warms up before."""
        action = self._torch.profiler.ProfilerAction
        actions = {end - 1: action.RECORD_AND_SAVE, end: action.NONE}
        return lambda n: action.WARMUP if n < first else actions.get(n, action.RECORD)

    def _start_profile(
        self, options: dict[str, Any], schedule: Schedule, ready: Callable[[Any], object]
    ) -> None:
        if self._torch.autograd._profiler_enabled():
            # PyTorch runs one profiler at a time; replacing the other would crash its export.
            warnings.warn(
                "Another profiler is running: nothing is recorded. Start it after this recording,"
                " or drop one of them.",
                stacklevel=4,
            )
            self._running = False
            return
        begin = self._step
        arguments = {**_experimental(), **options}
        # PyTorch asks for step 0 on construction, then for its own step numbers: make them ours.
        self.profile = self._torch.profiler.profile(
            schedule=lambda n: schedule(max(n, begin)), on_trace_ready=ready, **arguments
        )
        self.profile.step_num = begin
        if hasattr(self.profile, "preset_metadata_json"):
            for key, value in _said_of_process(self._torch).items():
                self.profile.preset_metadata_json(key, json.dumps(value))
        self.profile.start()

    def _end_profile(self) -> None:
        profile, self.profile = self.profile, None
        # stop() would skip the step count that PyTorch keeps for its daemon.
        self._unbroken(lambda: profile.__exit__(None, None, None))

    def _unbroken(self, action: Callable[[], object]) -> None:
        """Where PyTorch fails, the recording ends and the program goes on."""
        try:
            action()
        except RuntimeError as error:
            self.profile, self._running = None, False
            warnings.warn(f"The recording ended early; PyTorch says: {error}", stacklevel=4)

    def _save_fallback(self, profile: Any) -> None:
        self._fallback = profile

    def _save(self, profile: Any) -> None:
        if not self._empty:
            self._write(profile)
            self._fallback = None

    def _write(self, profile: Any) -> None:
        """Write under hidden names that nobody takes for a trace, then rename."""
        if _was_taken_over(profile):
            warnings.warn(
                "Another profiler was started during the recording and replaced it: nothing is"
                " written.",
                stacklevel=2,
            )
            return
        rank = rank_of_process()
        worker = self._worker or (f"rank{rank}" if rank is not None else "worker0")
        name = f"{worker}.{time.time_ns()}.pt.trace.json.gz"
        try:
            # PyTorch opens the file as it finds it: in a folder that is nobody else's.
            with TemporaryDirectory(prefix=".", dir=self.directory) as private:
                text = Path(private, "text")
                profile.export_chrome_trace(str(text))
                with whole_file(self.directory / name) as file:
                    _pack(text, file)
        except (OSError, RuntimeError) as error:
            # A full disk must not end the program.
            warnings.warn(
                f"The recording could not be written to {self.directory}: {error}", stacklevel=2
            )
            return
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
    enabled: bool = True,
    **options: Any,
) -> Recording:
    """Record a few steps of a loop for TensorBoard; call ``step()`` after each iteration.

    >>> with torch_tb_profiler.record("./log") as p:      # doctest: +SKIP
    ...     for batch in loader:
    ...         train_step(batch)
    ...         p.step()

    A loop that ends early, never calls ``step()`` or raises still leaves a file. Once it is
    written, the loop runs at full speed.

    Args:
        warmup: steps skipped first; 0 records from the beginning, and to the end if ``step()`` is
            never called.
        active: steps recorded.
        repeat: number of recordings, each after ``warmup`` steps and in a file of its own.
        ranks: ranks of a distributed job that record; None: all.
        worker: first part of the file name; default ``rank<N>`` if the rank is known, else
            ``worker0``.
        enabled: False records nothing, writes nothing and does not import PyTorch; every method
            does nothing. For a switch of the program: ``enabled=args.profile``.
        options: options of ``torch.profiler.profile`` that override our defaults: shapes, memory,
            stacks and modules of the host and every accelerator that PyTorch sees. ``schedule``
            replaces ``warmup``, ``active`` and ``repeat``. Of ``torch.autograd.profiler.profile``
            also ``use_cpu``, ``use_device`` (``"cuda"``, ``"xpu"``, ``"mtia"``, ``"hpu"``, or the
            name of a private backend; None: the host alone) and ``use_mtia``, which choose the
            ``activities``, and ``use_kineto``, which is always so.

    Raises:
        BadRequest: a number is too small, the worker name is invalid, the folder is a URL, or
            options contradict each other.
    """
    return Recording(
        directory,
        warmup=warmup,
        active=active,
        repeat=repeat,
        ranks=ranks,
        worker=worker,
        options=options,
        enabled=enabled,
    )


def _check_activities(options: dict[str, Any]) -> None:
    chosen = [name for name in _OF_AUTOGRAD if name in options and name != "use_kineto"]
    if chosen and options.get("activities") is not None:
        raise BadRequest(
            f"activities and {chosen[0]} both say what is recorded.", "Pass one of them."
        )
    if options.get("use_kineto", True) is False:
        raise BadRequest(
            "use_kineto=False: torch.profiler records with Kineto only.", "Leave use_kineto out."
        )
    device = options.get("use_device")
    if device is not None and not isinstance(device, str):
        raise BadRequest(f"use_device={device!r} is no name of a device.", 'Pass "cuda", say.')
    if options.get("use_cpu", True) is False and "use_device" in options and device is None:
        raise BadRequest(
            "use_cpu=False and use_device=None leave nothing to record.", "Leave one of them out."
        )


def _with_activities(torch: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options with those of ``torch.autograd.profiler.profile`` as ``activities``."""
    given = {name: options[name] for name in _OF_AUTOGRAD if name in options}
    options = {name: value for name, value in options.items() if name not in given}
    if not given.keys() - {"use_kineto"}:
        return options
    known, supported = torch.profiler.ProfilerActivity, set(torch.profiler.supported_activities())
    activities = set(supported)
    if "use_device" in given:
        activities = {known.CPU}
        if device := given["use_device"]:
            activities.add(getattr(known, _ACTIVITIES.get(device, "PrivateUse1"), device))
    if given.get("use_mtia"):
        activities.add(getattr(known, "MTIA", "mtia"))
    if not given.get("use_cpu", True):
        activities.discard(known.CPU)
    if missing := sorted(map(str, activities - supported)):
        warnings.warn(
            f"This PyTorch cannot record {', '.join(missing)}: that is left out.", stacklevel=4
        )
    return {**options, "activities": activities & supported or {known.CPU}}


def _torch() -> Any:
    try:
        import_module("torch.profiler")
        return import_module("torch")
    except ImportError as error:
        raise MissingPackage(
            f"record() needs PyTorch, which cannot be imported: {error}.",
            "Install torch where the program runs.",
        ) from error


def _experimental() -> dict[str, Any]:
    """Options that only some versions of PyTorch know."""
    with contextlib.suppress(ImportError, AttributeError, TypeError):
        profiler = import_module("torch._C._profiler")
        config = profiler._ExperimentalConfig(enable_cuda_sync_events=True)
        return {"experimental_config": config}
    return {}


def _said_of_process(torch: Any) -> dict[str, Any]:
    """What the header of the trace says of the process, by key: PyTorch's version, the threads that it runs an
    operator with, and the cores that the process may use.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    said = {"torch_version": str(torch.__version__), "usable_cores": cores}
    with contextlib.suppress(AttributeError, RuntimeError):
        said |= {
            "intra_op_threads": torch.get_num_threads(),
            "inter_op_threads": torch.get_num_interop_threads(),
        }
    return {key: value for key, value in said.items() if value is not None}


def _was_taken_over(profile: Any) -> bool:
    """Whether a later profiler replaced this one; exporting it would then crash."""
    results = getattr(getattr(profile, "profiler", None), "kineto_results", None)
    began = getattr(results, "trace_start_ns", None)
    return began is not None and not began()


def rank_of_process() -> int | None:
    """The rank of this process; None if nothing says that there are several. PyTorch is not imported for it."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    for variable in _RANKS:
        text = os.environ.get(variable, "")
        if text.isascii() and text.isdigit():
            return int(text)
    return None


def _pack(text: Path, file: BinaryIO) -> None:
    from shutil import copyfileobj

    # Several times faster than Python's gzip.
    igzip: Any = import_module("isal.igzip")
    with text.open("rb") as plain, igzip.open(file, "wb") as packed:
        copyfileobj(plain, packed, 1 << 20)
