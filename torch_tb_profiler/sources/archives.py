"""Archives of traces as folders: what stands in a ``.zip``, ``.tar``, ``.tar.gz`` or ``.tgz``, and its members as streams.

::

    logs/run.zip                          folder "run.zip"
      traces/rank0.pt.trace.json.gz       folder "run.zip/traces", location "zip://traces/rank0.pt.trace.json.gz::/data/logs/run.zip"

Nothing is unpacked to a disk. Archives are untrusted: how much of their directories is read and how many members are listed is
limited, names that lead out of the archive and archives within are left out, and what a member inflates to is
limited as that of any file. A ``.tar.gz`` has no directory: each member is reached by inflating all before it.
"""

from __future__ import annotations

import re
import stat
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sources import places
from torch_tb_profiler.sources.inflate import GZIP, Unreadable
from torch_tb_profiler.sources.names import parse
from torch_tb_profiler.units import format_count, format_counted, format_names
from torch_tb_profiler.untrusted import readable, said

if TYPE_CHECKING:
    import tarfile
    import zipfile

MOST_LISTED = 10_000
"""Members of an archive that may be traces."""
MOST_VISITED = 100_000
"""Members of any kind."""
DIRECTORY_BYTES = 64 << 20
"""What an archive may say of its members."""
INFLATED_BYTES = 64 << 30
"""What is inflated of a ``.tar.gz`` to list it."""
PIECE_BYTES = 64 << 10
"""What is lost of a damaged member at most, before the damage."""
MOST_NAMED = 8
"""Members that a note names."""
_OUT = "name in it leads out of it and was left out", "names in it lead out of it and were left out"
_WITHIN = (
    "archive within it was not opened; unpack it",
    "archives within it were not opened; unpack them",
)
_SAME = (
    "file in it has the name of another and was left out; rename it",
    "files in it have the names of others and were left out; rename them",
)
_SUFFIX = regex(r"\.(?:zip|tar|tar\.gz|tgz)$", re.IGNORECASE)


class ArchiveError(Exception):
    """The content is no such archive, or is damaged or larger than is read."""


class Member(msgspec.Struct, frozen=True):
    """A file in an archive: its path there, its size in bytes, and the path without ``.`` and fit for JSON."""

    path: str
    size: int
    name: str


class Members(msgspec.Struct, frozen=True):
    """Files that may be traces, and a sentence for each kind of thing that was left out, with names."""

    files: tuple[Member, ...]
    notes: tuple[str, ...]


def is_archive(file_name: str) -> bool:
    """Whether a file of this name is opened as a folder."""
    return _SUFFIX.search(file_name) is not None


def list_members(file: IO[bytes], kind: str) -> Members:
    """The files in an archive that may be traces, in its order; of a damaged one those before the damage.

    Raises:
        ArchiveError: nothing of it can be read as an archive.
    """
    found: dict[str, Member] = {}
    left_out: dict[tuple[str, str], list[str]] = {}
    visited = 0
    problem = ""
    try:
        for path, size, reason in _walk(file, kind):
            visited += 1
            if visited > MOST_VISITED:
                raise ArchiveError(_more(MOST_VISITED, "files"))
            parts = [part for part in path.split("/") if part != "."] or [""]
            name, base = readable("/".join(parts)), parts[-1]
            if any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts):
                continue
            why = _left_out(path.removeprefix("./"), base, reason)
            if why or name in found:
                left_out.setdefault(why or _SAME, []).append(said(name))
            elif parse(base) is not None:
                if len(found) == MOST_LISTED:
                    raise ArchiveError(_more(MOST_LISTED, "files that may be traces"))
                found[name] = Member(path, size, name)
    except Exception as error:  # damaged archives raise anything
        problem = _why(error)
        if not visited:
            raise ArchiveError(problem) from error
    listed = format_counted(len(found), "file of it was", "files of it were")
    notes = [f"only {listed} listed: {problem}."] if problem else []
    notes += [
        f"{format_counted(len(names), *why)}: {format_names(list(dict.fromkeys(names)), MOST_NAMED)}."
        for why, names in left_out.items()
    ]
    return Members(tuple(found.values()), tuple(notes))


def _more(most: int, what: str) -> str:
    return f"it holds more than {format_count(most)} {what}; unpack it"


def _left_out(path: str, base: str, reason: str) -> tuple[str, str] | None:
    """Why a member is no file that may be a trace; None if it may be one, or is of no interest."""
    if places.leads_out(path):
        return _OUT
    if is_archive(base):
        return _WITHIN
    # A link without an ending may stand for a folder of traces.
    if reason and (parse(base) is not None or (reason == "link" and "." not in base)):
        return (
            f"{reason} in it was left out; unpack it",
            f"{reason}s in it were left out; unpack it",
        )
    return None


def open_member(file: IO[bytes], kind: str, path: str) -> tuple[IO[bytes], int]:
    """A stream of a member's bytes, which closes the archive with it, and their number.

    Raises:
        ArchiveError: it is not there or cannot be read.
    """
    try:
        opened = _in_zip(file, path) if kind == "zip" else _in_tar(file, path)
    except Exception as error:  # damaged archives raise anything
        file.close()
        raise ArchiveError(_why(error)) from error
    if opened is None:
        file.close()
        raise ArchiveError("the archive does not hold it any more")
    return opened


