"""Every route over every public trace: the declared shape, strictly, and the sums that must hold."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from werkzeug.test import Client

from tests import public
from tests.analysis.figures import UNNAMED
from tests.web.served import Answering, body
from torch_tb_profiler.analysis.figures.selection import mask, select
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.cli.findings import RunFindings
from torch_tb_profiler.cli.plain_text import WIDTH, plain_text
from torch_tb_profiler.cli.summary import facts_object, trace_document
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened, Snapshot
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views import wire
from torch_tb_profiler.views.steps import step_objects
from torch_tb_profiler.web.application import Application

ROUTES: tuple[tuple[str, type[wire.Wire]], ...] = (
    ("/steps?", wire.StepsPayload),
    ("/overview?", wire.OverviewPayload),
    ("/overview?skip_cold=1&", wire.OverviewPayload),
    ("/operator?", wire.OperatorPayload),
    ("/operator?group=shape&", wire.OperatorPayload),
    ("/operator?group=stack&", wire.OperatorPayload),
    ("/kernel?", wire.KernelPayload),
    ("/kernel?group=properties&", wire.KernelPayload),
    ("/trace?", wire.TracePayload),
)


@dataclass
class Loaded(Answering):
    """A catalogue of the traces of one run, all ready."""

    traces: list[Opened]

    def snapshot(self) -> Snapshot:
        return Snapshot("v", False, ())

    def rescan(self) -> None:
        """Nothing changes."""

    def open(self, run: str, worker: str, span: str) -> Opened:
        return next(
            t
            for t in self.traces
            if (t.run.name, t.worker.name, t.span.name) == (run, worker, span)
        )


@pytest.fixture(scope="module", params=public.asked(public.FOLDERS))
def traces(request: pytest.FixtureRequest, real_traces: Path) -> list[Opened]:
    found = [item for item in load_all(str(request.param), Settings()) if isinstance(item, Opened)]
    assert found, "no trace of the run could be read"
    return found


def asked(trace: Opened, client: Client, route: str) -> Any:
    response = client.get(
        f"{route}run={trace.run.name}&worker={trace.worker.name}&span={trace.span.name}"
    )
    assert response.status_code == 200, response.data[:500]
    return body(response)


def test_payloads(traces: list[Opened]) -> None:
    client = Client(Application(Loaded(traces), Settings()))  # type: ignore[arg-type]
    for trace in traces:
        for route, shape in ROUTES:
            found = msgspec.json.decode(asked(trace, client, route), type=shape, strict=True)
            if isinstance(found, wire.OverviewPayload):
                for step in step_objects(found.steps):
                    known = [ns for ns in step["categories_ns"].values() if ns is not None]
                    assert (sum(known), min(known) >= 0) == (step["wall_ns"], True)
            if isinstance(found, wire.OperatorPayload | wire.KernelPayload):
                assert len({len(column) for column in found.rows.values()}) == 1


def in_steps(trace: Opened) -> int:
    """The number of kernels of the steps, of all where none are marked."""
    table = trace.facts["kernel_steps"]
    every = select(trace.facts)
    return int(table["calls"][mask(every, table["step"])].sum())


def test_groups_hold_the_same_sums(traces: list[Opened]) -> None:
    client = Client(Application(Loaded(traces), Settings()))  # type: ignore[arg-type]
    for trace in traces:
        by = [
            json.loads(asked(trace, client, f"/operator?group={g}&"))["rows"]
            for g in ("name", "shape", "stack")
        ]
        for column in ("calls", "host_self_ns"):
            assert len({sum(rows[column]) for rows in by}) == 1
        # A call of one shape within one of another shape counts only where shapes are told apart.
        totals = [sum(rows["host_total_ns"]) for rows in by]
        assert totals == sorted(totals)
        kernels = [
            json.loads(asked(trace, client, f"/kernel?group={g}&"))
            for g in ("name", "operator", "properties")
        ]
        assert len({sum(k["rows"]["total_ns"]) for k in kernels}) == 1
        assert {sum(k["rows"]["calls"]) for k in kernels} == {in_steps(trace)}
        for operator, reason in zip(
            kernels[1]["rows"]["operator"], kernels[1]["rows"]["no_operator"], strict=True
        ):
            assert (operator is None) == (reason is not None), (
                "a kernel without operator says why, and only such a one"
            )


def test_the_costliest_operator_has_callers_where_stacks_were_recorded(
    traces: list[Opened],
) -> None:
    client = Client(Application(Loaded(traces), Settings()))  # type: ignore[arg-type]
    for trace in traces:
        rows = json.loads(asked(trace, client, "/operator?"))["rows"]
        named = [at for at, how in enumerate(rows["attribution"]) if how not in UNNAMED]
        if named:
            first = named[0]
            query = {
                "run": trace.run.name,
                "worker": trace.worker.name,
                "span": trace.span.name,
                "name": rows["name"][first],
            }
            found = msgspec.json.decode(
                body(client.get("/callers", query_string=query)), type=wire.CallersPayload
            )
            above = zip(found.rows["parent"], found.rows["calls"], strict=True)
            assert sum(calls for parent, calls in above if parent < 0) <= rows["calls"][first]
            assert bool(found.rows["name"]) == rows["has_stack"][first]


def test_summary_and_report(traces: list[Opened]) -> None:
    for trace in traces:
        facts = facts_object(trace)
        again = json.loads(msgspec.json.encode(facts))
        assert again["events"]["total"] == trace.trace.entries
        assert sum(k["calls"] for k in again["kernels"]) == in_steps(trace)
        context = TraceContext(trace, Settings(use_cache=False))
        findings = next(iter(RunFindings([trace], context.settings)))[1]
        lines = plain_text(trace_document(context, findings)).splitlines()
        assert max(map(len, lines)) <= WIDTH


def test_a_window_of_the_file_is_a_trace_of_the_events_in_it(traces: list[Opened]) -> None:
    client = Client(Application(Loaded(traces), Settings()))  # type: ignore[arg-type]
    for trace in traces:
        spans = trace.trace["spans"]
        if not spans.n:
            continue
        start = int(spans["start"][spans.n // 2])
        end = start + 1_000_000
        query = {
            "run": trace.run.name,
            "worker": trace.worker.name,
            "span": trace.span.name,
            "t0": start,
            "t1": end,
        }
        found = json.loads(gzip.decompress(client.get("/trace/file", query_string=query).data))
        if any(e.get("ph") == "B" for e in found["traceEvents"]):
            # A window holds the begin and end events in it: of slices around it there is neither.
            continue
        slices = sum(e.get("ph") == "X" for e in found["traceEvents"])
        # Spans that the analysis left out as duplicates stand in the file all the same.
        inside = int(((spans["start"] <= end) & (spans["start"] + spans["dur"] >= start)).sum())
        assert slices >= inside > 0
        if not trace.trace.defects.as_dict():
            assert slices == inside
