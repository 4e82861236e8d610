"""Arguments by which events whose category tells no role are placed once all processes are known
(``inferred_roles.py``). Other profilers write numbers as texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec
from msgspec import Raw, field

from torch_tb_profiler.importers.events import ABSENT, DECODE_ERRORS, whole_number
from torch_tb_profiler.store.columns import declared

LATE_ARGS = declared("""
late_args: Arguments by which events of role OTHER may still be placed, ordered by span.
    span      i4  row of spans        The event.
    task      i4  number of a string  `Task Type` of a task of an Ascend device.
    dtype     i4  number of a string  `data_type` of a collective.
    link      i8  -                   Id that links it to other events; -1 none.
    stream    i8  -                   Stream; -1 unknown.
    bytes     i8  bytes               Bytes of a copy; -1 unknown.
    elements  i8  elements            Elements of a collective; -1 unknown.
    ranks     i8  ranks               Ranks of a collective; -1 unknown.
    step      i8  -                   Number of a step; -1 none.
    operator  i4  number of a string  Type of an operator; -1 none.
    provider  i4  number of a string  What runs it; -1 unknown.
    inputs    i4  number of a string  Types and shapes of its inputs as JSON text; -1 unknown.
    surplus   i4  ps                  Its duration as written, less the whole ns that are stored.
""")
"""A table of the import alone: no ``Trace`` keeps it."""


class LateArgs(msgspec.Struct, gc=False):
    """The arguments as written."""

    task: Raw = field(default=ABSENT, name="Task Type")
    connection: Raw = field(default=ABSENT, name="connection_id")
    correlation: Raw = field(default=ABSENT, name="correlation_id")
    stream: Raw = field(default=ABSENT, name="Physic Stream Id")
    stream_old: Raw = field(default=ABSENT, name="Stream Id")
    stream_amd: Raw = field(default=ABSENT, name="stream-id")
    bytes: Raw = field(default=ABSENT, name="size(B)")
    dtype: Raw = field(default=ABSENT, name="data_type")
    elements: Raw = field(default=ABSENT, name="count")
    ranks: Raw = field(default=ABSENT, name="rank_size")
    step: Raw = field(default=ABSENT, name="step_num")
    operator: Raw = field(default=ABSENT, name="op_name")
    operator_xla: Raw = field(default=ABSENT, name="hlo_op")
    provider: Raw = ABSENT
    inputs: Raw = field(default=ABSENT, name="input_type_shape")

    @property
    def texts(self) -> tuple[Raw, ...]:
        """The columns ``TEXTS``."""
        operator = _first(self.operator, self.operator_xla)
        return self.task, self.dtype, operator, self.provider, self.inputs

    @property
    def numbers(self) -> tuple[int, ...]:
        """The columns ``NUMBERS``."""
        raws = (
            _first(self.connection, self.correlation),
            _first(self.stream, self.stream_old, self.stream_amd),
            self.bytes,
            self.elements,
            self.ranks,
            self.step,
        )
        return tuple(whole_number(raw) if len(raw) else -1 for raw in raws)


_DECIMALS = 4
"""Decimals of a µs that are whole ns, and the point."""
NUMBERS = ("link", "stream", "bytes", "elements", "ranks", "step")
TEXTS = ("task", "dtype", "operator", "provider", "inputs")
_DECODER = msgspec.json.Decoder(LateArgs)
_NONE = LateArgs()


def surplus(text: Raw, ns: int) -> int:
    """What a duration in µs has beyond the ns that are stored, in ps; mostly 0."""
    written = bytes(text)
    dot = written.find(b".")
    if dot < 0 or len(written) - dot <= _DECIMALS:
        return 0
    try:
        found = int(Decimal(written.strip(b' "').decode("ascii")) * 1_000_000) - 1000 * ns
    except (ArithmeticError, ValueError):
        return 0
    return found if abs(found) < 1000 else 0


def late_args(blobs: Sequence[Raw]) -> list[LateArgs]:
    """Of each event's arguments as JSON."""
    return list(map(_late, blobs))


def is_empty(args: LateArgs) -> bool:
    """Whether none of these is among an event's arguments."""
    return args is _NONE or args == _NONE


def _late(blob: Raw) -> LateArgs:
    if not len(blob):
        return _NONE
    try:
        return _DECODER.decode(blob)
    except DECODE_ERRORS:
        return _NONE


def _first(*raws: Raw) -> Raw:
    return next((raw for raw in raws if len(raw)), ABSENT)
