"""The text of a cut-out trace on its way to a file: kinds of events, and gzip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from itertools import compress

from isal import isal_zlib

from torch_tb_profiler.importers.events import DECODE_ERRORS, EVENTS, RAWS, Event, decode_loose
from torch_tb_profiler.store.roles import DEVICE_ROLES, ROLE_OF_NAME, Role, own_roles, role_of

GZIP_WBITS = 31
MEMORY = "memory"
"""Kind of the allocator's records, beside the names of ``Role``."""
KINDS = (MEMORY, *(role.name.lower() for role in Role))
_FLOWS = ("s", "t", "f")


def packed(texts: Iterator[bytes]) -> Iterator[bytes]:
    """gzip at level 1, bit by bit; the source is closed with it."""
    packer = isal_zlib.compressobj(1, wbits=GZIP_WBITS)
    try:
        for piece in texts:
            if data := packer.compress(piece):
                yield data
        yield packer.flush()
    finally:
        texts.close()  # type: ignore[attr-defined]


def of_kinds(texts: Iterator[bytes], kinds: Set[str], categories: str = "") -> Iterator[bytes]:
    """Of the text of ``download.cut`` the events of some of ``KINDS``, and the metadata.

    Arrows stay where both calls and device work do. ``categories``: the setting.
    """
    own = own_roles(categories)
    roles = {role for role in Role if role.name.lower() in kinds}
    arrows = Role.RUNTIME in roles and not roles.isdisjoint(DEVICE_ROLES)

    def wanted(event: Event) -> bool:
        if event.ph == "X":
            category, name = event.cat or "", event.name or ""
            role = ROLE_OF_NAME.get((category.lower(), name)) or role_of(category, own)
            return (Role.OTHER if role is None else role) in roles
        return (
            event.ph == "M"
            or (event.ph in _FLOWS and arrows)
            or (event.name == "[memory]" and MEMORY in kinds)
        )

    return _those(texts, wanted)


def without_marks(texts: Iterator[bytes], names: Set[str]) -> Iterator[bytes]:
    """The text without the annotations of some names: the marks of steps that were not asked for
    reach into the time of those that were, and would stand
    in the cut-out as steps in which hardly anything happens."""
    return _those(
        texts,
        lambda event: (
            not (
                event.ph == "X"
                and event.name in names
                and role_of(event.cat or "") in (Role.ANNOTATION, Role.DEVICE_ANNOTATION)
            )
        ),
    )


def _those(texts: Iterator[bytes], wanted: Callable[[Event], bool]) -> Iterator[bytes]:
    try:
        yield next(texts)
        first = True
        for piece in texts:
            if piece == b"]}":
                yield piece
                continue
            text = b"[" + piece.lstrip(b",") + b"]"
            chosen = b",".join(compress(RAWS.decode(text), map(wanted, _events(text))))
            if chosen:
                yield (b"" if first else b",") + chosen
                first = False
    finally:
        texts.close()  # type: ignore[attr-defined]


def _events(text: bytes) -> list[Event]:
    try:
        return EVENTS.decode(text)
    except DECODE_ERRORS:
        return [decode_loose(bytes(raw))[0] for raw in RAWS.decode(text)]
