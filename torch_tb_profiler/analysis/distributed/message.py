"""Kind, data type and message size of collectives, from their arguments or their call's shapes."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, positions_of
from torch_tb_profiler.analysis.distributed.collectives import (
    CollectiveCalls,
    argument_column,
    kind_of,
    point_to_point,
)
from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.hardware.element_types import element_bytes
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts, Trace

WORDS = {
    "reducescatter": "reduce_scatter",
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "alltoall": "all_to_all",
}
"""Displayed kinds, where they differ from the word that is matched in names."""
COALESCED = "coalesced"
WHOLE = ("all_gather", "reduce_scatter", "gather", "scatter")
"""Kinds whose message is the data of all ranks: group size times each rank's part."""
LARGEST = (1 << 62) - 1
MOST_DIMENSIONS = 64
"""PyTorch's limit."""
_PEERS = regex(r"\b(?:send|recv)\w* (\d{1,9})(?:->|<-)(\d{1,9})")


class Message(msgspec.Struct, frozen=True):
    """``bytes``: −1 unknown. ``dtype``: empty if unknown."""

    bytes: int
    dtype: str


def kind_word(text: str) -> str:
    """The displayed kind of a collective or transfer in any spelling; empty if the text names none."""
    bare = text.rpartition(":")[2] if ":" in text else text
    if transfer := point_to_point(bare):
        return transfer
    kind = kind_of(text)
    return WORDS.get(kind, kind) or (COALESCED if COALESCED in text.lower() else "")


def peer_of(name: str) -> int:
    """The other rank in the region name of a transfer (``nccl:send 0->1``); −1 if there is none."""
    match = _PEERS.search(name)
    return int(match[2]) if match else -1


def messages(
    trace: Trace, facts: Facts, calls: CollectiveCalls, kind: list[str], group_size: Ints
) -> list[Message]:
    """The message of each call: elements × type size if the arguments say both, else from the
    call's shapes.

    kind: ``kind_word`` of each call.
    group_size: int64 of shape (calls,), −1 unknown.
    """
    arguments, shapes = trace["collective_args"], trace["operator_args"]
    dtype = argument_column(arguments, calls.argument, "dtype")
    elements = np.maximum(
        argument_column(arguments, calls.argument, "elements_in"),
        argument_column(arguments, calls.argument, "elements_out"),
    )
    own_shapes = positions_of(shapes["span"], calls.named)
    above = facts["span_links"]["parent"][calls.named].astype(np.int64)
    outer_shapes = positions_of(shapes["span"], np.where(calls.named >= 0, above, -1))
    codes = np.unique(np.array(kind, str), return_inverse=True)[1]
    columns = [dtype, elements, codes, group_size]
    for index in (own_shapes, outer_shapes):
        columns += [np.append(shapes[column], -1)[index] for column in ("dims", "types")]
    first, group = group_rows(columns)
    distinct_messages = []
    for row in first.tolist():
        described = [
            (trace.strings[int(columns[i][row])], trace.strings[int(columns[i + 1][row])])
            for i in (4, 6)
        ]
        distinct_messages.append(
            _message(
                trace.strings[int(dtype[row])],
                int(elements[row]),
                kind[row],
                int(group_size[row]),
                described,
            )
        )
    return [distinct_messages[index] for index in group.tolist()]


def _message(
    dtype: str, elements: int, kind: str, group_size: int, described: list[tuple[str, str]]
) -> Message:
    size = element_bytes(dtype)
    if elements >= 0 and size is not None:
        return Message(min(elements * size, LARGEST), dtype)
    read = [tensors for tensors in (_tensors(*texts) for texts in described) if tensors]
    if not read:
        return Message(-1, dtype)
    # Of calls with an input and an output tensor the larger one is the whole message.
    nearest, widest = read[0], read[-1]
    types = {name for _, name in nearest}
    name = dtype or (types.pop() if len(types) == 1 else "")
    if kind not in WHOLE:
        return Message(_size(nearest[:1]), name)
    two = [_size([tensor]) for tensor in widest[:2]]
    if len(two) == 2 and min(two) > 0 and max(two) != min(two):
        return Message(max(two), name)
    own = _size(nearest[:1])
    return Message(min(own * group_size, LARGEST) if own >= 0 and group_size > 0 else -1, name)


def _tensors(dims: str, types: str) -> list[tuple[int, str]]:
    """``(elements, type)`` per entry of ``Input Dims`` and ``Input type``; lists are summed."""
    shapes, names = (json_list(text) or [] for text in (dims, types))
    tensors = []
    for shape, name in zip(shapes, names, strict=False):
        count = _elements(shape)
        if count is not None and isinstance(name, str) and element_bytes(name) is not None:
            tensors.append((count, name))
    return tensors


def _elements(shape: Any) -> int | None:
    """Elements of a shape ``[2, 3]``, or in total of a list of shapes; None if invalid."""
    if not isinstance(shape, list) or not shape:
        return None
    shapes = shape if all(isinstance(part, list) for part in shape) else [shape]
    if not all(
        type(size) is int and 0 <= size <= LARGEST for part in shapes for size in part
    ) or not all(shapes):
        return None
    count = (
        sum(math.prod(part) for part in shapes)
        if max(map(len, shapes)) <= MOST_DIMENSIONS
        else LARGEST + 1
    )
    return count if count <= LARGEST else None


def _size(tensors: list[tuple[int, str]]) -> int:
    """Total bytes of tensors; −1 without any."""
    return (
        min(sum(count * (element_bytes(name) or 0) for count, name in tensors), LARGEST)
        if tensors
        else -1
    )
