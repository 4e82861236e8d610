"""Debug annotations → fields of a JSON object, as a Chrome trace has them in ``args``.

::

    name "device"  int 0                                  "device":0
    name "Input Dims"  array (array (int 4, int 8), –)    "Input Dims":[[4,8],[]]

Most annotations of a trace are equal to an earlier one byte by byte, so each is read once. PyTorch
writes null as the text ``null``, and an empty list as an annotation without a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from torch_tb_profiler.importers.events import ANY
from torch_tb_profiler.importers.events import DECODE_ERRORS as JSON_ERRORS
from torch_tb_profiler.importers.perfetto.places import text_of
from torch_tb_profiler.importers.perfetto.schema import DECODE_ERRORS, DebugAnnotation
from torch_tb_profiler.store.defects import WRONG_TYPE, DefectCounts

MOST_KEPT, MOST_BYTES = 1 << 17, 32 << 20
"""Annotations that are remembered per sequence of packets, and their length in all."""
_DEEPEST = 64
_DICT, _ARRAY = 1, 2
"""``NestedValue.NestedType``."""
_encode = msgspec.json.encode


class Fields(dict[bytes, bytes]):
    """Annotation as it stands in the file → its field, ``b""`` if it is damaged.

    ``names`` and ``texts`` are what its sequence interned.
    """

    def __init__(self, counts: DefectCounts) -> None:
        self.names: dict[int, bytes] = {}
        self.texts: dict[int, bytes] = {}
        self._counts = counts
        self._bytes = 0

    def __missing__(self, data: bytes) -> bytes:
        if len(self) >= MOST_KEPT or self._bytes > MOST_BYTES:
            self.clear()
            self._bytes = 0
        self[data] = field = self._field(data)
        self._bytes += len(data) + len(field)
        return field

    def forget(self) -> None:
        """Drop everything interned."""
        self.clear()
        self.names.clear()
        self.texts.clear()

    def of(self, annotations: Any) -> bytes:
        """The fields of an event's annotations."""
        fields = b",".join([self[data] for data in annotations])
        return fields if b",," not in fields and fields[:1] != b"," else _without_gaps(self, annotations)

    def _field(self, data: bytes) -> bytes:
        try:
            annotation = DebugAnnotation.FromString(data)
            return self._named(annotation, 0)
        except DECODE_ERRORS:
            self._counts.add(WRONG_TYPE)
            return b""

    def _named(self, annotation: Any, depth: int) -> bytes:
        name = annotation.name or self.names.get(annotation.name_iid, b"")
        return _encode(text_of(name)) + b":" + self._value(annotation, depth)

    def _value(self, annotation: Any, depth: int) -> bytes:
        if depth > _DEEPEST:
            raise ValueError("annotation nests too deeply")
        kind = annotation.WhichOneof("data")
        if kind is None:
            if annotation.dict_entries:
                named = [self._named(entry, depth + 1) for entry in annotation.dict_entries]
                return b"{" + b",".join(named) + b"}"
            values = [self._value(value, depth + 1) for value in annotation.array_values]
            return b"[" + b",".join(values) + b"]"
        value = getattr(annotation, kind)
        if kind == "nested_value":
            return _nested(value, depth + 1)
        if kind == "pointer_value":
            return b'"0x%x"' % value
        if kind == "legacy_json_value":
            return _json(value)
        if kind == "string_value_iid":
            return _text(self.texts.get(value, b""))
        return _scalar(value) if kind != "proto_value" else b"null"


def _without_gaps(fields: Mapping[bytes, bytes], annotations: Any) -> bytes:
    return b",".join(filter(None, (fields[data] for data in annotations)))


def _scalar(value: Any) -> bytes:
    return _text(value) if isinstance(value, bytes) else _encode(value)


def _text(value: bytes) -> bytes:
    return b"null" if value == b"null" else _encode(text_of(value))


def _json(value: bytes) -> bytes:
    """JSON as it is, if it is valid."""
    try:
        ANY.decode(value)
        return value if b"\n" not in value else _encode(ANY.decode(value))
    except JSON_ERRORS:
        return _encode(text_of(value))


def _nested(value: Any, depth: int) -> bytes:
    if depth > _DEEPEST:
        raise ValueError("annotation nests too deeply")
    kind = value.WhichOneof("data")
    if kind is not None:
        return _scalar(getattr(value, kind))
    if value.nested_type == _DICT or value.dict_keys:
        pairs = zip(value.dict_keys, value.dict_values, strict=False)
        named = [_encode(text_of(key)) + b":" + _nested(item, depth + 1) for key, item in pairs]
        return b"{" + b",".join(named) + b"}"
    return b"[" + b",".join(_nested(item, depth + 1) for item in value.array_values) + b"]"
