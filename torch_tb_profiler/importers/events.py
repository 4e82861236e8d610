"""The entries of ``traceEvents`` as the decoder sees them; msgspec skips all other fields.

Fields whose text must survive (times with more digits than a float, shapes that are interned) are
``msgspec.Raw``. ``gc=False``: a chunk creates about 30,000 of these, none part of a cycle.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
from msgspec import Raw, field

ABSENT = Raw(b"")
"""A Raw field that the event does not have; compare lengths."""

Id = int | str | float | None
"""Ids of processes, threads, streams and flows: integers in Kineto, text elsewhere."""
Count = int | None
Figure = float | None


class Args(msgspec.Struct, gc=False):
    """The arguments that become columns; see ``store/schema.py``."""

    external: Count = field(default=None, name="External id")
    external_old: Count = field(default=None, name="external id")
    correlation: Count = None
    dims: Raw = field(default=ABSENT, name="Input Dims")
    dims_old: Raw = field(default=ABSENT, name="Input dims")
    types: Raw = field(default=ABSENT, name="Input type")
    strides: Raw = field(default=ABSENT, name="Input Strides")
    concrete: Raw = field(default=ABSENT, name="Concrete Inputs")
    stack: Raw = field(default=ABSENT, name="Call stack")
    sequence: Count = field(default=None, name="Sequence number")
    forward_thread: Count = field(default=None, name="Fwd thread id")
    hierarchy: Raw = field(default=ABSENT, name="Module Hierarchy")
    python_id: Count = field(default=None, name="Python id")
    python_parent: Count = field(default=None, name="Python parent id")
    python_module: Count = field(default=None, name="Python module id")
    device: Id = None
    stream: Id = None
    kernel: Raw = ABSENT
    node: Count = field(default=None, name="graph node id")
    annotation: Raw = ABSENT
    module_fqn: Raw = ABSENT
    grid: Raw = ABSENT
    block: Raw = ABSENT
    registers: Count = field(default=None, name="registers per thread")
    shared_memory: Count = field(default=None, name="shared memory")
    blocks_per_sm: Figure = field(default=None, name="blocks per SM")
    occupancy: Figure = field(default=None, name="est. achieved occupancy %")
    bytes: Count = None
    address: Count = field(default=None, name="Addr")
    size: Count = field(default=None, name="Bytes")
    device_type: Count = field(default=None, name="Device Type")
    device_id: Count = field(default=None, name="Device Id")
    allocated: Count = field(default=None, name="Total Allocated")
    reserved: Count = field(default=None, name="Total Reserved")
    collective: Raw = field(default=ABSENT, name="Collective name")
    dtype: Raw = ABSENT
    group: Raw = field(default=ABSENT, name="Process Group Name")
    group_size: Count = field(default=None, name="Group size")
    elements_in: Count = field(default=None, name="In msg nelems")
    elements_out: Count = field(default=None, name="Out msg nelems")
    collective_sequence: Count = field(default=None, name="Seq")
    source: Count = field(default=None, name="Src Rank")
    destination: Count = field(default=None, name="Dst Rank")
    wait_stream: Id = field(default=None, name="wait_on_stream")
    wait_record: Count = field(default=None, name="wait_on_cuda_event_record_corr_id")
    label: Raw = field(default=ABSENT, name="name")
    labels: Raw = ABSENT
    sort_index: Raw = ABSENT


class Event(msgspec.Struct, gc=False):
    """One entry of ``traceEvents``; ``ts`` and ``dur`` are decimal microseconds."""

    ph: str = ""
    name: str | None = None
    cat: str | None = None
    pid: Id = None
    tid: Id = None
    ts: Raw = ABSENT
    dur: Raw = ABSENT
    id: Id = None
    args: Args | None = None


class WholeArgs(msgspec.Struct, gc=False):
    """An entry with its arguments unparsed, for counters and instants."""

    args: Raw = ABSENT


class LooseEvent(msgspec.Struct, gc=False):
    """An entry whose fields may have any type."""

    ph: Raw = ABSENT
    name: Raw = ABSENT
    cat: Raw = ABSENT
    pid: Raw = ABSENT
    tid: Raw = ABSENT
    ts: Raw = ABSENT
    dur: Raw = ABSENT
    id: Raw = ABSENT
    args: Raw = ABSENT


EVENTS = msgspec.json.Decoder(list[Event])
EVENT = msgspec.json.Decoder(Event)
WHOLE_ARGS = msgspec.json.Decoder(list[WholeArgs])
LOOSE = msgspec.json.Decoder(LooseEvent)
RAWS = msgspec.json.Decoder(list[Raw])
RAW_DICT = msgspec.json.Decoder(dict[str, Raw])
ANY = msgspec.json.Decoder(Any)
DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)

_ARG_DECODERS = {
    f.encode_name: (f.name, msgspec.json.Decoder(f.type)) for f in msgspec.structs.fields(Args)
}
_TEXT_FIELDS = ("ph", "name", "cat")


def decode_loose(text: bytes) -> tuple[Event, int]:
    """An event whose fields may have any type, and how many had an unusable one.

    Raises:
        msgspec.DecodeError, RecursionError: the text is not a JSON object or nests too deeply.
    """
    loose = LOOSE.decode(text)
    wrong = 0
    event = Event(ts=loose.ts, dur=loose.dur)
    for key in _TEXT_FIELDS:
        value = _any(getattr(loose, key))
        if value is not None:
            setattr(event, key, value if isinstance(value, str) else str(value))
            wrong += not isinstance(value, str)
    for key in ("pid", "tid", "id"):
        value = _any(getattr(loose, key))
        if value is not None:
            setattr(event, key, value if isinstance(value, int | str | float) else str(value))
    if len(bytes(loose.args)) > 0:
        event.args, wrong_args = _loose_args(bytes(loose.args))
        wrong += wrong_args
    return event, wrong


def _loose_args(text: bytes) -> tuple[Args | None, int]:
    try:
        raw = RAW_DICT.decode(text)
    except DECODE_ERRORS:
        return None, int(text != b"null")
    args, wrong = Args(), 0
    for key, value in raw.items():
        known = _ARG_DECODERS.get(key)
        if known is None:
            continue
        try:
            setattr(args, known[0], known[1].decode(value))
        except DECODE_ERRORS:
            number = number_in_text(value, known[1].type == Figure)
            if number is None:
                wrong += 1
            else:
                setattr(args, known[0], number)
    return args, wrong


def number_in_text(raw: Raw, real: bool) -> int | float | None:
    """``"12"`` and ``12.0`` mean 12; ``real``: any finite number may stand there."""
    value = _any(raw)
    try:
        if real and isinstance(value, int | str) and not isinstance(value, bool):
            return float(value) if math.isfinite(float(value)) else None
        if isinstance(value, str):
            return int(value, 0)
        if isinstance(value, float) and value.is_integer():
            return int(value)
    except (ValueError, OverflowError):
        pass
    return None


def whole_number(raw: Raw) -> int:
    """A number that may be written as a text; −1 for everything else."""
    value = _any(raw)
    if type(value) is int:
        return value
    number = number_in_text(raw, real=False)
    return number if isinstance(number, int) else -1


def _any(raw: Raw) -> Any:
    if not len(bytes(raw)):
        return None
    try:
        return ANY.decode(raw)
    except DECODE_ERRORS:
        return None
