"""Files of the user's own program, in folders that the user names.

What a recording calls a file only chooses among the files of these folders, by the longest end of its path that is one; the path
itself is never opened::

    folder    ~/work/src
    recorded  /home/me/src/net/model.py
    tried     ~/work/src/home/me/src/net/model.py, …, ~/work/src/net/model.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

import msgspec

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sources.places import Place

LARGEST = 1 << 19
"""Bytes of a file."""
_DEEPEST = 40
"""Folders of a recorded path that are tried."""
_PARTS = regex(r"[/\\]")


class ProgramFiles(msgspec.Struct, frozen=True):
    """folders: of this machine; none: nothing is read."""

    folders: tuple[str, ...]

    @classmethod
    def of(cls, setting: str) -> ProgramFiles:
        """Of a setting: paths joined as in ``PATH``."""
        return cls(tuple(folder for folder in setting.split(os.pathsep) if folder.strip()))

    @property
    def reader(self) -> Callable[[str], tuple[str, str] | None] | None:
        """``read``; None without a folder."""
        return self.read if self.folders else None

    def read(self, recorded: str) -> tuple[str, str] | None:
        """``(path within its folder, text)`` of what a recording calls a file; None where these folders have no such file of Python, that
        is regular, of at most ``LARGEST`` bytes, and to which no link leads.
        """
        parts = [part for part in _PARTS.split(recorded) if part not in ("", ".")][-_DEEPEST:]
        if not recorded.endswith(".py") or ".." in parts:
            return None
        for begin in range(len(parts)):
            path = "/".join(parts[begin:])
            for folder in self.folders:
                with suppress(OSError, ValueError):
                    text = Place(folder).read_within(path, LARGEST)
                    return path, text.decode("utf-8-sig", "replace")
        return None
