"""What is made of a trace and kept: the import of its file and, from that, its timeline and its
insight. Each is made here or in a worker process by the same function.

Imports inside functions: a trace is read before what reads sidecars and makes products is imported.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from torch_tb_profiler.errors import SidecarError, SidecarMissing
from torch_tb_profiler.runs.code_version import program_version
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import SUFFIX
from torch_tb_profiler.store.memory import give_back_memory, keep_freed_memory

if TYPE_CHECKING:
    from torch_tb_profiler.store.insight import Insight
    from torch_tb_profiler.store.model import Facts, RankIndex, Trace
    from torch_tb_profiler.store.timeline import Timeline

T = TypeVar("T")


class OpenTrace(NamedTuple):
    """An imported trace; ``memo``: what was computed from it, as long as it is open."""

    trace: Trace
    facts: Facts
    memo: Memo


class Product(msgspec.Struct, Generic[T], frozen=True):
    """One kind of thing that is kept in a sidecar.

    ``name``: in file names; ``label``: in messages. ``maker``: ``module:function(location,
        sidecar_path, settings, report)`` for a worker process.
    ``read`` maps the file, raises SidecarError; ``write`` raises OSError.
    """

    name: str
    label: str
    maker: str
    read: Callable[[str], T]
    write: Callable[[str, T], None]


class DerivedProduct(Product[T], frozen=True, kw_only=True):
    """What is made of an imported trace.

    ``choices``: what of the user's settings decides what it holds, beside what decides the import.
    ``write_beside``: what a worker process writes with it, first, to a path that it derives from the
        product's own.
    """

    build: Callable[[Trace, Facts, Settings, Report | None], T]
    choices: Callable[[Settings], str] = lambda settings: ""
    write_beside: Callable[[str, Trace, Facts, T], None] | None = None

    def path(self, sidecar_path: str, settings: Settings) -> str:
        """Where it is kept, for a trace's sidecar."""
        stem = sidecar_path.removesuffix(SUFFIX)
        return f"{stem}-{self._version(settings)}.{self.name}{SUFFIX}"

    def id(self, sidecar_path: str, settings: Settings) -> str:
        """A short name of the content of a file, as read and derived by this program."""
        return f"{Path(sidecar_path).name.removesuffix(SUFFIX)[:16]}{self._version(settings)}"

    def _version(self, settings: Settings) -> str:
        told = f"{program_version()}\0{self.choices(settings)}"
        return hashlib.sha256(told.encode()).hexdigest()[:8]

    def make(
        self, location: str, sidecar_path: str, settings: Settings, report: Report
    ) -> dict[str, Any]:
        """Derive it from the trace whose sidecar is ``location`` and write it to ``sidecar_path``.
        For a worker process.

        Raises:
            SidecarError: the trace's sidecar cannot be used.
            BadRequest: the user's models file cannot be used.
            OSError: it could not be written.
        """
        from torch_tb_profiler.store import mapped_files, sidecar

        keep_freed_memory()
        trace, facts = sidecar.read(location)
        try:
            with mapped_files.expect_readable():
                built = self.build(trace, facts, settings, report)
                if self.write_beside is not None:
                    self.write_beside(sidecar_path, trace, facts, built)
                self.write(sidecar_path, built)
        except SidecarError:
            # Nothing stays of what was made of a damaged file.
            for path in (ranks_path(sidecar_path), sidecar_path):
                with suppress(OSError):
                    os.unlink(path)
            raise
        give_back_memory(at_the_end=True)
        return {}


def content_version(settings: Settings) -> str:
    """Tells apart all that would read or derive something else from the same file: programs, roles
    of categories, the user's own performance models.
    """
    program = program_version() + settings.categories
    if not settings.models and "torch_tb_profiler.hardware.work" not in sys.modules:
        # Nobody can have registered a model, and a command need not import what holds them.
        return program
    from torch_tb_profiler.hardware import user_models

    return program + user_models.version(settings.models)


