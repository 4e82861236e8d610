"""What can be wrong with a trace. Defects are counted, never raised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum

import msgspec


class Severity(str, Enum):
    """How bad a defect is, in ascending order."""

    INFO = "info"
    """Worth knowing."""
    NOTICE = "notice"
    """A figure may be affected."""
    DATA_LOSS = "data_loss"
    """Something in the file could not be used."""
    ERROR = "error"
    """A figure is missing or wrong."""


class Defect(msgspec.Struct, frozen=True):
    """A kind of defect: name, severity, a sentence, and the figures that it makes doubtful."""

    name: str
    severity: Severity
    sentence: str
    doubtful: tuple[str, ...] = ()


DEFECTS: dict[str, Defect] = {}


def declare(name: str, severity: Severity, sentence: str, *doubtful: str) -> str:
    """Register a kind of defect and return its name; called on import by the room that detects it."""
    DEFECTS[name] = Defect(name, severity, sentence, doubtful)
    return name


class DefectCounts:
    """Counters by defect name."""

    def __init__(self, counts: dict[str, int] | None = None) -> None:
        self._counts: Counter[str] = Counter(counts or {})

    def add(self, name: str, count: int = 1) -> None:
        """Count a declared defect ``count`` times.

        Raises:
            KeyError: the defect was not declared.
        """
        if name not in DEFECTS:
            raise KeyError(f"defect {name!r} is not declared")
        if count:
            self._counts[name] += int(count)

    def absorb(self, other: DefectCounts) -> None:
        """Add the counts of another."""
        self._counts.update(other._counts)

    def merged(self, other: DefectCounts) -> DefectCounts:
        """The sums of both."""
        return DefectCounts(dict(self._counts + other._counts))

    def __getitem__(self, name: str) -> int:
        return self._counts[name]

    def __iter__(self) -> Iterator[tuple[Defect, int]]:
        """(kind, count), the most severe first."""
        order = list(Severity)
        known = [
            (DEFECTS.get(n) or Defect(n, Severity.NOTICE, n), c) for n, c in self._counts.items()
        ]
        return iter(sorted(known, key=lambda x: (-order.index(x[0].severity), -x[1], x[0].name)))

    def as_dict(self) -> dict[str, int]:
        """Plain counts, for the sidecar."""
        return dict(self._counts)


# Detected on import. Those of the analysis are declared in analysis/facts/defects.py.
TRUNCATED = declare(
    "truncated_file",
    Severity.DATA_LOSS,
    "The file is truncated; everything before the end is used.",
    "all totals",
)
TRUNCATED_GZIP = declare(
    "truncated_compression",
    Severity.DATA_LOSS,
    "The compressed data is truncated or damaged; what could be decompressed is used.",
    "all totals",
)
UNREADABLE_CAPTURE = declare(
    "unreadable_capture",
    Severity.NOTICE,
    "A recording of graph captures beside the trace cannot be read; its graphs stay without names.",
    "operators of graph replays",
)
TRAILING = declare("trailing_garbage", Severity.INFO, "Data after the end of the trace is ignored.")
UNPARSABLE = declare(
    "unparsable_event",
    Severity.DATA_LOSS,
    "An entry of traceEvents is not valid JSON and was dropped.",
    "counts and totals",
)
SKIPPED = declare(
    "skipped_text",
    Severity.DATA_LOSS,
    "Much of the file is damaged: a stretch of it was skipped, and what it held is not counted.",
    "counts and totals",
)
REPAIRED = declare(
    "repaired_text",
    Severity.INFO,
    "An event with text that JSON forbids (control characters, lone backslashes, bare N/A) was"
    " repaired.",
)
BAD_UTF8 = declare(
    "invalid_utf8", Severity.INFO, "Text that is not UTF-8 was replaced with U+FFFD."
)
DAMAGED_PACKET = declare(
    "damaged_packet",
    Severity.DATA_LOSS,
    "A packet of a Perfetto trace is damaged or inflates to too much; it was dropped.",
    "counts and totals",
)
NOT_AN_EVENT = declare(
    "not_an_event",
    Severity.DATA_LOSS,
    "An entry of traceEvents is not an object and was dropped.",
    "counts and totals",
)
NO_NAME = declare(
    "missing_name", Severity.NOTICE, "An event has no name; its name is stored as empty."
)
NO_CATEGORY = declare(
    "missing_category",
    Severity.NOTICE,
    "An event has no category; its role is unknown.",
    "step-time breakdown",
)
NO_TIME = declare(
    "missing_timestamp",
    Severity.DATA_LOSS,
    "An event has no valid timestamp and was dropped.",
    "counts and totals",
)
NO_DURATION = declare(
    "missing_duration",
    Severity.DATA_LOSS,
    "An event has no usable duration; it is stored as 0.",
    "totals of its name",
)
NEGATIVE_DURATION = declare(
    "negative_duration",
    Severity.NOTICE,
    "An event has a negative duration; it is stored as 0.",
    "totals of its name",
)
DUPLICATE = declare(
    "duplicate_event",
    Severity.NOTICE,
    "An event occurs twice with identical fields; the second one was dropped.",
)
UNKNOWN_CATEGORY = declare(
    "unknown_category",
    Severity.INFO,
    "An event has a category with no known role; it is kept but counts in no figure.",
    "step-time breakdown",
)
UNKNOWN_PHASE = declare(
    "unknown_phase", Severity.INFO, "An entry has a phase that is not supported."
)
UNMATCHED_BEGIN = declare(
    "unmatched_begin",
    Severity.DATA_LOSS,
    "A begin event (ph B) or an open range has no end; it was dropped.",
    "totals of its name",
)
UNMATCHED_END = declare(
    "unmatched_end", Severity.DATA_LOSS, "An end event (ph E) has no begin; it was dropped."
)
WRONG_TYPE = declare(
    "wrong_argument_type",
    Severity.INFO,
    "An argument has an unexpected type and counts as unknown.",
)
BIG_INTEGER = declare(
    "integer_out_of_range", Severity.INFO, "An integer exceeds 64 bits and counts as unknown."
)
HEADER_LOST = declare(
    "header_skipped", Severity.INFO, "A top-level key was too large or invalid and was skipped."
)
FAR_EVENT = declare(
    "far_away_event",
    Severity.NOTICE,
    "An instant far away from everything else was dropped.",
)
UNREAL_TIME = declare(
    "unreal_timestamp",
    Severity.DATA_LOSS,
    "An event's timestamp cannot be its time: it is 0 in a recording that began much later, or far"
    " away from everything else. The event was dropped and takes part in no figure.",
    "counts and totals",
)
OLDEST_LOST = declare(
    "oldest_events_lost",
    Severity.DATA_LOSS,
    "The profiler's buffer was full: what it recorded first was overwritten.",
    "all totals",
)
NOT_A_STACK = declare(
    "unusable_stack",
    Severity.DATA_LOSS,
    "A line of folded stacks does not end in an integer or is too deep; it was dropped.",
    "all totals",
)
DAMAGED_TABLE = declare(
    "damaged_table",
    Severity.DATA_LOSS,
    "A table of the database is damaged; the rows before the damage are used.",
    "counts and totals",
)
UNFINISHED_DATABASE = declare(
    "unfinished_database",
    Severity.DATA_LOSS,
    "The database was not closed properly: the content of its -wal or -journal file was not read.",
    "all totals",
)
NOT_READ = declare(
    "rows_not_read",
    Severity.INFO,
    "A row of an unsupported table or kind: it appears in no view and no figure.",
)
CPU_NOT_READ = declare(
    "cpu_activity_not_read",
    Severity.INFO,
    "A CPU call stack sample or a thread switch: in the file but not shown.",
)
MANAGED_NOT_READ = declare(
    "managed_memory_not_read",
    Severity.INFO,
    "A page fault or counter of managed (unified) memory: in the file but not shown.",
)
METRICS_NOT_READ = declare(
    "metrics_not_read",
    Severity.INFO,
    "A value of a hardware counter, a network card, or the device's power or clocks in an"
    " unsupported table.",
)
NESTED_KERNELS_NOT_READ = declare(
    "nested_kernels_not_read",
    Severity.DATA_LOSS,
    "A kernel launched by another kernel (dynamic parallelism): it counts in no figure.",
    "device time",
)
PROFILER_WARNING = declare(
    "profiler_warning",
    Severity.NOTICE,
    "The profiler issued a warning while recording; the Trace view marks it.",
    "what it warns about",
)
UNCLEAR_PROCESS = declare(
    "unclear_process",
    Severity.NOTICE,
    "Device work that names no process has an id under which several processes launched: whose it"
    " is, is not known, and it is at no operator.",
    "device time of operators",
)
PROCESS_WITHOUT_WORK = declare(
    "process_without_work",
    Severity.NOTICE,
    "A process of a file of several workers has no device work, and the file does not say which of"
    " them started it: its events are of no worker and stand by themselves.",
)
NO_EVENTS = declare("no_trace_events", Severity.ERROR, "The file has no events.", "everything")
