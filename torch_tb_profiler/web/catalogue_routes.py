"""The routes of the logdir, and of the page's words."""

from __future__ import annotations

import os
from contextlib import suppress
from shlex import quote
from typing import Annotated

import msgspec

from torch_tb_profiler.live.job_files import jobs_below
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.products import INSIGHT, TIMELINE
from torch_tb_profiler.runs.waits import PHASES
from torch_tb_profiler.untrusted import prepared, readable
from torch_tb_profiler.views import wire
from torch_tb_profiler.views.definitions import definitions_payload
from torch_tb_profiler.views.tour_wire import TourPayload, tour_payload
from torch_tb_profiler.views.waiting import WaitingFor, WaitingPayload, waiting_payload
from torch_tb_profiler.views.wire import FILES
from torch_tb_profiler.web.parameters import OneOf, Switch
from torch_tb_profiler.web.route import ROUTES, SECOND, TRACE, route

TOUR = "tour.json"
LARGEST_TOUR = 1 << 16
"""Bytes of it; a larger one is no tour, nor is a link."""


@route("/runs", report="logdir")
def runs(
    catalogue: Catalogue,
    rescan: Annotated[bool, Switch("Scan the logdir again, in the background.")] = False,
) -> wire.RunsPayload:
    """Runs, workers and spans with their states; ``scanning`` until the logdir was scanned once."""
    if rescan:
        catalogue.rescan()
    return msgspec.convert(catalogue.snapshot(), prepared(wire.RunsPayload), from_attributes=True)


@route("/waiting", kept=False)
def waiting(
    catalogue: Catalogue,
    run: Annotated[str, TRACE["run"]],
    worker: Annotated[str, TRACE["worker"]],
    span: Annotated[str, TRACE["span"]],
    what: Annotated[
        WaitingFor,
        OneOf(
            "`answer`: what is told of the trace and of those recorded with it; `timeline`: that alone."
        ),
    ] = "answer",
    run2: Annotated[str, SECOND["run2"]] = "",
    worker2: Annotated[str, SECOND["worker2"]] = "",
    span2: Annotated[str, SECOND["span2"]] = "",
) -> WaitingPayload:
    """How far the answer is that somebody waits for; of a side B the answer of both traces. Nothing is made by asking.

    Raises:
        ImportFailed: it will not come; the reason is in the message.
    """
    places = [(run, worker, span), *([(run2, worker2, span2)] if run2 else [])]
    product, beside = (TIMELINE, False) if what == "timeline" else (INSIGHT, not run2)
    wait, asked = catalogue.waiting(product, places, beside=beside)
    return waiting_payload(
        wait.share,
        wait.phase,
        wait.begun,
        PHASES[product.name].items(),
        asked.bytes,
        wait.ready,
        wait.total,
        "recordings" if run2 else "ranks",
    )


@route("/tour")
def tour(catalogue: Catalogue) -> TourPayload:
    """Places to look at first, from the file `tour.json` of a local logdir; without one, none."""
    return tour_payload(
        _tour_text(catalogue),
        {run.name: [worker.name for worker in run.workers] for run in catalogue.snapshot().runs},
    )


def _tour_text(catalogue: Catalogue) -> bytes:
    """The tour of the first logdir on this machine that has one; empty where none does."""
    for logdir in catalogue.logdirs.values():
        if logdir.is_local:
            with suppress(OSError):
                return logdir.join(TOUR).read(LARGEST_TOUR)
    return b""


@route("/diagnosis", report="logdir")
def diagnosis(catalogue: Catalogue) -> wire.DiagnosisPayload:
    """Every file found: imported, waiting, growing, failed or rejected, and why."""
    snapshot = catalogue.snapshot()
    files = {
        column.name: [getattr(file, column.name) for file in snapshot.files]
        for column in FILES.columns
    }
    return wire.DiagnosisPayload(
        logdirs=list(snapshot.logdirs),
        notes=list(snapshot.notes),
        cluster=_cluster(catalogue),
        live=[
            wire.LiveJob(
                folder=readable(str(folder)),
                ranks=ranks,
                command=f"torch-tb-profiler record {_quoted(str(folder))} --steps 5",
            )
            for folder, ranks in jobs_below(catalogue.folders)
        ],
        files=files,
    )


def _quoted(path: str) -> str:
    """A path as a word for a shell, of printable characters: a name that holds an end of line must not run what follows
    it when the command is pasted.
    """
    if path.isprintable():
        return quote(path)
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\x{byte:02x}"
        for byte in os.fsencode(path)
    )
    return f"$'{escaped}'"


def _cluster(catalogue: Catalogue) -> wire.ClusterItem | None:
    link = catalogue.store.link
    if link is None:
        return None
    state, counts = link.state(), catalogue.store.queue.counts()
    known = state.connected
    return wire.ClusterItem(
        address=state.address,
        connected=known,
        workers=state.workers if known else None,
        others=state.others if known else None,
        threads=state.threads if known else None,
        memory=int(state.memory) if known else None,
        dashboard=state.dashboard or None,
        **counts._asdict(),
    )


@route("/definitions", report="logdir")
def definitions() -> wire.DefinitionsPayload:
    """What every label means, in one sentence each; [definitions.md](definitions.md) says more."""
    return definitions_payload(tuple(listed.answers for listed in ROUTES.values()))
