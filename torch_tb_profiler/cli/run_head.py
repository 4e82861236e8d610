"""What is printed before the traces of a run: its findings, each kind once, and its workers."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.cli.document import Column, Document, Listing, Table
from torch_tb_profiler.cli.finding_texts import finding_item, lead_of, unsure_items
from torch_tb_profiler.cli.hints import event_hint, hint
from torch_tb_profiler.runs.model import Opened, Run
from torch_tb_profiler.units import UNKNOWN, format_count, format_counted, format_ns, format_share
from torch_tb_profiler.views.findings.payload import costly
from torch_tb_profiler.views.findings.wire import Finding, FindingsPayload, Total

Traces = Sequence[tuple[Opened, FindingsPayload]]
"""Rules that tell one thing on the worker that waits, and on the one that is late."""
Kind = list[tuple[int, Opened, Finding]]
"""A kind of finding: its place among those of each trace that has it."""


def run_head(traces: Traces, verdict: Sequence[str] = ()) -> Document:
    """Several traces of one run, those with most recoverable time first. ``verdict``: who holds all of them back."""
    run = traces[0][0].run
    each = hint("each follows below", "worker selects one")
    head = f"{_counted(run, [opened for opened, _ in traces])}; {each}."
    blocks = (_findings(traces), _workers(traces))
    return Document(run.name, (*verdict, head, *run.remarks), blocks, whole=True)


def _counted(run: Run, traces: Sequence[Opened]) -> str:
    """``4 recordings of 2 ranks``, ``4 recordings of 2 jobs with 2 ranks each``, ``3 recordings of separate processes``."""
    jobs: dict[int, set[str]] = {}
    for opened in traces:
        jobs.setdefault(opened.worker.job, set()).add(opened.worker.name)
    workers = {worker.name: worker for worker in run.workers}
    recordings = format_counted(len(traces), "recording")
    if all(len(names) == 1 for names in jobs.values()):
        if len(jobs) == 1:
            return f"{recordings} of one process"
        return (
            f"{recordings} of {format_count(len(jobs))} processes that nothing ties to each other"
        )
    if len(jobs) == 1:
        [names] = jobs.values()
        sizes = {size for name in names if (size := workers[name].world_size)}
        of = f" of {format_count(max(sizes))}" if sizes and max(sizes) > len(names) else ""
        return f"{recordings} of {format_count(len(names))}{of} ranks"
    counts = ", ".join(format_count(len(names)) for names in jobs.values())
    return f"{recordings} of {format_count(len(jobs))} jobs, with {counts} ranks"


def _workers(traces: Traces) -> Table:
    rows = []
    for opened, payload in sorted(traces, key=lambda trace: -_share(trace[1])):
        costing = costly(payload.findings)
        total = _total(payload)
        back = (
            f"{format_ns(total.recoverable_ns)} ({format_share(total.share)})" if total else UNKNOWN
        )
        rows.append(
            (
                opened.worker_title,
                str(payload.steps),
                format_ns(payload.mean_ns),
                back,
                costing[0].title if costing else UNKNOWN,
            )
        )
    columns = (
        Column("Worker", "name"),
        Column("Steps"),
        Column("Mean step"),
        Column("Recoverable"),
        Column("Main cause", "text"),
    )
    return Table("Workers", columns, rows, len(rows))


def _total(payload: FindingsPayload) -> Total | None:
    """What all certain and likely changes save together."""
    likely = [total for total in payload.totals if total.certainty != "theoretical"]
    return likely[-1] if likely else None


def _share(payload: FindingsPayload) -> float:
    total = _total(payload)
    return total.share if total else 0.0


def _findings(traces: Traces) -> Listing:
    """Each kind of finding once, in the order of the workers' own, with the worker that it costs most."""
    kinds: dict[tuple[str, str], Kind] = {}
    for opened, payload in traces:
        for place, finding in enumerate(payload.findings):
            kinds.setdefault((finding.rule, finding.title), []).append((place, opened, finding))

    kinds_in_order = _said_once(sorted(kinds.values(), key=_order))
    items = []
    for kind in kinds_in_order:
        _, opened, worst = _worst(kind)
        workers = list(dict.fromkeys(traced.worker.name for _, traced, _ in kind))
        items.append(finding_item(worst, opened, _where(opened.worker.name, workers, len(traces))))
    told = _worst(kinds_in_order[0])[1] if kinds_in_order else traces[0][0]
    lead = next(lead_of(payload, opened, True) for opened, payload in traces if opened is told)
    items += dict.fromkeys(item for _, payload in traces for item in unsure_items(payload))
    return Listing("Findings", items, event_hint(), (lead,))


def _said_once(kinds: Sequence[Kind]) -> list[Kind]:
    """Without those that show the same events of one rank from the side of another."""
    shown: set[tuple[tuple[str, int], ...]] = set()
    found = []
    for kind in kinds:
        _, opened, worst = _worst(kind)
        events = tuple((one.worker or opened.worker.name, one.event) for one in worst.evidence)
        if not events or events not in shown:
            found.append(kind)
        shown.add(events)
    return found


def _worst(kind: Kind) -> tuple[int, Opened, Finding]:
    return max(kind, key=lambda one: one[2].share or 0.0)


def _order(kind: Kind) -> tuple[bool, int, float]:
    share = _worst(kind)[2].share
    return share is None, min(place for place, _, _ in kind), -(share or 0.0)


def _where(worst: str, workers: Sequence[str], traces: int) -> str:
    """Which workers have a finding, and whose numbers are told."""
    if len(workers) == 1:
        return f"On {worst}"
    every = "all" if len(workers) == traces else format_count(len(workers))
    return f"On {worst}; {every} workers have it"
