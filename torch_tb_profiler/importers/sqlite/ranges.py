"""NVTX ranges → operators and annotations; the calls that PyProf writes get the lines of the
program that stand around them.

::

    PLACE  {'traceMarker': ['train.py:12']}   └────────────────────┘
    CALL   {'mod': 'torch', 'op': 'mm', …}      └────────────────┘       operator torch.mm, stack train.py(12)
    RANGE  aten::mm, seq = 7                       └───────────┘         operator aten::mm
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from torch_tb_profiler.importers.sqlite.filling import Filling
from torch_tb_profiler.importers.sqlite.markers import Kind, Marker, read_marker, stack_text
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.roles import Role

_KEPT = 1 << 13
_NO_TEXT = "range without a text"
_CATEGORY = {Role.OPERATOR: "cpu_op", Role.ANNOTATION: "user_annotation"}
_A_THREAD = 1
"""A forward thread that is not told, but was: what has one runs in the backward pass. Sequence
numbers tie it to its forward.
"""


@dataclass(frozen=True)
class _Held:
    """A range that waits for those around it to be known."""

    track: int
    start: int
    end: int
    ordinal: int
    marker: Marker


class Ranges:
    """Adds ranges to a filling; call ``finish`` after the last."""

    def __init__(self, filling: Filling) -> None:
        self._filling = filling
        self._known: dict[str, Marker] = {}
        self._held: list[_Held] = []

    def add(
        self,
        ordinal: Ints,
        start: Ints,
        end: Ints,
        texts: Sequence[str],
        track: Array,
        domains: Sequence[str] | None = None,
    ) -> None:
        """Add ranges; arrays and sequences of one length. ``domains``: the NVTX domain of each,
        empty for the default one.
        """
        markers = [self._marker(text) for text in texts]
        if domains is not None:
            # PyTorch and PyProf write to the default domain; the texts of others are no one's but
            # theirs.
            markers = [
                Marker(f"{domain}: {text or _NO_TEXT}") if domain else marker
                for domain, text, marker in zip(domains, texts, markers, strict=True)
            ]
        own = np.array([marker.kind == Kind.RANGE for marker in markers], np.bool_)
        for i in np.flatnonzero(~own).tolist():
            self._held.append(
                _Held(int(track[i]), int(start[i]), int(end[i]), int(ordinal[i]), markers[i])
            )
        kept = [marker for marker, is_own in zip(markers, own.tolist(), strict=True) if is_own]
        self._put(kept, ordinal[own], start[own], end[own], track[own])

    def _marker(self, text: str) -> Marker:
        found = self._known.get(text)
        if found is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            found = self._known[text] = read_marker(text or _NO_TEXT)
        return found

    def _put(
        self, markers: list[Marker], ordinal: Ints, start: Ints, end: Ints, track: Array
    ) -> None:
        if not markers:
            return
        filling = self._filling
        stacks = [json.dumps(stack_text(m.lines)).encode() if m.lines else b"" for m in markers]
        filling.spans(
            ordinal,
            start,
            end,
            filling.names(m.name for m in markers),
            filling.categories(_CATEGORY[m.role] for m in markers),
            track,
            np.array([m.role for m in markers], np.uint8),
            external=np.array([m.operation for m in markers], np.int64),
            operator={
                "dims": filling.texts(m.dims for m in markers),
                "types": filling.texts(m.types for m in markers),
                "concrete": filling.texts(m.concrete for m in markers),
                "stack": filling.texts(stacks),
                "sequence": np.array([m.sequence for m in markers], np.int64),
                "forward_thread": np.array(
                    [_A_THREAD if m.backward else -1 for m in markers], np.int64
                ),
            },
        )

    def finish(self) -> None:
        """Add the calls that PyProf wrote, with their lines; and lines around which no call stands,
        by the innermost one.
        """
        held, self._held = (
            sorted(self._held, key=lambda h: (h.track, h.start, -h.end, h.ordinal)),
            [],
        )
        done: list[_Held] = []
        around: list[int] = []
        used: set[int] = set()
        for number, item in enumerate(held):
            while around and (
                held[around[-1]].track != item.track or held[around[-1]].end <= item.start
            ):
                around.pop()
            if item.marker.kind == Kind.PLACE:
                around.append(number)
                continue
            place = around[-1] if around else -1
            used.update(around)
            done.append(
                item
                if place < 0
                else replace(
                    item,
                    marker=msgspec.structs.replace(item.marker, lines=held[place].marker.lines),
                )
            )
        done += [
            item
            for number, item in enumerate(held)
            if item.marker.kind == Kind.PLACE and number not in used
        ]
        if done:
            columns = (
                np.array([getattr(item, name) for item in done], np.int64)
                for name in ("ordinal", "start", "end", "track")
            )
            self._put([item.marker for item in done], *columns)
