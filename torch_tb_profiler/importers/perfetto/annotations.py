"""Debug annotations → fields of a JSON object, as a Chrome trace has them in ``args``.

::

    name "device"  int 0                                  "device":0
    name "Input Dims"  array (array (int 4, int 8), –)    "Input Dims":[[4,8],[]]

Most texts and lists are equal to an earlier one byte by byte, so each is read once. PyTorch writes
null as the text ``null``, and an empty list as an annotation without a value.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from torch_tb_profiler.importers.events import ANY, Args
from torch_tb_profiler.importers.events import DECODE_ERRORS as JSON_ERRORS
from torch_tb_profiler.importers.perfetto.places import json_text, text_of
from torch_tb_profiler.importers.perfetto.schema import DECODE_ERRORS, DebugAnnotation
from torch_tb_profiler.store.defects import WRONG_TYPE, DefectCounts

MOST_KEPT, MOST_BYTES = 1 << 17, 32 << 20
"""Annotations that are remembered per sequence of packets, and their length in all."""
_ROCPROFV3 = """agent src_agent dst_agent corr_id copy_bytes stream_ID workgroup_size grid_size VGPR_Count LDS_Block_Size
    group_segment_size"""
STORED = frozenset(field.encode_name for field in msgspec.structs.fields(Args)) | frozenset(
    _ROCPROFV3.split()
)
"""Arguments that become columns, and those of rocprofv3 that become some of them (``rocprof.py``)."""
_DEEPEST = 64
_DICT = 1
"""``NestedValue.NestedType``."""
_NAME_IID, _NAME, _NUMBERS = 0x08, 0x52, (0x20, 0x18)
"""First bytes of fields of an annotation; the last ones of ``int_value`` and ``uint_value``."""
_SHORTEST, _VARINT = 4, 10
"""Bytes of an annotation with a number; negative numbers have ten, which are left to the decoder."""


class Fields(dict[bytes, str]):
    """Annotation as it stands in the file → its field as JSON; ``""`` if it is damaged or not wanted.

    ``names`` and ``texts`` are what its sequence interned; ``wanted``: names, None all.
    """

    def __init__(
        self,
        counts: DefectCounts,
        names: dict[int, bytes],
        texts: dict[int, bytes],
        wanted: Collection[str] | None = None,
    ) -> None:
        self._names, self._texts, self._wanted = names, texts, wanted
        self._counts = counts
        self._bytes = 0
        self._keys: dict[bytes, str] = {}
        """Name of an annotation, as it stands in the file → its key, ``""`` if it is not wanted."""

    def forget(self) -> None:
        """Forget what was read: other names may have its numbers."""
        self.clear()
        self._keys.clear()
        self._bytes = 0

    def of(self, annotations: Any) -> str:
        """The fields of an event's annotations, with commas between."""
        return ",".join([field for data in annotations if (field := self[data])])

    def numbers(
        self, text: bytes, begins: list[int], ends: list[int], ats: list[int], values: list[int]
    ) -> list[str]:
        """The fields of annotations that stand in a text from ``begins`` to ``ends``; where ``ats`` is
        not 0 a number begins there, which is in ``values``.
        """
        keys = self._keys
        fields = []
        for begin, end, at, value in zip(begins, ends, ats, values, strict=True):
            key = keys.get(text[begin:at]) if at else None
            if key is None:
                fields.append(self[text[begin:end]])
            else:
                fields.append(f"{key}{value}" if key else "")
        return fields

    def __missing__(self, data: bytes) -> str:
        # Numbers, most of which differ: 08 <number of the name> 20 <value>, or 52 <length> <name> 20 <value>.
        if len(data) < _SHORTEST:
            return self._remembered(data)
        at = 2 if data[0] == _NAME_IID else 2 + data[1]
        key = self._keys.get(data[:at])
        if key is None:
            return self._remembered(data)
        if not key:
            return ""
        length = len(data) - at - 1
        if 0 < length < _VARINT and data[-1] < 0x80 and data[at] in _NUMBERS:
            value = data[-1]
            for byte in data[-2:at:-1]:
                if byte < 0x80:
                    break
                value = value << 7 | byte & 0x7F
            else:
                return f"{key}{value}"
        return self._remembered(data)

    def _remembered(self, data: bytes) -> str:
        if len(self) >= MOST_KEPT or self._bytes > MOST_BYTES:
            self.forget()
        try:
            field = self._field(data)
        except DECODE_ERRORS:
            self._counts.add(WRONG_TYPE)
            field = ""
        self[data] = field
        self._bytes += len(data) + len(field)
        return field

    def _field(self, data: bytes) -> str:
        annotation = DebugAnnotation.FromString(data)
        name = text_of(annotation.name or self._names.get(annotation.name_iid, b""))
        key = json_text(name) + ":" if self._wanted is None or name in self._wanted else ""
        if data and data[1] < 0x80 and data[0] in (_NAME_IID, _NAME):
            self._keys[data[:2] if data[0] == _NAME_IID else data[: 2 + data[1]]] = key
        return key + self._value(annotation, 0) if key else ""

    def _value(self, annotation: Any, depth: int) -> str:
        if depth > _DEEPEST:
            raise ValueError("annotation nests too deeply")
        kind = annotation.WhichOneof("data")
        if kind is None:
            if annotation.dict_entries:
                named = (
                    self._key(entry) + self._value(entry, depth + 1)
                    for entry in annotation.dict_entries
                )
                return "{" + ",".join(named) + "}"
            values = (self._value(value, depth + 1) for value in annotation.array_values)
            return "[" + ",".join(values) + "]"
        value = getattr(annotation, kind)
        if kind == "nested_value":
            return _nested(value, depth + 1)
        if kind == "pointer_value":
            return f'"{value:#x}"'
        if kind == "legacy_json_value":
            return _json(value)
        if kind == "string_value_iid":
            return _scalar(self._texts.get(value, b""))
        return _scalar(value) if kind != "proto_value" else "null"

    def _key(self, annotation: Any) -> str:
        name = annotation.name or self._names.get(annotation.name_iid, b"")
        return json_text(text_of(name)) + ":"


def _scalar(value: Any) -> str:
    if not isinstance(value, bytes):
        return json_text(value)
    return "null" if value == b"null" else json_text(text_of(value))


def _json(value: bytes) -> str:
    """JSON as it is, if it is valid."""
    try:
        return json_text(ANY.decode(value))
    except JSON_ERRORS:
        return json_text(text_of(value))


def _nested(value: Any, depth: int) -> str:
    if depth > _DEEPEST:
        raise ValueError("annotation nests too deeply")
    kind = value.WhichOneof("data")
    if kind is not None:
        return _scalar(getattr(value, kind))
    if value.nested_type == _DICT or value.dict_keys:
        pairs = zip(value.dict_keys, value.dict_values, strict=False)
        named = [json_text(text_of(key)) + ":" + _nested(item, depth + 1) for key, item in pairs]
        return "{" + ",".join(named) + "}"
    return "[" + ",".join(_nested(item, depth + 1) for item in value.array_values) + "]"
