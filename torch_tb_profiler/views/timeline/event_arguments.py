"""The arguments of an event as texts: those that the import keeps, and all in the file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import position_of
from torch_tb_profiler.analysis.figures.kernels import fused_operators
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.units import format_count
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.timeline.wire import Argument, EventArgsPayload
from torch_tb_profiler.views.words.texts import cut
from torch_tb_profiler.views.words.vocabulary import vocabulary

LONGEST_NAME = 1000
"""Characters of a name in a table."""
LONGEST_VALUE = 1 << 16
LONGEST_TEXT = 1 << 20
MOST_ARGUMENTS = 1000
_OBJECT: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)

OPERATOR_LABELS = {
    "dims": "Input shapes",
    "types": "Input types",
    "strides": "Input strides",
    "concrete": "Concrete inputs",
}
_OPERATOR_NUMBERS = {"sequence": "Sequence number", "forward_thread": "Forward thread"}
_DEVICE_NUMBERS = {"device": "Device", "stream": "Stream"}
_COLLECTIVE = {"collective": "Collective", "dtype": "Data type", "group": "Process group"}
_COLLECTIVE_NUMBERS = {
    "group_size": "Ranks in the group",
    "elements_in": "Elements in",
    "elements_out": "Elements out",
    "sequence": "Sequence in the group",
}
_PYTHON_NUMBERS = {"id": "Python id", "parent": "Python parent id", "module": "Python module id"}


def kept_arguments(trace: Trace, facts: Facts, event: int) -> list[Argument]:
    """The arguments that the import keeps of an event."""
    spans = trace["spans"]
    if event >= spans.n:
        return _members(trace.strings[int(trace["instants"]["args"][event - spans.n])])
    fused = fused_operators(trace.strings[int(spans["name"][event])])
    arguments = [
        *([Argument(name="Fused operators", value=fused)] if fused else ()),
        *_texts(trace, "operator_args", event, OPERATOR_LABELS),
        *_numbers(trace, "operator_args", event, _OPERATOR_NUMBERS),
        *_of_device(trace, facts, event),
        *_texts(trace, "collective_args", event, _COLLECTIVE),
        *_numbers(trace, "collective_args", event, _COLLECTIVE_NUMBERS),
        *_numbers(trace, "python_args", event, _PYTHON_NUMBERS),
        *_of_range(trace, event),
    ]
    for column, name in (("correlation", "Correlation"), ("external", "External id")):
        if spans[column][event] >= 0:
            arguments.append(Argument(name=name, value=str(int(spans[column][event]))))
    return arguments


def _texts(trace: Trace, table: str, event: int, names: dict[str, str]) -> Iterator[Argument]:
    return _numbers(trace, table, event, names, lambda n: cut(trace.strings[n], LONGEST_VALUE))


def _numbers(
    trace: Trace, table: str, event: int, names: dict[str, str], show: Callable[[int], str] = str
) -> Iterator[Argument]:
    row = position_of(trace[table]["span"], event)
    for column, name in names.items() if row >= 0 else ():
        value = int(trace[table][column][row])
        if value >= 0:
            yield Argument(name=name, value=show(value))


def _of_device(trace: Trace, facts: Facts, event: int) -> Iterator[Argument]:
    multiprocessor = vocabulary(facts).multiprocessor
    yield from _numbers(trace, "device_args", event, _DEVICE_NUMBERS)
    yield from _texts(trace, "device_args", event, {"grid": "Grid", "block": "Block"})
    yield from _numbers(trace, "device_args", event, {"registers": "Registers per thread"})
    memory = {"shared_memory": "Shared memory per block"}
    yield from _numbers(trace, "device_args", event, memory, _bytes)
    row = position_of(trace["device_args"]["span"], event)
    shares = (
        ("blocks_per_sm", f"Blocks per {multiprocessor}", ""),
        ("occupancy", "Est. achieved occupancy", " %"),
    )
    for column, name, unit in shares if row >= 0 else ():
        value = float(trace["device_args"][column][row])
        if math.isfinite(value):
            yield Argument(name=name, value=f"{value:.6g}{unit}")
    yield from _numbers(trace, "device_args", event, {"bytes": "Bytes"}, _bytes)


def _of_range(trace: Trace, event: int) -> Iterator[Argument]:
    """The hardware counters of a profiled range."""
    table = trace["counter_args"]
    wanted = table["span"].dtype.type(event)
    first = int(np.searchsorted(table["span"], wanted))
    last = int(np.searchsorted(table["span"], wanted, side="right"))
    for row in range(first, min(last, first + MOST_ARGUMENTS)):
        value = float(table["value"][row])
        shown = format_count(value) if value.is_integer() else f"{value:.6g}"
        name = cut(trace.strings[int(table["counter"][row])], LONGEST_VALUE)
        yield Argument(name=name, value=shown)


def _bytes(value: int) -> str:
    return f"{format_count(value)} B"


def args_payload(text: str) -> EventArgsPayload:
    """Route ``/trace/event/args``: ``text`` is the event as it stands in the file."""
    return EventArgsPayload(
        arguments=_members(_object(text).get("args", b"")), text=cut(text, LONGEST_TEXT)
    )


def _members(text: bytes | str) -> list[Argument]:
    """The members of a JSON object as texts; none of another text."""
    listed = islice(_object(text).items(), MOST_ARGUMENTS)
    return [
        Argument(name=cut(name, LONGEST_VALUE), value=cut(_plain(value), LONGEST_VALUE))
        for name, value in listed
    ]


def _object(text: bytes | str) -> dict[str, bytes]:
    """The unparsed members of a JSON object, so that numbers keep their digits."""
    try:
        return {name: bytes(value) for name, value in _OBJECT.decode(text).items()}
    except _ERRORS:
        return {}


def _plain(value: bytes) -> str:
    try:
        parsed = _ANY.decode(value) if value[:1] == b'"' else None
        return (
            parsed
            if isinstance(parsed, str)
            else msgspec.json.format(value, indent=0).decode("utf-8", "replace")
        )
    except _ERRORS:
        return value.decode("utf-8", "replace")


def with_short_names(table: DisplayTable) -> dict[str, Any]:
    """A declared table as the reply holds it, its names cut."""
    names = [cut(name or "", LONGEST_NAME) for name in table.texts("name")]
    return wire_columns(table.with_columns(name=names))
