"""What host event names imply, computed once per distinct name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, is_one_of
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import STEP_MARK, Role
from torch_tb_profiler.store.strings import StringTable

_STEP = regex(rf"(?:ProfilerStep#|.{{1,200}}{STEP_MARK})(\d{{1,18}})$", re.DOTALL)
_DATALOADER = regex(r"enumerate\(Data(?:Loader|Pipe)\)#")
_DATA_PARALLEL = "DataParallel.forward"
_DISTRIBUTED = "DistributedDataParallel.forward"
GRAPH_LAUNCH = regex(r"(?:cuda|cu|hip|hipModule)GraphLaunch|xpuGraphLaunch")
_COLLECTIVE = regex(
    r"(?P<backend>nccl|rccl|gloo|ucc|mpi|hccl|xccl|oneccl|ccl|msccl|mscclpp|nvshmem|cncl|bkcl|eccl):(?!:)"
    r"|(?:_?c10d(?:_functional)?|_c10d_functional_autograd|symm_mem|deep_ep)::"
    r"|record_param_comms"
)
HOST_LIBRARIES = ("gloo", "mpi", "ucc")
"""Libraries whose host region is the transfer itself, not its launch."""

EVALUATE = "autograd::engine::evaluate_function: "
"""Prefix of the engine's calls of backward functions (torch/csrc/autograd/engine.cpp)."""
HIDDEN = frozenset(
    (
        "[memory]",
        "[OutOfMemory]",
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
    )
)
"""Events that ``torch.profiler`` leaves out of its tree (``_filter_name``, profiler_util.py)."""


class HostNames(msgspec.Struct, frozen=True):
    """Arrays by string number, of shape (strings + 1,); the last entry is for −1.

    step: int64, N of ``ProfilerStep#N``, or as another writer counts its steps; −1 otherwise.
    dataloader: waits for the next batch.
    region: recorded as an operator by old versions but none: steps, DataLoader, optimizer and
        DataParallel regions, and Lightning's (``[pl][module]…``, ``[pl][profile]…``).
    collective: a collective or point-to-point transfer.
    transfer: one that a host thread carries out itself.
    hidden: ``torch.profiler`` does not show it.
    graph_launch: replays a captured graph.
    backends: communication backends that the names mention.
    data_parallel: whether ``DataParallel`` is among the names.
    """

    step: Ints
    dataloader: Mask
    region: Mask
    collective: Mask
    transfer: Mask
    hidden: Mask
    graph_launch: Mask
    backends: tuple[str, ...]
    data_parallel: bool


def distinct(numbers: Array, strings: StringTable) -> list[int]:
    """The distinct string numbers in an array, ascending, without −1."""
    present = mask_of(len(strings) + 1, numbers)
    used: list[int] = np.flatnonzero(present[:-1]).tolist()
    return used


def is_engine_call(name: str) -> bool:
    """Whether a name is that of the autograd engine's call of a function."""
    return name.startswith(EVALUATE)


def name_mask(strings: StringTable, numbers: Array, says: Callable[[str], object]) -> Mask:
    """Which strings of ``numbers`` satisfy ``says``; bool of shape (strings + 1,), last for −1."""
    mask = mask_of(
        len(strings) + 1, [number for number in distinct(numbers, strings) if says(strings[number])]
    )
    return mask


def named(trace: Trace, rows: Ints, says: Callable[[str], object]) -> Mask:
    """Which rows of spans have a name of which ``says`` is true; asked once per distinct name."""
    name = trace["spans"]["name"].take(rows)
    return name_mask(trace.strings, name, says).take(name)


def spans_named(trace: Trace, rows: Mask, says: Callable[[str], object]) -> Mask:
    """Which of ``rows``, a mask of spans, have a name of which ``says`` is true; bool of shape (spans,)."""
    row = np.flatnonzero(rows)
    return mask_of(len(rows), row[named(trace, row, says)])


def host_names(strings: StringTable, used: Array) -> HostNames:
    """What the names ``used`` (string numbers, repeats allowed) imply."""
    n = len(strings) + 1
    step = np.full(n, -1, np.int64)
    dataloader, region, collective, transfer, hidden, graph = (
        np.zeros(n, np.bool_) for _ in range(6)
    )
    backends: set[str] = set()
    data_parallel = False
    for number in distinct(used, strings):
        text = strings[number]
        if match := _STEP.match(text):
            step[number] = int(match.group(1))
        elif text in HIDDEN:
            hidden[number] = True
        elif _DATALOADER.match(text):
            dataloader[number] = True
        elif text in (_DATA_PARALLEL, _DISTRIBUTED):
            data_parallel |= text == _DATA_PARALLEL
        elif GRAPH_LAUNCH.match(text):
            graph[number] = True
        elif match := _COLLECTIVE.match(text):
            collective[number] = True
            transfer[number] = match["backend"] in HOST_LIBRARIES
            backends.update(filter(None, (match["backend"],)))
            continue
        elif not text.startswith(("Optimizer.", "[pl][")):
            continue
        region[number] = not (hidden[number] or graph[number])
    named_backends = tuple(sorted(backends))
    return HostNames(
        step,
        dataloader,
        region,
        collective,
        transfer,
        hidden,
        graph,
        named_backends,
        data_parallel,
    )


def distinct_names(trace: Trace, *roles: Role) -> Iterator[str]:
    """The distinct names of the spans of some roles."""
    role, name = trace["spans"]["role"], trace["spans"]["name"]
    for number in distinct(name.take(np.flatnonzero(is_one_of(role, roles))), trace.strings):
        yield trace.strings[number]
