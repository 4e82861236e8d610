"""The routes of the Distributed view: all workers of a run."""

from __future__ import annotations

from typing import cast

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.fleet import Fleet, Fleets
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.distributed import FleetMember, LateSeat, distributed_payload
from torch_tb_profiler.views.distributed_wire import DistributedPayload
from torch_tb_profiler.views.wire import RankSource
from torch_tb_profiler.web import parameters, replies
from torch_tb_profiler.web.insight_host import Insights
from torch_tb_profiler.web.replies import Handler

KEPT = 16
"""Payloads of complete runs that are kept."""


def handlers(insights: Insights, settings: Settings, fleets: Fleets) -> dict[str, Handler]:
    """Path → handler."""
    bodies = Memo(KEPT)

    def distributed(request: Request) -> Response:
        run, worker, span = (
            parameters.text(request.args, name) for name in ("run", "worker", "span")
        )
        fleet = fleets.of(insights.open(run, worker, span))
        if not fleet.complete:
            # The next one knows more.
            return replies.send(request, replies.encode(payload_of(fleet)))
        # A fleet is made anew whenever anything of the catalogue changes; as long as it lives its
        # address is its own.
        body, _ = bodies.get(id(fleet), lambda: (replies.encode(payload_of(fleet)), fleet))
        return replies.send(request, body)

    return {"/distributed": distributed}


def payload_of(fleet: Fleet) -> DistributedPayload:
    """What is known of a run."""
    place = {member: number for number, member in enumerate(fleet.place)}
    seats = [
        FleetMember(
            m.worker.name,
            m.span.name,
            m.worker.rank,
            cast("RankSource", m.worker.rank_source),
            m.state,
            m.message,
            place.get(number, -1),
        )
        for number, m in enumerate(fleet.members)
    ]
    late = [LateSeat(one.member, one.late, one.cause) for one in fleet.late]
    return distributed_payload(
        seats, fleet.figures, late, round(fleet.progress, 3), fleet.workers_total
    )
