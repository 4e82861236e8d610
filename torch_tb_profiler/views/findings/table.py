"""The table of findings."""

from __future__ import annotations

from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.views.findings.wire import FindingsPayload

_C = DisplayColumn
_RECOVERABLE = "Saved of the median step, or of one in which it happens, with its change, simulated; missing where it costs no step time."
_CERTAINTY = "How sure that is: `certain`, `likely` or `theoretical`."
_CHANGE = "Its change as `whatif` takes it, where it has a name."
_EVENTS = "Tuple of the most expensive events that it rests on."
FINDINGS = DisplaySpec(
    "findings",
    "One row per finding, the largest first.",
    (
        _C("rule", "text", "", "Name of the rule."),
        _C("title", "text", "", "What it is, in few words."),
        _C("action", "text", "", "What to do, in a few words."),
        _C("fact", "text", "", "The fact that decides it."),
        _C("often", "text", "", "In which of several steps."),
        _C("sentence", "text", "", "What and how much."),
        _C("recoverable_ns", "time", "", _RECOVERABLE, optional=True),
        _C("share", "share", "", "The same as a share of the step."),
        _C("certainty", "text", "", _CERTAINTY, optional=True),
        _C("change", "text", "", _CHANGE, optional=True),
        _C("artefact", "flag", "", "Whether the profiler itself is the cause."),
        _C("line", "text", "", "Line of the program, `file(line): function`.", optional=True),
        _C("attempt", "text", "", "What to try."),
        _C("caveat", "text", "", "When that does not apply."),
        _C("events", "texts", "", _EVENTS, unit="rows of events"),
        _C("event_workers", "texts", "", "Tuple of the workers whose events they are."),
        _C("event_count", "count", "", "How many events it rests on.", unit="events"),
    ),
)
_OF_EVENTS = ("events", "event_workers", "event_count")


def findings_table(payload: FindingsPayload) -> DisplayTable:
    """The findings of a payload, in its order."""
    listed = payload.findings
    same = [column.name for column in FINDINGS.columns if column.name not in _OF_EVENTS]
    return FINDINGS.build(
        StringTable.of([]),
        **{name: [getattr(finding, name) for finding in listed] for name in same},
        events=[tuple(event.event for event in finding.evidence) for finding in listed],
        event_workers=[tuple(event.worker for event in finding.evidence) for finding in listed],
        event_count=[finding.evidence_count for finding in listed],
    )
