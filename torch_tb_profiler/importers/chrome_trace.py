"""Chrome trace JSON, as Kineto and others write it → ``Trace``.

::

    text stream ─▶ Window ─▶ EventReader (cut, scan or decode) ─▶ Gatherer (columns) ─▶ assemble ─▶ Trace
                             └── header keys ──────────────────────────────────────────┘

Events without a known category get their roles last (``inferred_roles``).
"""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.assemble import assemble, pair_begin_end
from torch_tb_profiler.importers.cutter import EventReader
from torch_tb_profiler.importers.gather import Gatherer
from torch_tb_profiler.importers.inferred_roles import placed
from torch_tb_profiler.importers.intel_scopes import SCOPE_CATEGORY, without_scopes
from torch_tb_profiler.importers.legacy import tie_legacy
from torch_tb_profiler.importers.peeked_text import count_problem
from torch_tb_profiler.importers.scanned import Scanned, scanners_for
from torch_tb_profiler.importers.unreal_times import real_marks
from torch_tb_profiler.importers.window import Progress, Text, Window
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import own_roles
from torch_tb_profiler.units import format_count


def read_chrome_trace(stream: Text, settings: Settings, progress: Progress | None = None) -> Trace:
    """Read a trace; see ``importers.read_trace``."""
    counts, own = DefectCounts(), own_roles(settings.categories)
    window = Window(stream, progress)
    gathered = Gatherer(counts, own)
    reader = EventReader(window, settings.chunk_bytes, counts, scanners_for(gathered))
    seen = 0
    for piece in reader.pieces():
        if isinstance(piece, Scanned):
            piece.by.add(piece, seen)
        else:
            gathered.add(piece, seen)
        seen = reader.entries
    if gathered.begin_end:
        marks = real_marks(gathered.begin_end, gathered.groups, reader.header, counts)
        joined = pair_begin_end(marks, counts)
        if joined:
            gathered.add_joined(joined)
    count_problem(stream, counts)
    if not gathered.groups.keys() - {"chunks"}:
        _refuse(reader)
        counts.add(d.NO_EVENTS)
    trace = placed(assemble(gathered, _clean(reader.header), reader.entries), own)
    if SCOPE_CATEGORY in gathered.categories:
        trace = without_scopes(trace)
    return tie_legacy(trace) if reader.bare_array else trace


def _refuse(reader: EventReader) -> None:
    """Raise NotATrace for JSON without a single event; an empty traceEvents is an empty trace."""
    if reader.bare_array or reader.entries:
        raise NotATrace(
            f"The file is JSON with {format_count(reader.entries)} entries, none of which is a trace event.",
            "Choose the file that torch.profiler wrote.",
        )


def _clean(header: dict[str, object]) -> dict[str, Any]:
    """The header without environment variables, package lists and texts of programs, which may hold secrets."""
    return {k: v for k, v in header.items() if k not in ("metadata", "traceEvents", "file_info")}
