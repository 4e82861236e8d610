"""The routes of the findings: what costs time that could be had back."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.fleet import Fleet, Fleets
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.distributed import LateSeat
from torch_tb_profiler.views.findings import Source, findings_payload
from torch_tb_profiler.views.findings_run import findings_in_run
from torch_tb_profiler.views.findings_wire import FindingsPayload
from torch_tb_profiler.web.insight_host import Insights, opened_insight, send_once
from torch_tb_profiler.web.replies import Handler

FEW = 16
"""Workers of a run up to which all are read for the findings of one; of larger runs the Distributed
view has it done.
"""


def handlers(insights: Insights, settings: Settings, fleets: Fleets) -> dict[str, Handler]:
    """Path → handler."""

    def findings(request: Request) -> Response:
        """What costs time that could be had back."""
        found = opened_insight(insights, request)
        asked = found.opened
        few = 1 < len(asked.run.beside(asked.worker)) <= FEW
        fleet = fleets.of(asked) if few else fleets.known(asked)
        whole = fleet if fleet is not None and fleet.complete else None
        progress = 1.0 if fleet is None or fleet.complete else min(round(fleet.progress, 2), 0.99)
        key = ("findings", tuple(member.id for member in whole.members) if whole else (), progress)
        source = Source(asked.trace, asked.facts, asked.worker.name, asked.span.name)
        return send_once(request, found, key, lambda: _payload(source, found, whole, progress))

    return {"/findings": findings}


def _payload(
    source: Source, found: OpenedInsight, fleet: Fleet | None, progress: float
) -> FindingsPayload:
    made = found.insight.about["findings"]
    if fleet is None:
        return findings_payload(source, made, progress)
    members = [fleet.members[number] for number in fleet.place]
    late = [LateSeat(one.member, one.late, one.cause) for one in fleet.late]
    return findings_in_run(
        source,
        made,
        fleet.figures,
        late,
        [(member.worker.name, member.span.name) for member in members],
    )
