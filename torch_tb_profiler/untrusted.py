"""What others wrote: files of a logdir, replies, names in traces. How it is opened, decoded and printed without doing
what its writer may have meant it to do.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeVar

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.units import NARROW_SPACE

DEEPEST = 64
"""Levels of nesting of a JSON text; those of our own files have at most five."""
LONGEST_SHOWN = 400
"""Characters of somebody else's sentence that an error repeats."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_UNSEEN = regex(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
"""What shows as nothing although ``str.isprintable`` knows it: variation selectors, fillers, tags, in which texts can be hidden."""
_OF_KERNEL = ("/proc", "/sys", "/dev")
_KERNEL_TYPE = regex(
    "proc|sysfs|dev(?:tmpfs|pts)|mqueue|cgroup2?|(?:debug|trace|security|config|selinux|ns)fs|bpf|pstore|efivarfs"
    "|binfmt_misc|fusectl|rpc_pipefs"
)
Kind = TypeVar("Kind")
Places = frozenset[int | tuple[int, int]]
"""Devices, and folders by device and inode."""
_UNUSUAL = regex("[^ -~]")
_UNUSUAL_IN_LINES = regex("(?!\r\n)[^ -~\t\n]")
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class ForeignFile(OSError):
    """A file that only this user may have written was written by, or leads to, somebody else's."""


def printable(text: str, instead: str = "?", *, lines: bool = False) -> str:
    """A text for a terminal or an assistant: what would steer it, turn the direction of what is written, or not be seen at all
    becomes ``instead``. ``lines``: tabs and ends of lines stay.
    """
    unusual = _UNUSUAL_IN_LINES if lines else _UNUSUAL
    return unusual.sub(lambda m: m[0] if _is_seen(m[0]) else instead, text)


def printable_json(text: str) -> str:
    """A JSON text of the same value in which such characters are escaped."""
    return _UNUSUAL_IN_LINES.sub(lambda m: m[0] if _is_seen(m[0]) else _escaped(ord(m[0])), text)


def readable(text: str) -> str:
    r"""A text that JSON can carry: bytes of a file name that are not UTF-8 become ``\udcff`` and stay distinct."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def said(text: object) -> str:
    """Somebody else's sentence as a part of ours: in one line, printable and cut."""
    line = " ".join(printable(str(text), " ").split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[:LONGEST_SHOWN]} …"


def open_regular(path: str, flags: int, *, links: bool = True) -> int:
    """``os.open`` of a regular file: a pipe in its place is not waited for, and no device is touched. Without
    ``links`` the last part of the path must be no symbolic link.

    Raises:
        OSError: it is something else, or cannot be opened.
    """
    _expect_regular(os.stat(path, follow_symlinks=links))
    for name in ("O_NONBLOCK", "O_NOCTTY", *(() if links else ("O_NOFOLLOW",))):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags)
    try:
        _expect_regular(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def kernel_places() -> Places:
    """``/proc``, ``/sys`` and ``/dev``, wherever else they are mounted or linked to. ``/dev/shm`` holds files of users."""
    found: set[int | tuple[int, int]] = set()
    with (
        suppress(OSError, ValueError, IndexError),
        open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as all_,
    ):
        for line in all_:
            mount, _, about = line.partition(" - ")
            _, _, device, _, where, *_ = mount.split()
            kind = about.split()[0]
            within = where.startswith(_OF_KERNEL) and not where.startswith("/dev/shm")
            if _KERNEL_TYPE.fullmatch(kind) or (kind == "tmpfs" and within):
                found.add(os.makedev(*map(int, device.split(":"))))
    usual = {status.st_dev for status in _statuses("/", "/dev/shm")}
    for status in _statuses(*_OF_KERNEL):
        found |= {(status.st_dev, status.st_ino), *({status.st_dev} - usual)}
    return frozenset(found)


def _statuses(*paths: str) -> Iterator[os.stat_result]:
    for path in paths if os.name == "posix" else ():
        with suppress(OSError):
            yield os.stat(path)


def is_among(status: os.stat_result, places: Places) -> bool:
    """Whether a file or folder lies on one of some devices, or is one of some folders."""
    return status.st_dev in places or (status.st_dev, status.st_ino) in places


def read_file(
    path: str | os.PathLike[str], most: int, *, links: bool = True, own: bool = False
) -> bytes:
    """A regular file of at most ``most`` bytes. ``own``: of this user, to whom alone it is open for writing; not
    checked on Windows.

    Raises:
        ForeignFile: it is not this user's, with ``own``.
        OSError: it is no such file.
    """
    descriptor = open_regular(os.fspath(path), os.O_RDONLY, links=links)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if own and os.name == "posix":
            _expect_own(status)
        content = file.read(most + 1) if status.st_size <= most else b""
    if max(len(content), status.st_size) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes")
    return content


def json_value(text: str | bytes, otherwise: Any = None) -> Any:
    """The value of a text in JSON; ``otherwise`` where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


def decoded(text: bytes, kind: Any = Any) -> Any:
    """The value of a JSON text of few levels, checked against a type as msgspec checks it.

    Raises:
        ValueError: it is no such JSON.
    """
    import msgspec

    if _too_deep(text):
        raise ValueError(f"its brackets do not match, or are nested in more than {DEEPEST} levels")
    try:
        return msgspec.json.decode(text, type=prepared(kind))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(said(error)) from None


def prepared(kind: Kind) -> Kind:
    """A type, ready to be decoded or converted to by several threads: the first use of one by two threads at a time
    crashes msgspec, and the process with it.
    """
    import msgspec

    if kind not in _prepared:
        with _preparing:
            msgspec.json.Decoder(kind)
            _prepared.add(kind)
    return kind


_preparing = threading.Lock()
_prepared: set[Any] = set()


def _too_deep(text: bytes) -> bool:
    """Whether brackets outside of texts remain when each innermost pair was removed ``DEEPEST`` times::

    [1, {"a]": []}]  →  [{[]}]  →  [{}]  →  []  →  nothing
    """
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    left = b"".join(piece.translate(None, _ALL_BUT_BRACKETS) for piece in plain.split(b'"')[::2])
    for _ in range(DEEPEST):
        if not left:
            return False
        left = left.replace(b"[]", b"").replace(b"{}", b"")
    return bool(left)


def _expect_regular(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise ForeignFile(errno.ELOOP, "it is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")


def _expect_own(status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise ForeignFile(errno.EPERM, f"it belongs to another user, {status.st_uid}")
    if status.st_mode & OTHERS_WRITE:
        raise ForeignFile(
            errno.EPERM, f"others may write to it, its mode is {stat.S_IMODE(status.st_mode):04o}"
        )


def _is_seen(character: str) -> bool:
    return (character.isprintable() and not _UNSEEN.match(character)) or character == NARROW_SPACE


def _escaped(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
