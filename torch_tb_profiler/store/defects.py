"""What can be wrong with a trace, each with a name, a severity and a sentence; found ones are
counted, never thrown.

Severity: ``info`` (worth knowing), ``notice`` (a figure may be affected), ``data_loss`` (something
    in the file could not be
used), ``error`` (a figure is missing or wrong because of it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class Severity(str, Enum):
    """How bad a defect is, in rising order."""

    INFO = "info"
    NOTICE = "notice"
    DATA_LOSS = "data_loss"
    ERROR = "error"


@dataclass(frozen=True)
class Defect:
    """A kind of defect: its name, severity, one sentence, and the figures that it makes doubtful."""

    name: str
    severity: Severity
    sentence: str
    doubtful: tuple[str, ...] = ()


DEFECTS: dict[str, Defect] = {}


def declare(name: str, severity: Severity, sentence: str, *doubtful: str) -> str:
    """Register a kind of defect and return its name; called at import time by the room that finds
    it.
    """
    DEFECTS[name] = Defect(name, severity, sentence, doubtful)
    return name


class DefectCounts:
    """Counters by defect name."""

    def __init__(self, counts: dict[str, int] | None = None) -> None:
        self._counts: Counter[str] = Counter(counts or {})

    def add(self, name: str, count: int = 1) -> None:
        """Count ``count`` more of a declared defect; 0 adds nothing.

        Raises:
            KeyError: the defect was not declared.
        """
        if name not in DEFECTS:
            raise KeyError(f"defect {name!r} is not declared")
        if count:
            self._counts[name] += int(count)

    def absorb(self, other: DefectCounts) -> None:
        """Add the other's counts to these."""
        self._counts.update(other._counts)

    def merged(self, other: DefectCounts) -> DefectCounts:
        """The sums of both."""
        return DefectCounts(dict(self._counts + other._counts))

    def __getitem__(self, name: str) -> int:
        return self._counts[name]

    def __iter__(self) -> Iterator[tuple[Defect, int]]:
        """(kind, count), the gravest first."""
        order = list(Severity)
        known = [
            (DEFECTS.get(n) or Defect(n, Severity.NOTICE, n), c) for n, c in self._counts.items()
        ]
        return iter(sorted(known, key=lambda x: (-order.index(x[0].severity), -x[1], x[0].name)))

    def as_dict(self) -> dict[str, int]:
        """Plain counts, for the sidecar."""
        return dict(self._counts)


