"""The ranks that a database states of its processes: in the environment of each, in MPI's table, in NCCL's ranges.

Sources: ``MPI_RANKS`` of Nsight Systems' schema; ``nvtx_payload_schemas.h`` of NCCL, whose ranges say ``Rank`` and ``No. of
ranks`` where a communicator is made; the variables of torchrun, Open MPI, MPICH, MVAPICH and Slurm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
import numpy as np

from torch_tb_profiler.importers.sqlite.database import MISSING, Database, Texts
from torch_tb_profiler.importers.sqlite.global_ids import process_of
from torch_tb_profiler.importers.sqlite.owners import Owners, Rank
from torch_tb_profiler.untrusted import json_value

_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
)
"""Of a rank and of how many there are; the first that is there counts. ``LOCAL_RANK`` counts anew on each node."""
_PROCESS = ("globalPid", "globalTid", "pid", "processId")
_MOST_VARIABLES = 1 << 16
_MOST_DIGITS = 7


COMMUNICATOR = "nccl communicator id"
"""What NCCL calls it in a payload, in small letters."""


class Communicator(msgspec.Struct, frozen=True):
    """What NCCL's range says where a process makes a communicator."""

    process: int
    name: str
    rank: int
    size: int


def read_ranks(database: Database, owners: Owners, made: Iterable[Communicator]) -> None:
    """Add the ranks of the processes of an export of Nsight Systems to ``owners``."""
    for each in made:
        process, rank, size = each.process, each.rank, each.size
        if size > (owners.ranks.get(process, Rank(-1, 0)).world_size or 0):
            owners.ranks[process] = Rank(rank, size)
    for process, rank in _numbers(database, "MPI_RANKS", "rank"):
        told = owners.ranks.get(process)
        same = told is not None and told.number == rank
        owners.ranks[process] = Rank(rank, told.world_size if same and told else None)
    variables: dict[int, dict[str, str]] = {}
    for table in database.tables:
        columns = {column.lower() for column in database.columns(table)}
        if {"name", "value"} <= columns and database.about(table) <= _MOST_VARIABLES:
            for process, name, value in _named(database, table):
                variables.setdefault(process, {})[name] = value
    add_variables(owners, variables)


def add_variables(owners: Owners, variables: Mapping[int, Mapping[str, str]]) -> None:
    """Add the ranks that the environment of each process tells."""
    for process, own in variables.items():
        for rank, size in _VARIABLES:
            if (number := _number(own.get(rank))) >= 0:
                world = _number(own.get(size))
                owners.ranks[process] = Rank(number, world if world > number else None)
                break


def variables_in(text: str) -> dict[str, str]:
    """The variables of an environment: a JSON object, or lines ``NAME=value``; in JSON a list of these, too."""
    value = json_value(text, text.replace("\0", "\n").splitlines())
    if isinstance(value, dict):
        return {str(key): str(own) for key, own in value.items()}
    lines = value if isinstance(value, list) else []
    return dict(line.split("=", 1) for line in lines if isinstance(line, str) and "=" in line)


def _number(text: str | None) -> int:
    """−1: no number."""
    return int(text) if text and text.isdecimal() and len(text) <= _MOST_DIGITS else -1


def _process_of(global_id: int) -> int:
    return int(process_of(np.array([global_id]))[0])


def _numbers(database: Database, table: str, column: str) -> Iterator[tuple[int, int]]:
    for rows in database.rows(table, [*_PROCESS, column]):
        for *ids, number in rows.tuples(*_PROCESS, column):
            if 0 <= number < 10**_MOST_DIGITS:
                yield _process(ids), number


def _named(database: Database, table: str) -> Iterator[tuple[int, str, str]]:
    for rows in database.rows(table, _PROCESS, ["name", "value"]):
        for *ids, name, value in rows.tuples(*_PROCESS, "name", "value"):
            yield _process(ids), name, value


def _process(ids: list[int]) -> int:
    """The process of a row by ``_PROCESS``; ``MISSING``: it says none."""
    of_all, of_thread, *plain = ids
    whole = of_thread if of_all == MISSING else of_all
    if whole != MISSING:
        return _process_of(whole)
    return next((number for number in plain if number != MISSING), MISSING)


def payload(text: str) -> dict[str, str]:
    """What NCCL's range says of its call; keys in small letters."""
    return {key.lower(): value for key, value in variables_in(text).items()}


def communicators(database: Database, texts: Texts) -> Iterator[Communicator]:
    """The communicators of NCCL that are made while the recording runs."""
    columns = database.columns("NVTX_EVENTS").keys()
    if not {"jsonText", "textId"} <= columns or not database.has("StringIds"):
        return
    made = "SELECT [id] FROM [StringIds] WHERE [value] LIKE 'ncclComm%'"
    where = f"[textId] IN ({made}) OR [text] LIKE 'ncclComm%'"
    numbers = ["globalTid", "jsonTextId"]
    for rows in database.rows("NVTX_EVENTS", numbers, ["jsonText"], where=where):
        for thread, number, own in rows.tuples(*numbers, "jsonText"):
            told = payload(own or texts.text(number))
            rank, size = _number(told.get("rank")), _number(told.get("no. of ranks"))
            if 0 <= rank < size and thread != MISSING:
                name = told.get(COMMUNICATOR, "")
                yield Communicator(_process_of(thread), name, rank, size)
