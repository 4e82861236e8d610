"""What tells one content of a file from another, read from an open descriptor: a name may lead
somewhere else at any moment, a descriptor does not.

::

    4711-1700000000123456789-0d4f88a1c2…
    size  last change, Unix ns  digest of the first and the last 64 KiB

Device and inode are no part of it: they change when a file system is mounted again.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import IO

ENDS_BYTES = 64 << 10
_DIGEST_BYTES = 16


def identity_of(file: IO[bytes]) -> str:
    """The identity of an open file, which must not have been read from yet; ``""`` where it is no
    regular file of this machine.

    Raises:
        OSError: it cannot be read.
    """
    version = version_of(file)
    if not version:
        return ""
    digest = hashlib.blake2b(file.read(ENDS_BYTES), digest_size=_DIGEST_BYTES)
    file.seek(max(0, int(version.partition("-")[0]) - ENDS_BYTES))
    digest.update(file.read(ENDS_BYTES))
    file.seek(0)
    return f"{version}-{digest.hexdigest()}"


def version_of(file: IO[bytes]) -> str:
    """Its first two parts."""
    try:
        status = os.fstat(file.fileno())
    except (OSError, ValueError, AttributeError):
        return ""
    return _version(status) if stat.S_ISREG(status.st_mode) else ""


def is_at(path: str, file: IO[bytes]) -> bool:
    """Whether a path leads to an open file, in the same version."""
    try:
        there, here = os.stat(path), os.fstat(file.fileno())
    except OSError:
        return False
    return os.path.samestat(there, here) and _version(there) == _version(here)


def agrees(identity: str, size: int, modified_ns: int | None) -> bool:
    """Whether a file of an identity has a size and a time of its last change."""
    return identity.startswith(f"{size}-{modified_ns}-")


def _version(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}"
