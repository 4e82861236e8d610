"""One file that a listing found."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.sources.places import Place


class ListedFile(msgspec.Struct, frozen=True):
    """One file.

    Attributes:
        location: what ``streams`` opens.
        folder: relative to the logdir, ``/`` between parts, ``""`` for the logdir itself.
        name: the file's base name; like ``folder`` fit for JSON (``untrusted.readable``).
        size: bytes; −1 unknown.
        modified_ns: time of the last change, Unix ns; None unknown.
        stamp: distinguishes versions of equal size (time or ETag); ``""`` unknown.
    """

    location: Place
    folder: str
    name: str
    size: int
    modified_ns: int | None
    stamp: str
    captures: bool = False
    """Whether it is a recording of graph captures (``sources/capture_files.py``)."""
    part: str = ""
    """The rank in it, of a file that several were merged into; ``""`` all of it, or the first of them."""

    @property
    def path(self) -> str:
        """Path relative to the logdir."""
        return f"{self.folder}/{self.name}" if self.folder else self.name
