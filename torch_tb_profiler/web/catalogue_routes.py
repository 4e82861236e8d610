"""The routes of the logdir, and of the page's words."""

from __future__ import annotations

from typing import Annotated

from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.views import wire
from torch_tb_profiler.views.definitions import definitions_payload
from torch_tb_profiler.views.diagnosis import diagnosis_payload
from torch_tb_profiler.views.runs_list import runs_payload
from torch_tb_profiler.web.parameters import Switch
from torch_tb_profiler.web.route import route


@route("/runs", report="logdir")
def runs(
    catalogue: Catalogue,
    rescan: Annotated[bool, Switch("Look at the logdir again, in the background.")] = False,
) -> wire.RunsPayload:
    """Runs, workers and spans with their states, and ``scanning`` while the first look at the logdir
    is not finished.
    """
    if rescan:
        catalogue.rescan()
    return runs_payload(catalogue.snapshot())


@route("/diagnosis", report="logdir")
def diagnosis(catalogue: Catalogue) -> wire.DiagnosisPayload:
    """Every file that was seen: imported, waiting, growing, failed or rejected, and why."""
    return diagnosis_payload(catalogue.snapshot())


@route("/definitions", report="logdir")
def definitions() -> wire.DefinitionsPayload:
    """What every label means, in one sentence each; [definitions.md](definitions.md) says more."""
    return definitions_payload()