def read_head(path: str) -> tuple[Trace, Facts]:
    """What the head of a sidecar says, without its tables."""
    _expect_file(path)
    from torch_tb_profiler.store import sidecar

    return sidecar.read_head(path)


def _read_trace(path: str) -> OpenTrace:
    _expect_file(path)
    from torch_tb_profiler.store import sidecar

    return OpenTrace(*sidecar.read(path), Memo())


def _expect_file(path: str) -> None:
    # What reads a sidecar takes long to import; that none is there is known at once.
    if not os.path.isfile(path):
        raise SidecarMissing("There is no sidecar.", "It is made again.")


def _late(module: str, function: str) -> Callable[..., Any]:
    """A function whose module is imported when it is called."""
    return lambda *args: getattr(import_module(f"torch_tb_profiler.{module}"), function)(*args)


def _kept(module: str, kind: str) -> Callable[[str], Any]:
    """Reads what is kept of a type in ``store``; both modules are imported when it is called."""
    types = f"torch_tb_profiler.store.{module}"
    read = _late("store.sidecar", "read_derived")
    return lambda path: read(path, getattr(import_module(types), kind))


def _build_timeline(
    trace: Trace, facts: Facts, settings: Settings, report: Report | None = None
) -> Timeline:
    from torch_tb_profiler.analysis.timeline.build import build_timeline

    return build_timeline(trace, facts, report)


def _build_insight(
    trace: Trace, facts: Facts, settings: Settings, report: Report | None = None
) -> Insight:
    from torch_tb_profiler.analysis.insight import build_insight
    from torch_tb_profiler.hardware import user_models

    user_models.load(settings.models)
    return build_insight(trace, facts, report, settings.peaks)


def ranks_path(insight_path: str) -> str:
    """Where the rank index is kept, for an insight's sidecar."""
    return f"{insight_path.removesuffix(f'.{INSIGHT.name}{SUFFIX}')}.{RANKS.name}{SUFFIX}"


def build_ranks(trace: Trace, facts: Facts, insight: Insight) -> RankIndex:
    """The index of the rank of a trace."""
    from torch_tb_profiler.analysis.distributed.rank_index import build_index

    return build_index(trace, facts, insight)


def _write_ranks(insight_path: str, trace: Trace, facts: Facts, insight: Insight) -> None:
    RANKS.write(ranks_path(insight_path), build_ranks(trace, facts, insight))


_peaks_version = _late("analysis.efficiency.device", "version")
IMPORT = Product(
    "import",
    "import",
    "torch_tb_profiler.runs.import_job:run_import",
    _read_trace,
    lambda path, opened: _late("store.sidecar", "write")(path, opened.trace, opened.facts),
)
TIMELINE: DerivedProduct[Timeline] = DerivedProduct(
    "timeline",
    "timeline",
    "torch_tb_profiler.runs.products:make_timeline",
    _kept("timeline", "Timeline"),
    _late("store.sidecar", "write_derived"),
    build=_build_timeline,
)
INSIGHT: DerivedProduct[Insight] = DerivedProduct(
    "insight",
    "analysis of the trace",
    "torch_tb_profiler.runs.products:make_insight",
    _kept("insight", "Insight"),
    _late("store.sidecar", "write_derived"),
    build=_build_insight,
    choices=lambda settings: str(_peaks_version(settings.peaks)),
    write_beside=_write_ranks,
)
RANKS: Product[RankIndex] = Product(
    "ranks",
    "index of the rank",
    INSIGHT.maker,
    _kept("model", "RankIndex"),
    _late("store.sidecar", "write_derived"),
)
DERIVED: tuple[DerivedProduct[Any], ...] = (TIMELINE, INSIGHT)
make_timeline = TIMELINE.make


def make_insight(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> dict[str, Any]:
    """Derive the insight of an imported trace and write it; an unusable models file is found before reading the trace."""
    from torch_tb_profiler.hardware import user_models

    user_models.load(settings.models)
    return INSIGHT.make(location, sidecar_path, settings, report)
