"""A folder that only this user may write to: what others put into a cache would be shown as figures
of a trace.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from torch_tb_profiler.untrusted import OTHERS_WRITE


def make_private(folder: Path, *, ours: bool) -> str:
    """Make a folder, with mode 0700, where there is none; why one that is there is not to be
    trusted, in words, ``""`` where it is.

    ``ours``: nobody else has a use for it, so that others' permission to write is taken away; files
    of theirs in it are removed. Windows keeps folders of users apart itself: nothing is checked.

    Raises:
        OSError: it cannot be made or read.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if os.name != "posix":
        return ""
    status = folder.stat()
    if status.st_uid != os.geteuid():
        return f"belongs to another user, {status.st_uid}"
    mode = stat.S_IMODE(status.st_mode)
    if mode & OTHERS_WRITE:
        if not ours:
            return f"may be written to by others, its mode is {mode:04o}"
        folder.chmod(0o700)
        _remove_of_others(folder)
    return ""


def _remove_of_others(folder: Path) -> None:
    for path in folder.iterdir():
        if path.lstat().st_uid != os.geteuid():
            path.unlink()
