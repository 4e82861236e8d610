"""What a location is called: its scheme, its last part, and how it may be shown to people."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit, urlunsplit


def is_url(location: str) -> bool:
    """Whether a location names an fsspec filesystem (``s3://…``) rather than a local path."""
    head, mark, _ = location.partition("://")
    return bool(mark) and head.replace("+", "").isalnum() and head != "file"


def scheme_of(location: str) -> str:
    """``s3://bucket/x`` → ``s3``; ``""`` for a local path."""
    return location.partition("://")[0].lower() if is_url(location) else ""


def is_web(location: str) -> bool:
    """Whether a location is read from a web server."""
    return scheme_of(location) in ("http", "https")


def in_this_process_only(location: str) -> bool:
    """Whether another process cannot read the location: fsspec's ``memory://`` lives in one
    process.
    """
    return scheme_of(location) == "memory"


def local_path(location: str) -> str:
    """The absolute path of a local location; ``file://`` and ``~`` are resolved, symbolic links are
    not.
    """
    path = location[7:] if location.startswith("file://") else location
    return os.path.abspath(os.path.expanduser(unquote(path) if path != location else path))


def base_name(location: str) -> str:
    """The last part of a path or URL, without query: ``http://h/a/b.json?t=1`` → ``b.json``."""
    if is_web(location):
        return unquote(urlsplit(location).path).rstrip("/").rpartition("/")[2]
    parts = re.split(
        r"[/\\]" if os.name == "nt" else "/",
        location.partition("://")[2] if scheme_of(location) else local_path(location),
    )
    return next((p for p in reversed(parts) if p), "")


def shown(location: str) -> str:
    """A location for people's eyes: credentials and query (signed URLs hold secrets there) are left
    out.
    """
    if not scheme_of(location):
        return readable(local_path(location))
    parts = urlsplit(location)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def readable(name: str) -> str:
    """A file name that JSON can carry: bytes that are no UTF-8 (Linux allows them) become
    ``\\udcff`` and stay distinct.
    """
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def words(error: BaseException) -> str:
    """An exception in one line: its type and its text."""
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
