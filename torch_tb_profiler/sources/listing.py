"""Every file below a logdir that may be a trace, local or remote, with what tells one version of it
from another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from torch_tb_profiler.errors import ProfilerError, SourceError
from torch_tb_profiler.sources import names, places, streams

FOLDER_LIMIT = 100_000
"""Folders visited in one walk: symbolic links may span a finite but endless-looking maze."""


@dataclass(frozen=True)
class Found:
    """One file.

    Attributes:
        location: what ``streams`` opens.
        folder: the folder relative to the logdir, ``/`` between parts, ``""`` for the logdir
            itself; fit for JSON (``places.readable``).
        name: the file's own name, fit for JSON.
        size: bytes; −1 when the server does not tell.
        modified_ns: time of the last change, Unix ns; None when not told.
        stamp: tells versions of one size apart (time or ETag); ``""`` when nothing does.
    """

    location: str
    folder: str
    name: str
    size: int
    modified_ns: int | None
    stamp: str

    @property
    def path(self) -> str:
        """Path relative to the logdir."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


@dataclass(frozen=True)
class Listing:
    """Files in natural order of their paths, and in words what could not be looked at."""

    files: tuple[Found, ...]
    notes: tuple[str, ...] = ()


@dataclass
class _Walk:
    files: list[Found] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    folders: int = 0

    def listing(self) -> Listing:
        return Listing(
            tuple(
                sorted(self.files, key=lambda f: (names.natural(f.folder), names.natural(f.name)))
            ),
            tuple(self.notes),
        )


def list_files(location: str) -> Listing:
    """Every file with a suffix that a trace may have (``names.parse``) at or below a location,
    hidden ones left out.

    A place that does not exist (yet) gives no file and a note that says so.

    Raises:
        SourceError: a remote place could not be read (``MissingDriver`` when a package is missing).
    """
    if not places.scheme_of(location):
        return _list_local(places.local_path(location))
    try:
        return _list_remote(location)
    except ProfilerError:
        raise
    except Exception as error:  # drivers raise whatever they like: botocore, aiohttp, OSError ...
        raise SourceError(
            f"{places.shown(location)} could not be listed: {places.words(error)}.",
            "Check the URL and the credentials.",
        ) from error


def _is_candidate(name: str) -> bool:
    return not name.startswith(".") and names.parse(name) is not None


def _list_local(root: str) -> Listing:
    walk = _Walk()
    if os.path.isfile(root):
        status = os.stat(root)
        return Listing(
            (
                Found(
                    root,
                    "",
                    places.readable(os.path.basename(root)),
                    status.st_size,
                    status.st_mtime_ns,
                    str(status.st_mtime_ns),
                ),
            )
        )
    if not os.path.isdir(root):
        kind = "is neither a folder nor a file" if os.path.exists(root) else "does not exist (yet)"
        return Listing((), (f"{places.readable(root)} {kind}; it is looked at again and again.",))
    stack: list[tuple[str, str, frozenset[str]]] = [(root, "", frozenset())]
    while stack:
        path, folder, above = stack.pop()
        real = os.path.realpath(path)
        # Only the folders on the way down count: two links to one folder are two runs, a link to a
        # folder above would never end.
        if real in above:
            continue
        walk.folders += 1
        if walk.folders > FOLDER_LIMIT:
            walk.notes.append(f"More than {FOLDER_LIMIT:,} folders: the rest was not looked at.")
            break
        stack += [(*child, above | {real}) for child in _enter(path, folder, walk)]
    return walk.listing()


def _enter(path: str, folder: str, walk: _Walk) -> Iterator[tuple[str, str]]:
    """Takes the files of one folder into the walk and gives its folders."""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                name = places.readable(entry.name)
                if _is_folder(entry):
                    yield entry.path, f"{folder}/{name}" if folder else name
                elif _is_candidate(name):
                    _take(entry, folder, name, walk)
    except OSError as error:
        walk.notes.append(
            f"The folder {folder or places.readable(path)} could not be read:"
            f" {error.strerror or places.words(error)}."
        )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _take(entry: os.DirEntry[str], folder: str, name: str, walk: _Walk) -> None:
    try:
        status = entry.stat()
        if entry.is_file():
            walk.files.append(
                Found(
                    entry.path,
                    folder,
                    name,
                    status.st_size,
                    status.st_mtime_ns,
                    str(status.st_mtime_ns),
                )
            )
    except FileNotFoundError:
        # Removed between the listing and the look, or a link that leads nowhere.
        if entry.is_symlink():
            walk.notes.append(f"{folder}/{name} is a symbolic link that leads nowhere.".lstrip("/"))
    except OSError as error:
        walk.notes.append(
            f"{folder}/{name} could not be looked at: {error.strerror or places.words(error)}.".lstrip(
                "/"
            )
        )


