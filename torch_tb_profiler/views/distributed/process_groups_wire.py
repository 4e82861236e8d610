"""Wire types of the process groups in the Distributed view. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from torch_tb_profiler.analysis.distributed.group_table import PROCESS_GROUPS
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Wire

MatrixSide = Literal["rank", "node", "ranks"]


class ProcessGroupsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/distributed/groups``. ``sent_bytes``: from each of ``names`` (rows) to each (columns); null within a rank.
    ``side``: what a row and a column is: a rank, a node, or as many consecutive ranks as ``together`` says. ``rule``: how
    the bytes were counted, in words.
    """

    groups: Annotated[dict[str, Any], table_of(PROCESS_GROUPS)]
    names: list[str]
    side: MatrixSide
    together: int
    sent_bytes: list[list[int | None]]
    rule: str
    notes: list[str]
    progress: float
