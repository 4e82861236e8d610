"""Locations (paths and URLs): their scheme, their base name, and a form that is safe to display."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from torch_tb_profiler import untrusted


def is_url(location: str) -> bool:
    """Whether a location names an fsspec filesystem (``s3://…``) rather than a local path."""
    head, mark, _ = location.partition("://")
    return bool(mark) and head.replace("+", "").isalnum() and head != "file"


def scheme_of(location: str) -> str:
    """``s3://bucket/x`` → ``s3``; ``""`` for a local path."""
    return location.partition("://")[0].lower() if is_url(location) else ""


def in_archive(archive: str, kind: str, path: str) -> str:
    """The location of a member of an archive: ``zip://a/b.json::/data/run.zip``."""
    return f"{kind}://{quote(path, safe='/', errors='surrogateescape')}::{archive}"


def archive_of(location: str) -> tuple[str, str, str] | None:
    """The archive's location, ``zip`` or ``tar``, and the member's path; None for what lies in none."""
    kind, _, rest = location.partition("://")
    member, mark, archive = rest.partition("::")
    if kind not in ("zip", "tar") or not mark or not member:
        return None
    return archive, kind, unquote(member, errors="surrogateescape")


def in_part(location: str, part: str) -> str:
    """The location of one rank of a file that several were merged into: ``part://TP00::/data/merged.json``."""
    return f"part://{quote(part, safe='')}::{location}" if part else location


def part_of(location: str) -> tuple[str, str]:
    """The file's own location and the rank in it, ``""`` for all of the file."""
    head, mark, file = location.partition("::")
    if not mark or not head.startswith("part://"):
        return location, ""
    return file, unquote(head.removeprefix("part://"))


def is_web(location: str) -> bool:
    """Whether a location is an HTTP or HTTPS URL."""
    return scheme_of(location) in ("http", "https")


def in_this_process_only(location: str) -> bool:
    """Whether only this process can read the location: fsspec's ``memory://``."""
    location = part_of(location)[0]
    inside = archive_of(location)
    return scheme_of(inside[0] if inside else location) == "memory"


def local_path(location: str) -> str:
    """The absolute path of a local location; resolves ``file://`` and ``~`` but not symbolic links."""
    path = location[7:] if location.startswith("file://") else location
    return os.path.abspath(os.path.expanduser(unquote(path) if path != location else path))


def base_name(location: str) -> str:
    """The last component of a path or URL, without query: ``http://h/a/b.json?t=1`` → ``b.json``."""
    if (inside := archive_of(location)) is not None:
        return inside[2].rpartition("/")[2]
    if is_web(location):
        return unquote(urlsplit(location).path).rstrip("/").rpartition("/")[2]
    parts = re.split(
        r"[/\\]" if os.name == "nt" else "/",
        location.partition("://")[2] if scheme_of(location) else local_path(location),
    )
    return next((p for p in reversed(parts) if p), "")


def shown(location: str) -> str:
    """A location fit to display: without credentials and without the query, which may be signed."""
    if (inside := archive_of(location)) is not None:
        return f"{shown(inside[0])}/{readable(inside[2])}"
    if not scheme_of(location):
        return readable(local_path(location))
    parts = urlsplit(location)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


readable = untrusted.readable
LONGEST_WORDS = 400
"""Characters of an exception's message: some hold what was received."""


def words(error: BaseException) -> str:
    """An exception in one line: its type and message, which may be cut."""
    text = " ".join(str(error).split()).rstrip(".")
    if len(text) > LONGEST_WORDS:
        text = f"{text[:LONGEST_WORDS]} …"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
