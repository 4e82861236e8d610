"""The one way in which files are written for people: whole or not at all, and never through what somebody else put there.

::

    saving(NAME) ──▶ .7f3a….part beside it, made anew ──▶ renamed to NAME when the block ends without an error
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from torch_tb_profiler.errors import BadRequest, SourceError
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.untrusted import OTHERS_WRITE

STDOUT = "-"
_OPEN = regex(r"/dev/(?:fd/(\d+)|std(?:out|err))|/proc/self/fd/(\d+)")
"""Names of what this process has open already."""
_PIPE_SECONDS = 30.0
"""How long a pipe may take nothing."""


def save(
    pieces: Iterable[bytes],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    ours: bool = False,
) -> None:
    """Write a file, completely or not at all. Arguments and errors are those of ``saving``."""
    with saving(path, force=force, ours=ours) as file:
        for piece in pieces:
            file.write(piece)


@contextlib.contextmanager
def saving(
    path: str | os.PathLike[str], *, force: bool = False, ours: bool = False
) -> Iterator[BinaryIO]:
    """A file that is put in place when the block ends without an error. ``-`` and ``/dev/stdout`` are standard output;
    a device, and a pipe that somebody reads, are written to. A link is followed to a regular file if it belongs to this
    user or root and lies in a folder that nobody else may write to.

    Args:
        force: replace a file that is there.
        ours: the user did not name the file, so that a link, pipe or device in its place was put there: it is refused.

    Raises:
        BadRequest: the name is taken: by a file and ``force`` is not given, or by what is not written to.
        SourceError: it cannot be written.
    """
    if os.fspath(path) == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        target = _target(Path(path), force, ours)
        with _stream(target) or whole_file(target, replace=force) as file:
            yield file
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError as error:
        raise SourceError(
            f"{path} cannot be written: {error.strerror or error}.", "Use another name or folder."
        ) from error


def make_folder(folder: Path, *, below: Path | None = None) -> None:
    """Make a folder and those above it.

    Raises:
        SourceError: it cannot be made or written to, or ``below`` is given and a link leads elsewhere beneath that.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if below and folder.resolve() != below.resolve() / folder.relative_to(below):
            raise OSError(errno.ELOOP, "it is a symbolic link, or lies in one")
        if not os.access(folder, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise SourceError(
            f"{folder} cannot be created or written to: {error.strerror}.", "Use another folder."
        ) from error


def expect_free(path: str | os.PathLike[str], *, force: bool = False, ours: bool = False) -> None:
    """Check a name for ``saving`` before the work is done that ends there.

    Raises:
        BadRequest: as ``saving``.
    """
    if os.fspath(path) != STDOUT:
        with contextlib.suppress(OSError):
            _target(Path(path), force, ours)


@contextlib.contextmanager
def whole_file(target: Path, *, replace: bool = True, private: bool = False) -> Iterator[BinaryIO]:
    """A file that gets its name when the block ends without an error. What has this name until then, be it a link, is
    replaced and never written to. It keeps the permissions of a file of this user that it replaces.

    Args:
        replace: False: it fails where the name is taken by then.
        private: only this user may read it.

    Raises:
        FileExistsError: the name is taken.
        OSError: it cannot be written.
    """
    part = target.with_name(f".{os.urandom(8).hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, flags, 0o600 if private else 0o666)
    try:
        with open(descriptor, "wb") as file:
            mode = None if private else _mode(target)
            if mode is not None:
                os.chmod(part, mode)
            yield file
        if replace:
            os.replace(part, target)
        else:
            _link(part, target)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def _link(part: Path, target: Path) -> None:
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "it exists", str(target)) from None
        os.replace(part, target)


def _mode(target: Path) -> int | None:
    """The permissions of a file of this user; None of what is none."""
    with contextlib.suppress(OSError):
        status = os.lstat(target)
        if stat.S_ISREG(status.st_mode) and _is_own(status):
            return stat.S_IMODE(status.st_mode) & 0o777
    return None


def _target(path: Path, force: bool, ours: bool) -> Path:
    """Where a file of this name is written: where it leads to, if it is a link that is followed."""
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "its name holds a zero byte")
    if not os.path.lexists(path) or _OPEN.fullmatch(str(path)):
        return path
    place, status = path, os.lstat(path)
    while stat.S_ISLNK(status.st_mode):
        if ours or not _is_followed(place, status):
            raise BadRequest(
                f"{path} is a symbolic link to {os.readlink(path)}, which is not written to.",
                "Remove it, or use another name.",
            )
        place = place.parent / os.readlink(place)
        status = os.lstat(place)
    if stat.S_ISREG(status.st_mode):
        if not force:
            raise _taken(path)
    elif stat.S_ISDIR(status.st_mode):
        raise BadRequest(f"{path} is a folder.", "Use the name of a file.")
    elif ours or not (stat.S_ISCHR(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
        raise BadRequest(
            f"{path} is a pipe, a socket or a device, expected a regular file or none.",
            "Remove it, or use another name.",
        )
    return place


def _is_followed(link: Path, status: os.stat_result) -> bool:
    """Whether a link leads somewhere and nobody else can have put it there."""
    closed = not os.stat(link.parent).st_mode & OTHERS_WRITE or os.name != "posix"
    return closed and (_is_own(status) or status.st_uid == 0) and link.exists()


def _is_own(status: os.stat_result) -> bool:
    return os.name != "posix" or status.st_uid == os.geteuid()


def _taken(path: str | os.PathLike[str]) -> BadRequest:
    return BadRequest(
        f"{path} exists already.", "Use another name, or --force (in Python force=True)."
    )


def _stream(target: Path) -> BinaryIO | None:
    """What is written to as it is: an open file of this process, a device, a pipe; None of a regular file."""
    if found := _OPEN.fullmatch(str(target)):
        number = found[1] or found[2]
        descriptor = os.dup(int(number) if number else 1 + str(target).endswith("err"))
        return open(descriptor, "wb")
    if not target.exists() or target.is_file():
        return None
    # Without O_NONBLOCK a pipe that nobody reads would be waited for.
    flags = (getattr(os, name, 0) for name in ("O_WRONLY", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
    descriptor = os.open(target, sum(flags))
    file = (_Patient if target.is_fifo() else io.FileIO)(descriptor, "wb")
    return cast(BinaryIO, io.BufferedWriter(file))


class _Patient(io.FileIO):
    """A pipe that is waited for while it takes something now and then."""

    def write(self, data: object) -> int:
        if not select.select([], [self], [], _PIPE_SECONDS)[1]:
            raise OSError(errno.ETIMEDOUT, f"nothing was read from it for {_PIPE_SECONDS:g} s")
        return super().write(data) or 0  # type: ignore[arg-type]
