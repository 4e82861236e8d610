"""The messages of a Perfetto trace that are read, from the published schema.

``schema.txt`` declares them. Fields that are not
named here are skipped by the decoder. Texts are declared ``bytes``, which is the same on the wire:
they need not be UTF-8, and most of them are looked up without being decoded. Annotations, interned data and
defaults are ``bytes`` as well: packets come with none or with ones that came before.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from torch_tb_profiler.data_rows import rows_beside

DECODE_ERRORS = (DecodeError, RecursionError, ValueError)
"""What decoding a damaged message raises."""

_PACKAGE = "torch_tb_profiler.perfetto"
_ONE_OF = "|"
"""Begins the fields of which a message has one at most."""
_REPEATED = "[]"

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
"""``TrackEvent.Type``."""
CLEARED = 1
"""Flag of ``sequence_flags``: what was interned before is forgotten."""
REALTIME, BOOTTIME = 1, 6
"""``BuiltinClock``."""
OWN_CLOCKS = range(64, 128)
"""Ids of clocks of a sequence of packets."""

_Field = descriptor_pb2.FieldDescriptorProto


def _file() -> Any:
    """The descriptor of the messages in ``schema.txt``."""
    file = descriptor_pb2.FileDescriptorProto(
        name="torch_tb_profiler/perfetto.proto", package=_PACKAGE, syntax="proto2"
    )
    for name, (fields,) in (line for row in rows_beside(__file__) for line in row.items()):
        message = file.message_type.add(name=name)
        one_of = False
        for text in fields.split(", "):
            if text.startswith(_ONE_OF):
                message.oneof_decl.add(name="data")
                one_of = True
            field, kind, number = text.removeprefix(_ONE_OF).split()
            added = message.field.add(name=field, number=int(number))
            repeated, kind = kind.endswith(_REPEATED), kind.removesuffix(_REPEATED)
            added.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
            if kind[0].isupper():
                added.type, added.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                added.type = getattr(_Field, f"TYPE_{kind.upper()}")
            if one_of:
                added.oneof_index = 0
    return file


_POOL = descriptor_pool.DescriptorPool()
_POOL.Add(_file())


def message(name: str) -> Any:
    """The class of a message; its ``FromString`` raises ``DECODE_ERRORS``."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


Trace = message("Trace")
TracePacket = message("TracePacket")
DebugAnnotation = message("DebugAnnotation")
InternedData = message("InternedData")
TracePacketDefaults = message("TracePacketDefaults")