def _list_remote(location: str) -> Listing:
    fs, path = streams.filesystem_of(location)
    fs.invalidate_cache()
    if places.is_web(location):
        return _list_web(fs, location)
    try:
        info = fs.info(path)
        if info["type"] == "file":
            return Listing((_remote_file(fs, info, location, "", places.base_name(location)),))
        entries = fs.find(path, detail=True)
    except FileNotFoundError:
        return Listing(
            (),
            (f"{places.shown(location)} does not exist (yet); it is looked at again and again.",),
        )
    walk = _Walk()
    root = path.strip("/")
    for name, info in entries.items():
        parts = name.strip("/")[len(root) :].strip("/").split("/")
        if _is_candidate(parts[-1]) and not any(p.startswith(".") for p in parts):
            walk.files.append(
                _remote_file(fs, info, fs.unstrip_protocol(name), "/".join(parts[:-1]), parts[-1])
            )
    return walk.listing()


def _list_web(fs: Any, root: str) -> Listing:
    """An index page of links, walked down; or the URL of a file."""
    walk = _Walk()
    if names.parse(places.base_name(root)) is not None:
        return Listing((_web_file(fs, root, "", places.base_name(root)),))
    stack = [(root.rstrip("/") + "/", "")]
    seen: set[str] = set()
    while stack:
        url, folder = stack.pop()
        try:
            links = fs.ls(url, detail=False)
        except FileNotFoundError:
            if not folder:
                return Listing(
                    (),
                    (
                        (
                            f"{places.shown(root)} does not exist (yet); it is looked at again and"
                            " again."
                        ),
                    ),
                )
            continue
        for link in links:
            name = places.base_name(link)
            # Index pages link to themselves in other sort orders (?C=N;O=D) and to the folder
            # above.
            if (
                "?" in link
                or link in seen
                or name.startswith(".")
                or not link.startswith(url)
                or len(seen) > FOLDER_LIMIT
            ):
                continue
            seen.add(link)
            if link.endswith("/") and link != url:
                stack.append((link, f"{folder}/{name}" if folder else name))
            elif _is_candidate(name):
                _take_web(fs, link, folder, name, walk)
    return walk.listing()


def _take_web(fs: Any, link: str, folder: str, name: str, walk: _Walk) -> None:
    try:
        walk.files.append(_web_file(fs, link, folder, name))
    except FileNotFoundError:
        walk.notes.append(
            f"The index links to {folder}/{name}, which the server does not have.".replace(
                " /", " "
            )
        )


def _web_file(fs: Any, url: str, folder: str, name: str) -> Found:
    return _remote_file(fs, fs.info(url), url, folder, name)


def _remote_file(fs: Any, info: dict[str, Any], location: str, folder: str, name: str) -> Found:
    modified = _modified_ns(fs, info)
    tag = next(
        (
            str(info[k])
            for k in ("ETag", "etag", "e_tag", "md5Hash", "content_md5", "Content-MD5")
            if info.get(k)
        ),
        "",
    )
    size = info.get("size")
    return Found(
        location,
        folder,
        name,
        -1 if size is None else int(size),
        modified,
        tag or ("" if modified is None else str(modified)),
    )


def _modified_ns(fs: Any, info: dict[str, Any]) -> int | None:
    if "created" in info and "memory" in fs.protocol:
        return int(fs.modified(info["name"]).timestamp() * 1e9)
    for key in ("mtime", "LastModified", "last_modified", "updated", "modified", "Last-Modified"):
        value = info.get(key)
        if value is not None:
            return _as_ns(value)
    return None


def _as_ns(value: Any) -> int | None:
    """Drivers tell times as seconds, as datetime, as ISO text or as HTTP date."""
    # Here, because it brings sockets and what not, which no local file needs.
    from email.utils import parsedate_to_datetime

    try:
        if isinstance(value, (int, float)):
            return int(value * 1_000_000_000)
        if isinstance(value, str):
            value = (
                parsedate_to_datetime(value)
                if "," in value
                else datetime.fromisoformat(value.replace("Z", "+00:00"))
            )
        if isinstance(value, datetime):
            return int(
                (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()
                * 1_000_000_000
            )
    except (ValueError, OverflowError, TypeError):
        return None
    return None
