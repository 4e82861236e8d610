"""What is printed before the traces of a run: its workers and its findings in one table each."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.cli.document import Column, Document, Table, event_id
from torch_tb_profiler.runs.model import Opened, Run
from torch_tb_profiler.units import UNKNOWN, format_count, format_ns, format_share
from torch_tb_profiler.views.findings import costly
from torch_tb_profiler.views.findings_wire import Evidence, Finding, FindingsPayload, Total

Traces = Sequence[tuple[Opened, FindingsPayload]]


def run_head(traces: Traces, verdict: Sequence[str] = ()) -> Document:
    """Several traces of one run, those with most recoverable time first. ``verdict``: who holds all of them back."""
    run = traces[0][0].run
    head = f"{_counted(run, [opened for opened, _ in traces])}; each follows below."
    return Document(run.name, (*verdict, head, *run.remarks), (_findings(traces), _workers(traces)))


def _counted(run: Run, traces: Sequence[Opened]) -> str:
    """``4 recordings of 2 ranks``, ``4 recordings of 2 jobs with 2 ranks each``, ``3 recordings of separate processes``."""
    jobs: dict[int, set[str]] = {}
    for opened in traces:
        jobs.setdefault(opened.worker.job, set()).add(opened.worker.name)
    workers = {worker.name: worker for worker in run.workers}
    recordings = f"{format_count(len(traces))} recording{'' if len(traces) == 1 else 's'}"
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
                format_ns(payload.step_ns),
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


def _findings(traces: Traces) -> Table:
    """Each kind of finding once, the most expensive first, with the worker that it costs most."""
    kinds: dict[str, list[tuple[Opened, Finding]]] = {}
    for opened, payload in traces:
        for finding in payload.findings:
            kinds.setdefault(finding.title, []).append((opened, finding))
    rows = []
    for listed in sorted(
        kinds.values(), key=lambda kind: -max(finding.share or 0.0 for _, finding in kind)
    ):
        opened, worst = max(listed, key=lambda item: item[1].share or 0.0)
        workers = len({traced.worker.name for traced, _ in listed})
        event = _event(worst.evidence[0], opened) if worst.evidence else UNKNOWN
        rows.append(
            (
                worst.title,
                str(workers),
                format_ns(worst.recoverable_ns),
                format_share(worst.share),
                opened.worker.name,
                event,
            )
        )
    columns = (
        Column("Finding", "text"),
        Column("Workers"),
        Column("Saves"),
        Column("Of the step"),
        Column("On", "name"),
        Column("Event"),
    )
    return Table("Findings of the run", columns, rows, len(rows))


def _event(event: Evidence, opened: Opened) -> str:
    return event_id(event.event) + (
        f" of {event.worker}" if event.worker != opened.worker.name else ""
    )
