"""NVTX ranges → operators and annotations; calls of PyProf get the source lines around them.

::

    LOCATION  {'traceMarker': ['train.py:12']}   └────────────────────┘
    CALL   {'mod': 'torch', 'op': 'mm', …}      └────────────────┘       operator torch.mm, stack train.py(12)
    RANGE  aten::mm, seq = 7                       └───────────┘         operator aten::mm
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.importers.sqlite.builder import Side, TraceBuilder
from torch_tb_profiler.importers.sqlite.markers import Kind, Marker, read_marker, stack_text
from torch_tb_profiler.importers.sqlite.stated_ranks import COMMUNICATOR, payload
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.roles import Role

_KEPT = 1 << 13
_NO_TEXT = "range without a text"
_CATEGORY = {Role.OPERATOR: "cpu_op", Role.ANNOTATION: "user_annotation"}
_SOME_FORWARD_THREAD = 1
"""Stands for the unknown forward thread of a backward operator; the sequence number links them."""


def mark_name(domain: str, text: str) -> str:
    """The name of an instant; ``domain``: empty for the default one."""
    return ": ".join(filter(None, (domain, text or "mark without a text")))


class _PendingRange(msgspec.Struct, frozen=True):
    """A range that needs the ranges around it."""

    track: int
    start: int
    end: int
    ordinal: int
    marker: Marker


class Ranges:
    """Adds ranges to a ``TraceBuilder``; call ``finish`` after the last one."""

    def __init__(self, builder: TraceBuilder, sizes: Mapping[str, int] | None = None) -> None:
        """``sizes``: numbers of ranks of NCCL's communicators, by name."""
        self._builder, self._sizes = builder, sizes or {}
        self._known: dict[str, Marker] = {}
        self._pending: list[_PendingRange] = []

    def add(
        self,
        ordinal: Ints,
        start: Ints,
        end: Ints,
        texts: Sequence[str],
        track: Array,
        domains: Sequence[str] | None = None,
        payloads: Sequence[str] = (),
    ) -> None:
        """Add ranges; columns of equal length. ``domains``: NVTX domains, empty for the default. ``payloads``: JSON."""
        markers = [self._marker(text) for text in texts]
        if domains is not None:
            # PyTorch and PyProf use the default domain; other domains have their own conventions.
            markers = [
                Marker(f"{domain}: {text or _NO_TEXT}") if domain else marker
                for domain, text, marker in zip(domains, texts, markers, strict=True)
            ]
        own = np.array([marker.kind == Kind.RANGE for marker in markers], np.bool_)
        for i in np.flatnonzero(~own).tolist():
            place = int(track[i]), int(start[i]), int(end[i]), int(ordinal[i])
            self._pending.append(_PendingRange(*place, markers[i]))
        groups = [payload(text).get(COMMUNICATOR, "") if text else "" for text in payloads]
        tied = np.array([bool(group) for group in groups] or [False] * len(own), np.bool_) & own
        for chosen in (own & ~tied, tied):
            row = np.flatnonzero(chosen)
            of_row = [groups[i] for i in row.tolist()] if chosen is tied else []
            ranges = [markers[i] for i in row.tolist()]
            self._put(ranges, ordinal[row], start[row], end[row], track[row], of_row)

    def _marker(self, text: str) -> Marker:
        marker = self._known.get(text)
        if marker is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            marker = self._known[text] = read_marker(text or _NO_TEXT)
        return marker

    def _put(
        self,
        markers: list[Marker],
        ordinal: Ints,
        start: Ints,
        end: Ints,
        track: Array,
        groups: Sequence[str] = (),
    ) -> None:
        """``groups``: communicators of all ranges, or none."""
        if not markers:
            return
        builder = self._builder
        stacks = [json.dumps(stack_text(m.lines)).encode() if m.lines else b"" for m in markers]
        builder.spans(
            ordinal,
            start,
            end,
            builder.names(m.name for m in markers),
            builder.categories(_CATEGORY[m.role] for m in markers),
            track,
            np.array([m.role for m in markers], np.uint8),
            external=np.array([m.operation for m in markers], np.int64),
            operator={
                "dims": builder.texts(m.dims for m in markers),
                "types": builder.texts(m.types for m in markers),
                "concrete": builder.texts(m.concrete for m in markers),
                "stack": builder.texts(stacks),
                "sequence": np.array([m.sequence for m in markers], np.int64),
                "forward_thread": np.array(
                    [_SOME_FORWARD_THREAD if m.backward else -1 for m in markers], np.int64
                ),
            },
            collective=self._collective(markers, groups) if groups else None,
        )

    def _collective(self, markers: list[Marker], groups: Sequence[str]) -> Side:
        texts = self._builder.texts
        return {
            "collective": texts(json.dumps(m.name.rpartition(" ")[2]).encode() for m in markers),
            "group": texts(json.dumps(group).encode() for group in groups),
            "group_size": np.array([self._sizes.get(group, -1) for group in groups], np.int64),
        }

    def finish(self) -> None:
        """Add PyProf's calls with their source lines, and the lines without a call."""
        pending = sorted(self._pending, key=lambda h: (h.track, h.start, -h.end, h.ordinal))
        done: list[_PendingRange] = []
        around: list[int] = []
        used: set[int] = set()
        for number, item in enumerate(pending):
            while around and (
                pending[around[-1]].track != item.track or pending[around[-1]].end <= item.start
            ):
                around.pop()
            if item.marker.kind == Kind.LOCATION:
                around.append(number)
                continue
            used.update(around)
            if around:
                lines = pending[around[-1]].marker.lines
                item = replace(item, marker=msgspec.structs.replace(item.marker, lines=lines))
            done.append(item)
        done += [
            item
            for number, item in enumerate(pending)
            if item.marker.kind == Kind.LOCATION and number not in used
        ]
        if done:
            ordinal, start, end, track = (
                np.array([getattr(item, name) for item in done], np.int64)
                for name in ("ordinal", "start", "end", "track")
            )
            self._put([item.marker for item in done], ordinal, start, end, track)
