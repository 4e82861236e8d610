"""One import, from a location to a sidecar file. Runs in a worker process, or in this one for the
API and the CLI.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch_tb_profiler._version import __version__
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import sniff
from torch_tb_profiler.sources.streams import open_text
from torch_tb_profiler.store import defects

if TYPE_CHECKING:
    from torch_tb_profiler.store.model import Facts, Trace

Report = Callable[[int, "int | None"], None]
"""Called with (bytes read, bytes in all or None)."""

REPORTS_PER_SECOND = 10
_LEFT_OUT = (
    defects.UNPARSABLE,
    defects.NOT_AN_EVENT,
    defects.NO_TIME,
    defects.UNMATCHED_BEGIN,
    defects.UNMATCHED_END,
    defects.FAR_EVENT,
    defects.DUPLICATE,
    defects.UNKNOWN_PHASE,
)
_CODE_FILES = (
    "sources/**/*.py",
    "importers/**/*.py",
    "store/**/*.py",
    "hardware/**/*.py",
    "analysis/arrays/*.py",
    "analysis/facts/*.py",
)
"""The other rooms of ``analysis`` make no facts, see ``derived.Recipe``."""


@dataclass(frozen=True)
class Outcome:
    """The small facts of an import that the catalogue shows without opening the trace.

    ``events``: entries of ``traceEvents``; ``lost``: those that could not be used; ``defects``:
        counts by name.
    """

    events: int
    lost: int
    rank: int | None
    world_size: int | None
    synthetic: bool
    defects: dict[str, int] = field(default_factory=dict)


def outcome_of(trace: Trace, facts: Facts) -> Outcome:
    """The small facts of an imported trace."""
    counts = facts.defects.as_dict()
    lost = sum(trace.defects[name] for name in _LEFT_OUT)
    summary = facts.summary
    return Outcome(
        trace.entries,
        lost,
        summary.get("rank"),
        summary.get("world_size"),
        bool(summary.get("synthetic")),
        counts,
    )


def read(location: str, settings: Settings, report: Report | None = None) -> tuple[Trace, Facts]:
    """Import a file into memory.

    Raises:
        NotATrace: its content is none; the reason is in the message.
        SourceError: it could not be read.
    """
    reason = sniff.rejection(location)
    if reason is not None:
        raise NotATrace(reason, "Check what wrote the file.")
    with open_text(location, settings) as stream:
        from torch_tb_profiler.analysis.facts.derive import derive
        from torch_tb_profiler.importers import read_trace

        trace = read_trace(stream, settings, _throttled(report) if report else None)
    return trace, derive(trace)


def run_import(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> dict[str, Any]:
    """Import a file, write its sidecar, and return its ``Outcome`` as a plain dict.

    Raises:
        NotATrace, SourceError: as ``read``.
        OSError: the sidecar could not be written.
    """
    trace, facts = read(location, settings, report)
    from torch_tb_profiler.store import sidecar

    sidecar.write(Path(sidecar_path), trace, facts)
    return asdict(outcome_of(trace, facts))


def content_version(settings: Settings) -> str:
    """Tells apart all that would read or derive something else from the same file: programs, roles
    of categories, the user's own performance models.
    """
    from torch_tb_profiler.analysis.efficiency import models

    return program_version() + settings.categories + models.version(settings.models)


@lru_cache(maxsize=1)
def program_version() -> str:
    """Tells apart any two programs that may read a trace differently: the version and a digest of
    the code that decides what a sidecar holds.
    """
    digest = hashlib.sha256(__version__.encode())
    package = Path(__file__).parents[1]
    for files in _CODE_FILES:
        for file in sorted(package.glob(files)):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return f"{__version__}-{digest.hexdigest()[:16]}"


def _throttled(report: Report) -> Report:
    last = 0.0

    def now_and_then(done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 1 / REPORTS_PER_SECOND:
            last = now
            report(done, total)

    return now_and_then
