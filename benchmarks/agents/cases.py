"""Fifty runs of the synthetic job (``samples/synthesize.py``), with one or two planted causes each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import Any

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
sys.path[:0] = [str(SAMPLES), str(Path(__file__).parent)]

from causes import CAUSES, PAIRS, STEPS, Cause  # noqa: E402
from synthesis.process import Assumptions, Process  # noqa: E402
from synthesis.training import Job, load  # noqa: E402

LAYERS = 2
USUAL_WAIT = 350_000
"""ns for a batch."""


@dataclass(frozen=True)
class Planted:
    """An event of a cause: its name, and ns since the recording of its rank began."""

    rank: int
    name: str
    start: int
    dur: int


@dataclass
class Case:
    """A run and what is wrong with it. ``planted``: of each cause."""

    name: str
    causes: list[Cause]
    seed: int
    planted: list[list[Planted]] = field(default_factory=list)

    @property
    def ranks(self) -> int:
        return max(cause.ranks for cause in self.causes)


def cases() -> list[Case]:
    """All fifty: each cause twice, ten pairs."""
    kinds = [(kind,) for kind in CAUSES] * 2 + list(PAIRS)
    made = []
    for seed, group in enumerate(kinds):
        random = Random(f"case {seed}")
        causes = [kind(random) for kind in group]
        name = "_and_".join(kind.__name__ for kind in group)
        made.append(Case(f"{seed:02d}_{name}", causes, seed))
    return made


class PlantedJob(Job):
    """The usual job without its own oddities, and with the causes of a case."""

    def __init__(self, case: Case, streams: list[Any], names: list[str]) -> None:
        changed: dict[str, Any] = {"synchronizes": False, "straggler": 1.0}
        for cause in case.causes:
            changed |= cause.assumed
        super().__init__(streams, names, case.seed, LAYERS, False, Assumptions(**changed))
        self.case = case
        case.planted = [[] for _ in case.causes]
        self.stalled = -1
        self.straggler = next((c.rank for c in case.causes if "straggler" in c.assumed), -1)
        self._now: int | None = None
        for process in self.processes:
            process.text.complete = self._noting(process, process.text.complete)  # type: ignore[method-assign]
            for cause in case.causes:
                cause.before(process)

    def load(self, process: Process, number: int) -> None:
        for i, cause in self._of(process):
            ns = cause.wait(number)
            if ns:
                self._now = i
                load(process, ns)
                self._now = None
                return
        load(process, USUAL_WAIT)

    def forward_backward(self, process: Process, number: int) -> None:
        super().forward_backward(process, number)
        for i, cause in self._of(process):
            self._now = i
            cause.compute(process, number)
        self._now = None

    def update(self, process: Process, number: int) -> Any:
        for i, cause in self._of(process):
            self._now = i
            cause.update(process, number)
        self._now = None
        return super().update(process, number)

    def _of(self, process: Process) -> list[tuple[int, Cause]]:
        return [
            (i, cause)
            for i, cause in enumerate(self.case.causes)
            if cause.rank in (-1, process.rank)
        ]

    def _noting(self, process: Process, write: Callable[..., None]) -> Callable[..., None]:
        """What writes an event, and keeps it if a cause made it."""

        def complete(
            category: str, name: str, pid: Any, tid: Any, start: int, dur: int, args: str
        ) -> None:
            write(category, name, pid, tid, start, dur, args)
            for i, cause in self._of(process):
                if i == self._now or any(
                    fnmatchcase(f"{category}:{name}", like) for like in cause.names
                ):
                    self.case.planted[i].append(Planted(process.rank, name, start, dur))

        return complete


def write(case: Case, logdir: Path) -> None:
    """Write the run of a case into a logdir, and note what was planted."""
    folder = logdir / case.name
    folder.mkdir(parents=True)
    names = [f"rank{rank}.pt.trace.json" for rank in range(case.ranks)]
    with ExitStack() as stack:
        streams = [stack.enter_context((folder / name).open("wb")) for name in names]
        job = PlantedJob(case, list(streams), names)
        for _ in range(STEPS):
            job.step()
        job.close()