def _why(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200]
    return text or type(error).__name__


def _walk(file: IO[bytes], kind: str) -> Iterator[tuple[str, int, str]]:
    """Path and size of every file, and what it is if it cannot be read."""
    if kind == "zip":
        import zipfile

        with zipfile.ZipFile(cast("IO[bytes]", _Metered(file))) as archive:
            for name in archive.namelist():
                info = archive.getinfo(name)
                if not info.is_dir():
                    yield name, info.file_size, _unread(info)
    else:
        for member, _ in _tar_members(*_tar_file(file)):
            linked = member.issym() or member.islnk()
            reason = "link" if linked else "" if _is_plain(member) else "sparse file or device"
            yield member.name, member.size, reason


def _unread(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & 1:
        return "encrypted file"
    return "link" if stat.S_ISLNK(info.external_attr >> 16) else ""


def _is_plain(member: tarfile.TarInfo) -> bool:
    return member.isreg() and not member.issparse()


class _Metered:
    """A file of which only so much is read until ``free``; what is skipped by seeking does not count."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left: int | None = DIRECTORY_BYTES

    def free(self) -> None:
        """From now on it is read without limit."""
        self._left = None

    def read(self, size: int = -1) -> bytes:
        """The next bytes, as any file gives them."""
        if self._left is None:
            return self._file.read(size)
        data = self._file.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError("what it says of its files is too much")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _tar_file(file: IO[bytes]) -> tuple[_Metered, bool]:
    """The archive, inflated, and whether it was compressed."""
    compressed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    from isal import igzip

    return _Metered(cast("Any", igzip).open(file) if compressed else file), compressed


def _tar_members(
    file: _Metered, compressed: bool
) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
    """The members of a tar archive but for folders."""
    import tarfile

    with tarfile.open(fileobj=cast("IO[bytes]", file), mode="r:") as archive:
        # Of one without members Python 3.10 would read what stands before its start.
        if cast("Any", archive).firstmember is None:
            return
        for _ in range(MOST_VISITED):
            info = archive.next()
            if info is None:
                return
            # The archive would keep every member it has passed.
            cast("Any", archive).members = []
            if not info.isdir():
                yield info, archive
            if compressed and info.offset_data + info.size > INFLATED_BYTES:
                raise ArchiveError("it inflates to more than is read to list it")
        if archive.next() is not None:
            raise ArchiveError(_more(MOST_VISITED, "files"))


def _in_zip(file: IO[bytes], path: str) -> tuple[IO[bytes], int] | None:
    import zipfile

    metered = _Metered(file)
    archive = zipfile.ZipFile(cast("IO[bytes]", metered))
    if path not in archive.NameToInfo:
        return None
    info = archive.getinfo(path)
    member = archive.open(info)
    metered.free()
    # A wrong sum would cost what was read last.
    cast("Any", member)._expected_crc = None
    return cast("IO[bytes]", _Owned(member, file.close, info.CRC)), info.file_size


def _in_tar(file: IO[bytes], path: str) -> tuple[IO[bytes], int] | None:
    metered, compressed = _tar_file(file)
    for info, archive in _tar_members(metered, compressed):
        if info.name == path and _is_plain(info):
            metered.free()
            # Closing the archive leaves the file open, which was opened elsewhere.
            return cast("IO[bytes]", _Owned(archive.extractfile(info), file.close)), info.size
    return None


class _Owned:
    """A member's bytes, read once from the begin, with the archive that it closes. ``check``: CRC-32 of them all."""

    def __init__(self, member: Any, close: Callable[[], None], check: int | None = None) -> None:
        self._member, self._close = member, close
        self._check, self._sum = check, 0
        self._damage = ""

    def read(self, size: int = -1) -> bytes:
        """The next bytes, as any file gives them; of a damaged member all before the damage.

        Raises:
            Unreadable: the archive is damaged there.
        """
        parts: list[bytes] = []
        while size and not self._damage:
            piece = self._piece(min(size, PIECE_BYTES) if size > 0 else PIECE_BYTES)
            parts.append(piece)
            size -= len(piece) if size > 0 else 0
            if not piece:
                break
        if self._damage and not any(parts):
            raise Unreadable(f"the archive is damaged: {self._damage}")
        return b"".join(parts)

    def _piece(self, size: int) -> bytes:
        try:
            piece = cast("bytes", self._member.read(size))
        except OSError:
            raise
        except Exception as error:  # damaged archives raise anything
            self._damage = _why(error)
            return b""
        if self._check is not None:
            self._sum = zlib.crc32(piece, self._sum)
            if not piece and self._sum != self._check:
                self._damage = "the checksum is wrong"
        return piece

    def seekable(self) -> bool:
        """A stream, even where the archive could seek."""
        return False

    def close(self) -> None:
        """Close the archive."""
        self._close()

    def __enter__(self) -> _Owned:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
