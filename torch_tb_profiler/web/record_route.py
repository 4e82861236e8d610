"""``POST /record``: a job that listens is asked to record, with its token. It is the only route that is no
reading one, so it is not in the table of ``route.py``.

Another site's page cannot ask: a browser sends JSON elsewhere only after a preflight, which nobody answers.
"""

from __future__ import annotations

import threading

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.errors import BadRequest, Busy, NotFound
from torch_tb_profiler.live.client import record_live
from torch_tb_profiler.live.jobs import jobs_below
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.untrusted import decoded, readable
from torch_tb_profiler.views.record_wire import RecordedRank, RecordPayload, RecordRequest
from torch_tb_profiler.web import replies

PATH = "/record"
MOST_BYTES = 64 << 10


def record_handler(catalogue: Catalogue) -> replies.Handler:
    """What answers ``POST /record``; one request at a time."""
    asking = threading.Lock()

    def answer(request: Request) -> Response:
        asked = _read(request)
        folders = {readable(str(folder)): folder for folder, _ in jobs_below(catalogue.folders)}
        if asked.folder not in folders:
            raise NotFound("No job listens for this folder.", "Diagnosis lists those that do.")
        if not asking.acquire(blocking=False):
            raise Busy("Another recording is being planned.", "Try again in a moment.")
        try:
            report = record_live(
                str(folders[asked.folder]),
                steps=asked.steps,
                ranks=asked.ranks,
                token=asked.token,
                wait=False,
            )
        finally:
            asking.release()
        ranks = [RecordedRank(rank=found.rank, problem=found.problem) for found in report.ranks]
        planned = RecordPayload(at_step=report.at_step, steps=report.steps, ranks=ranks)
        return replies.send(request, replies.encode(planned), cache="no-store")

    return answer


def _read(request: Request) -> RecordRequest:
    if request.mimetype != "application/json":
        raise BadRequest("The body is not JSON.", "Send it with Content-Type: application/json.")
    if (request.content_length or 0) > MOST_BYTES:
        raise BadRequest(f"The body is larger than {format_bytes(MOST_BYTES)}.")
    try:
        return decoded(request.stream.read(MOST_BYTES), RecordRequest)  # type: ignore[no-any-return]
    except ValueError as error:
        raise BadRequest(f"The body is not what is expected: {error}.") from error