# Found while the bytes are read. Kinds of the analysis are declared in analysis/facts/defects.py.
TRUNCATED = declare(
    "truncated_file",
    Severity.DATA_LOSS,
    "The file ends in the middle; everything before the cut is used.",
    "all totals",
)
TRUNCATED_GZIP = declare(
    "truncated_compression",
    Severity.DATA_LOSS,
    "The compressed stream ends early or is damaged; what could be inflated is used.",
    "all totals",
)
TRAILING = declare(
    "trailing_garbage", Severity.INFO, "Bytes follow the end of the trace; they are ignored."
)
UNPARSABLE = declare(
    "unparsable_event",
    Severity.DATA_LOSS,
    "An entry of traceEvents is not readable JSON and was left out.",
    "counts and totals",
)
REPAIRED = declare(
    "repaired_text",
    Severity.INFO,
    "An event held characters that JSON forbids (control characters, lone backslashes, bare N/A);"
    " it was repaired.",
)
BAD_UTF8 = declare("invalid_utf8", Severity.INFO, "Text that is not UTF-8 was replaced by U+FFFD.")
NOT_AN_EVENT = declare(
    "not_an_event",
    Severity.DATA_LOSS,
    "An entry of traceEvents is not an object and was left out.",
    "counts and totals",
)
NO_NAME = declare(
    "missing_name", Severity.NOTICE, "An event has no name; it is stored with an empty one."
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
    "An event has no usable timestamp and was left out.",
    "counts and totals",
)
NO_DURATION = declare(
    "missing_duration",
    Severity.DATA_LOSS,
    "An event has no duration; it is stored with 0.",
    "totals of its name",
)
NEGATIVE_DURATION = declare(
    "negative_duration",
    Severity.NOTICE,
    "An event has a negative duration; it is stored with 0.",
    "totals of its name",
)
DUPLICATE = declare(
    "duplicate_event",
    Severity.NOTICE,
    "An event is written twice, identical in all that is kept; the second one was left out.",
)
UNKNOWN_CATEGORY = declare(
    "unknown_category",
    Severity.INFO,
    "An event has a category with no known role; it is kept and counted in no figure.",
    "step-time breakdown",
)
UNKNOWN_PHASE = declare(
    "unknown_phase", Severity.INFO, "An entry has a phase that this version does not read."
)
UNMATCHED_BEGIN = declare(
    "unmatched_begin",
    Severity.DATA_LOSS,
    "A begin (an event of ph B, a range that was still open) has no end; it was left out.",
    "totals of its name",
)
UNMATCHED_END = declare(
    "unmatched_end", Severity.DATA_LOSS, "An end event (ph E) has no begin; it was left out."
)
WRONG_TYPE = declare(
    "wrong_argument_type",
    Severity.INFO,
    "An argument is of another type than expected and counts as unknown.",
)
BIG_INTEGER = declare(
    "integer_out_of_range",
    Severity.INFO,
    "An integer does not fit into 64 bits and counts as unknown.",
)
HEADER_LOST = declare(
    "header_skipped", Severity.INFO, "A top-level key was too large or unreadable and was skipped."
)
FAR_EVENT = declare(
    "far_away_event",
    Severity.NOTICE,
    "An instant lies more than a day away from everything else and was left out.",
)
NOT_A_STACK = declare(
    "unusable_stack",
    Severity.DATA_LOSS,
    "A line of folded stacks has no whole number behind it, or is too deep, and was left out.",
    "all totals",
)
DAMAGED_TABLE = declare(
    "damaged_table",
    Severity.DATA_LOSS,
    "A table of the database is damaged in the middle; the rows before the damage are used.",
    "counts and totals",
)
UNFINISHED_DATABASE = declare(
    "unfinished_database",
    Severity.DATA_LOSS,
    "The database was not closed by who wrote it: what stands in the -wal or -journal file beside"
    " it was not read.",
    "all totals",
)
NOT_READ = declare(
    "rows_not_read",
    Severity.INFO,
    "A row of a table, or of a kind, that this version does not read: it is in no view and in no"
    " figure.",
)
CPU_NOT_READ = declare(
    "cpu_activity_not_read",
    Severity.INFO,
    "A sample of a CPU's call stack, or a switch of threads on a CPU: they are in the file and not"
    " shown.",
)
MANAGED_NOT_READ = declare(
    "managed_memory_not_read",
    Severity.INFO,
    "A page fault or a counter of managed (unified) memory: they are in the file and not shown.",
)
METRICS_NOT_READ = declare(
    "metrics_not_read",
    Severity.INFO,
    "A value of a hardware counter, of a network card, or of the device's power and clocks, in a"
    " table that this version does not read.",
)
NESTED_KERNELS_NOT_READ = declare(
    "nested_kernels_not_read",
    Severity.DATA_LOSS,
    "A kernel that another kernel launched (dynamic parallelism): it is in no figure.",
    "device time",
)
PROFILER_WARNING = declare(
    "profiler_warning",
    Severity.NOTICE,
    "The profiler itself warned while it recorded; its words are marks of the Trace view.",
    "whatever it warns of",
)
SEVERAL_PROCESSES = declare(
    "several_processes",
    Severity.NOTICE,
    "A process with kernels (where there are none, ranges) of its own beside others in the same"
    " file: they are laid over each other as one worker. Steps are those of one process, totals are"
    " sums over all, and the step-time breakdown says what any of them did. Record a file per"
    " process (nsys profile -o rank%q{RANK}) to see them as ranks.",
    "step-time breakdown",
    "averages per step",
)
NO_EVENTS = declare("no_trace_events", Severity.ERROR, "The file holds no event.", "everything")
