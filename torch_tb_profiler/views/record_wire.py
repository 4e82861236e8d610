"""What route ``/record`` takes and answers."""

from __future__ import annotations

from typing import Annotated

import msgspec

from torch_tb_profiler.views.wire import Wire

_Rank = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]


class RecordRequest(Wire, frozen=True, kw_only=True):
    """What is to be recorded. ``folder``: of one of the jobs of ``/diagnosis``. ``ranks``: null all that listen.
    ``token``: the job's; the server never adds one that it could read.
    """

    folder: str
    steps: Annotated[int, msgspec.Meta(ge=1)]
    ranks: Annotated[list[_Rank], msgspec.Meta(min_length=1, max_length=4096)] | None
    token: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


class RecordedRank(Wire, frozen=True, kw_only=True):
    """A rank that was asked; ``problem``: why it will not record, else empty."""

    rank: int
    problem: str


class RecordPayload(Wire, frozen=True, kw_only=True):
    """Route ``/record``: the recording that was planned; its traces follow when its steps were taken."""

    at_step: int
    steps: int
    ranks: list[RecordedRank]
