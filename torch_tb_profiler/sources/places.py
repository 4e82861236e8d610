"""Where a file or a folder lies: a value that is parsed once from a path or URL and then asked.

::

    /data/run/a.json  ~/runs  file:///data/run        of this machine
    s3://bucket/run/a.json                            of a file system of fsspec
    https://host/run/a.json?token=…                   of a web server
    zip://a/b.json::/data/run.zip                     a member of an archive, which lies at a place itself
    part://TP00::/data/merged.json                    one rank of a file that several were merged into

What people give and what lies in a logdir is untrusted. ``join`` and ``member_at`` do not lead out of a folder or an archive;
``open`` follows links, as listings do, and opens regular files alone; ``read`` follows no link, ``read_within`` none on the way either; ``name`` and ``shown``
are texts that JSON can carry, without the secrets of a URL.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from typing import IO
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from torch_tb_profiler import untrusted
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.untrusted import open_regular, readable

_PARTS = regex(r"[/\\]" if os.name == "nt" else "/")
_DRIVE = regex(r"[A-Za-z]:[\\/]")
_NESTED = ("part://", "zip://", "tar://")
LONGEST_WORDS = 400
"""Characters of an exception's message: some hold what was received."""


@dataclass(frozen=True)
class Place:
    """A file or a folder, there or not; two are equal if their texts are.

    Attributes:
        text: exactly what was given, which parsed again gives the same.
        scheme: of the URL in lower case, of a member ``zip`` or ``tar``; ``""`` on this machine.
        archive: what it is a member of; None of none.
        member: its path in the archive, ``""`` of none.
        part: the rank in the file, ``""`` all of it; everything but the text is as of the file.
    """

    text: str
    scheme: str = field(init=False, compare=False, repr=False)
    archive: Place | None = field(init=False, compare=False, repr=False)
    member: str = field(init=False, compare=False, repr=False)
    part: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        head, mark, rest = self.text.partition("://")
        is_url = bool(mark) and head.replace("+", "").isalnum() and head != "file"
        scheme, archive, member, part = head.lower() if is_url else "", None, "", ""
        first, _, outer = rest.partition("::")
        # What lies deeper is left to fsspec: a text is parsed in three steps at most.
        if head == "part" and first and outer and not outer.startswith("part://"):
            file = Place(outer)
            scheme, archive, member, part = file.scheme, file.archive, file.member, unquote(first)
        elif head in ("zip", "tar") and first and outer and not outer.startswith(_NESTED):
            archive, member = Place(outer), unquote(first, errors="surrogateescape")
        self.__dict__.update(scheme=scheme, archive=archive, member=member, part=part)

    def __str__(self) -> str:
        return self.text

    @property
    def is_local(self) -> bool:
        """Whether it is a path of this machine, which a member of an archive is not."""
        return not self.scheme

    @property
    def is_web(self) -> bool:
        """Whether it is an HTTP or HTTPS URL."""
        return self.scheme in ("http", "https")

    @property
    def in_this_process_only(self) -> bool:
        """Whether no other process can read it: fsspec's ``memory://``."""
        return (self.archive or self).scheme == "memory"

    @property
    def file(self) -> Place:
        """The file that its part is in; of all of a file that."""
        return Place(self.text.partition("::")[2]) if self.part else self

    def with_part(self, part: str) -> Place:
        """One rank of the file, with ``""`` all of it."""
        file = self.file
        return Place(f"part://{quote(part, safe='')}::{file.text}") if part else file

    @property
    def path(self) -> str:
        """The absolute path of a local place; resolves ``file://`` and ``~`` but not symbolic links.

        Raises:
            ValueError: it is not local.
        """
        if not self.is_local:
            raise ValueError(f"{self.shown} is no path of this machine")
        text = self.file.text
        path = unquote(text[7:]) if text.startswith("file://") else text
        return os.path.abspath(os.path.expanduser(path))

    @property
    def absolute(self) -> Place:
        """Itself, whatever the working folder is later."""
        return Place(self.path) if self.is_local and not self.part else self

    @property
    def name(self) -> str:
        """The last component, without query: ``http://h/a/b.json?t=1`` → ``b.json``; ``""`` of a root."""
        if self.archive is not None:
            name = self.member.rpartition("/")[2]
        elif self.is_web:
            name = unquote(urlsplit(self.file.text).path).rstrip("/").rpartition("/")[2]
        else:
            path = self.path if self.is_local else self.file.text.partition("://")[2]
            name = next((part for part in reversed(_PARTS.split(path)) if part), "")
        return name

    @property
    def parent(self) -> Place:
        """The folder that it lies in: of a member the archive."""
        if self.archive is not None:
            return self.archive
        if self.is_local:
            return Place(os.path.dirname(self.path))
        return Place(self.file.text.split("?")[0].rpartition("/")[0])

    @property
    def shown(self) -> str:
        """It fit to display: without credentials and without the query, which may be signed."""
        if self.archive is not None:
            return f"{self.archive.shown}/{readable(self.member)}"
        if self.is_local:
            return readable(self.path)
        text, members = self.file.text, ""
        # What lies deeper than a place is parsed ends in a URL all the same, which may hold secrets.
        while text.startswith(_NESTED) and "::" in text:
            first, _, text = text.partition("::")
            member = unquote(first.partition("://")[2], errors="surrogateescape")
            members = f"/{readable(member)}{members}"
        if members:
            return f"{Place(text).shown}{members}"
        parts = urlsplit(text)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def join(self, path: str) -> Place:
        """What a path names within this folder, by its words: a link in it may lead anywhere.

        Raises:
            ValueError: it leads out of the folder.
        """
        if "\0" in path or not Place(path).is_local:
            raise ValueError(f"{path} leads out of the folder")
        if self.is_local:
            home = self.path
            inside = os.path.relpath(os.path.normpath(os.path.join(home, path)), home)
            if inside.split(os.sep)[0] != "..":
                return Place(home if inside == os.curdir else os.path.join(home, inside))
        elif not leads_out(path.rstrip("/")):
            return Place(f"{self.text.rstrip('/')}/{path}")
        raise ValueError(f"{path} leads out of the folder")

    @property
    def archive_kind(self) -> str:
        """What an archive is read as by its name, ``zip`` or ``tar``, which is the scheme of its members."""
        return "zip" if self.name.lower().endswith(".zip") else "tar"

    def member_at(self, path: str) -> Place:
        """A member of this archive, by its path as the archive has it.

        Raises:
            ValueError: the path leads out of the archive.
        """
        if leads_out(path.removeprefix("./")):
            raise ValueError(f"{path} leads out of the archive")
        return Place(
            f"{self.archive_kind}://{quote(path, safe='/', errors='surrogateescape')}::{self.text}"
        )

    @property
    def is_gone(self) -> bool:
        """Whether it, or the archive that it is in, is certainly not there: False where that cannot be told."""
        file = self.archive or self
        try:
            return file.is_local and not os.lstat(file.path)
        except OSError as error:
            return isinstance(error, (FileNotFoundError, NotADirectoryError))

    def open(self) -> IO[bytes]:
        """The bytes of a local file. A pipe in its place is not waited for, and no device is touched.

        Raises:
            OSError: it cannot be opened, or is no regular file.
            ValueError: it is not local.
        """
        return open(self.path, "rb", opener=open_regular)

    def read(self, most: int) -> bytes:
        """The bytes of a local file that is no link, ``most`` at most.

        Raises:
            OSError: it is no such file, or larger.
            ValueError: it is not local.
        """
        return untrusted.read_file(self.path, most, links=False)

    def read_within(self, path: str, most: int) -> bytes:
        """The bytes of a file in this folder of this machine, ``most`` at most: no link leads to it from here.

        Raises:
            OSError: it is no such file, or larger, or a link is on the way.
            ValueError: it leads out of the folder, or is not local.
        """
        file, home = self.join(path), os.path.realpath(self.path)
        if os.path.realpath(file.path) != os.path.join(home, os.path.relpath(file.path, self.path)):
            raise OSError(errno.ELOOP, "a link is on the way to it")
        return file.read(most)


def leads_out(path: str) -> bool:
    """Whether a path as archives and URLs write it is absolute, goes up, or means something else on another system."""
    return (
        "\\" in path
        or "\0" in path
        or _DRIVE.match(path) is not None
        or any(part in ("", "..") for part in path.split("/"))
    )


def words(error: BaseException) -> str:
    """An exception in one line: its type and message, which may be cut."""
    text = " ".join(str(error).split()).rstrip(".")
    if len(text) > LONGEST_WORDS:
        text = f"{text[:LONGEST_WORDS]} …"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
