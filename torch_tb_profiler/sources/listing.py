"""Every file below a logdir that may be a trace, local or remote, with its version."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.errors import ProfilerError, SourceError
from torch_tb_profiler.sources import archives, capture_files, names, streams
from torch_tb_profiler.sources.listed_file import ListedFile
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.units import format_count
from torch_tb_profiler.untrusted import readable

__all__ = ["ListedFile", "Listing", "captures_beside", "list_files"]

FOLDER_LIMIT = 100_000
"""Folders visited in one walk: symbolic links may span a seemingly endless maze."""


class Listing(msgspec.Struct, frozen=True):
    """Files in natural order of their paths, and a sentence for each thing that could not be read."""

    files: tuple[ListedFile, ...]
    notes: tuple[str, ...] = ()


class _Walk(msgspec.Struct):
    files: list[ListedFile] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    folders: int = 0
    open_archives: bool = True

    def add(self, file: ListedFile, folder: str) -> None:
        """A file, or the members of an archive as those of a folder."""
        if not archives.is_archive(file.name):
            self.files.append(file)
        elif self.open_archives:
            self._add_members(file, folder)

    def _add_members(self, file: ListedFile, folder: str) -> None:
        try:
            # Without a stamp another content may have the same size.
            found = (_members if file.stamp else _members.__wrapped__)(
                file.location, file.size, file.stamp
            )
        except (ProfilerError, OSError) as error:
            why = error.message if isinstance(error, ProfilerError) else words(error)
            self.notes.append(f"{folder or file.name} could not be read as an archive: {why}")
            return
        self.notes += [f"{folder or file.name}: {note}" for note in found.notes]
        for member in found.files:
            path = readable(member.path).removeprefix("./")
            above, _, name = path.rpartition("/")
            location = file.location.member_at(member.path)
            inside = "/".join(filter(None, (folder, above)))
            self.files.append(
                ListedFile(location, inside, name, member.size, file.modified_ns, file.stamp)
            )

    def listing(self) -> Listing:
        files = sorted(self.files, key=lambda f: (names.natural(f.folder), names.natural(f.name)))
        return Listing(tuple(capture_files.assigned(files)), tuple(self.notes))


def list_files(place: Place) -> Listing:
    """Files at or below a place whose suffix a trace may have (``names.parse``); no hidden ones.

    A place that does not exist (yet) yields no files and a note.

    Raises:
        SourceError: a remote location cannot be read (``MissingDriver``: a package is missing).
    """
    if place.is_local:
        return _list_local(place.path)
    try:
        return _list_remote(place)
    except ProfilerError:
        raise
    except Exception as error:  # drivers raise anything: botocore, aiohttp, OSError ...
        raise SourceError(
            f"{place.shown} could not be listed: {words(error)}.",
            "Check the URL and the credentials.",
        ) from error


@lru_cache(maxsize=1 << 10)
def _members(archive: Place, size: int, stamp: str) -> archives.Members:
    """What an archive of this size and stamp holds; a failure of the content is a note."""
    file, _ = streams.open_bytes(archive)
    with file:
        try:
            return archives.list_members(file, archive.archive_kind)
        except archives.ArchiveError as error:
            return archives.Members((), (f"it is no archive that can be read: {error}.",))


def captures_beside(place: Place) -> list[ListedFile]:
    """Recordings of graph captures that belong to the trace at a place; none for one of them.

    Raises:
        SourceError: a remote location cannot be read.
    """
    own = readable(place.name)
    if capture_files.is_capture(own) or place.is_web:
        return []
    if place.archive is not None:
        return _beside_in_archive(place.archive, place)
    folders, files = _beside(place)
    files += [file for folder in folders for file in list_files(folder).files]
    found = {file.location: file for file in files if capture_files.same_rank(own, file.name)}
    return list(found.values())


def _beside_in_archive(archive: Place, place: Place) -> list[ListedFile]:
    files = list_files(archive).files
    own = next((file for file in files if file.location == place), None)
    return [
        file
        for file in files
        if own and file.captures and capture_files.home_of(file) == own.folder
        if capture_files.same_rank(own.name, file.name)
    ]


def _beside(place: Place) -> tuple[list[Place], list[ListedFile]]:
    """Folders and files beside a file that are named as those of captures."""
    folders, files = [], []
    if place.is_local:
        walk = _Walk(open_archives=False)
        for path, name in _enter(place.parent.path, "", walk):
            if capture_files.is_capture(name):
                folders.append(Place(path))
        files = walk.files
    else:
        fs, path = streams.filesystem_of(place)
        for info in fs.ls(path.rpartition("/")[0], detail=True):
            url = Place(fs.unstrip_protocol(info["name"]))
            name = url.name
            if info["type"] == "directory" and capture_files.is_capture(name):
                folders.append(url)
            elif info["type"] == "file" and _is_candidate(name):
                files.append(_remote_file(fs, info, url, "", name))
    wanted = [
        f for f in files if capture_files.is_capture(f.name) or f.name == capture_files.DETAILS
    ]
    return folders, wanted


def _archive(file: ListedFile) -> Listing:
    """An archive by itself."""
    walk = _Walk()
    walk.add(file, "")
    return walk.listing()


def _with_captures(file: ListedFile) -> Listing:
    """One file by itself, with the stamp that it has in the listing of its folder."""
    beside = [replace(f, folder="captures") for f in captures_beside(file.location)]
    stamped = capture_files.assigned([file, *beside])[0]
    return Listing((stamped,))


def _is_candidate(name: str) -> bool:
    named = archives.is_archive(name) or names.parse(name) is not None
    return named and not name.startswith(".")


def _list_local(root: str) -> Listing:
    walk = _Walk()
    if os.path.isfile(root):
        name = readable(os.path.basename(root))
        file = _local_file(root, "", name, os.stat(root))
        return _archive(file) if archives.is_archive(name) else _with_captures(file)
    if not os.path.isdir(root):
        kind = "is neither a folder nor a file" if os.path.exists(root) else "does not exist (yet)"
        return Listing((), (f"{readable(root)} {kind}; it is checked regularly.",))
    stack: list[tuple[str, str, frozenset[str]]] = [(root, "", frozenset())]
    while stack:
        path, folder, above = stack.pop()
        real = os.path.realpath(path)
        # Only ancestors matter: two links to one folder are two runs, a link to an ancestor is a
        # cycle.
        if real in above:
            continue
        walk.folders += 1
        if walk.folders > FOLDER_LIMIT:
            walk.notes.append(
                f"More than {format_count(FOLDER_LIMIT)} folders: the rest was not visited."
            )
            break
        stack += [(*child, above | {real}) for child in _enter(path, folder, walk)]
    return walk.listing()


def _enter(path: str, folder: str, walk: _Walk) -> Iterator[tuple[str, str]]:
    """Add the files of one folder to the walk and yield its subfolders."""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                name = readable(entry.name)
                if _is_folder(entry):
                    yield entry.path, f"{folder}/{name}" if folder else name
                elif _is_candidate(name):
                    _add_local(entry, folder, name, walk)
    except OSError as error:
        walk.notes.append(
            f"The folder {folder or readable(path)} could not be read:"
            f" {error.strerror or words(error)}."
        )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _add_local(entry: os.DirEntry[str], folder: str, name: str, walk: _Walk) -> None:
    path = f"{folder}/{name}".lstrip("/")
    try:
        status = entry.stat()
        if entry.is_file():
            walk.add(_local_file(entry.path, folder, name, status), path)
    except FileNotFoundError:
        # Removed since it was listed, or a dangling link.
        if entry.is_symlink():
            walk.notes.append(f"{path} is a dangling symbolic link.")
    except OSError as error:
        walk.notes.append(f"{path} could not be read: {error.strerror or words(error)}.")


def _local_file(path: str, folder: str, name: str, status: os.stat_result) -> ListedFile:
    modified = status.st_mtime_ns
    return ListedFile(Place(path), folder, name, status.st_size, modified, str(modified))


def _list_remote(place: Place) -> Listing:
    fs, path = streams.filesystem_of(place)
    fs.invalidate_cache()
    walk = _Walk()
    if place.is_web:
        return _list_web(fs, place, walk)
    try:
        info = fs.info(path)
        if info["type"] == "file":
            file = _remote_file(fs, info, place, "", place.name)
            return _archive(file) if archives.is_archive(file.name) else _with_captures(file)
        entries = fs.find(path, detail=True)
    except FileNotFoundError:
        return _absent(place)
    root = path.strip("/")
    for path, info in entries.items():
        *folders, name = path.strip("/")[len(root) :].strip("/").split("/")
        if _is_candidate(name) and not any(p.startswith(".") for p in folders):
            url = Place(fs.unstrip_protocol(path))
            walk.add(
                _remote_file(fs, info, url, "/".join(folders), name), "/".join([*folders, name])
            )
    return walk.listing()


def _absent(place: Place) -> Listing:
    note = f"{place.shown} does not exist (yet); it is checked regularly."
    return Listing((), (note,))


def _list_web(fs: Any, root: Place, walk: _Walk) -> Listing:
    """Walk down an index page of links, or take the URL of one file."""
    if _is_candidate(root.name):
        return _archive(_web_file(fs, root, "", root.name))
    stack = [(root.text.rstrip("/") + "/", "")]
    seen: set[str] = set()
    while stack:
        url, folder = stack.pop()
        try:
            links = fs.ls(url, detail=False)
        except FileNotFoundError:
            if not folder:
                return _absent(root)
            continue
        for link in links:
            name = Place(link).name
            # Index pages link to themselves in other sort orders (?C=N;O=D) and to their parent.
            own = link.startswith(url) and "?" not in link and not name.startswith(".")
            if not own or link in seen or len(seen) > FOLDER_LIMIT:
                continue
            seen.add(link)
            if link.endswith("/") and link != url:
                stack.append((link, f"{folder}/{name}" if folder else name))
            elif _is_candidate(name):
                path = f"{folder}/{name}".lstrip("/")
                try:
                    walk.add(_web_file(fs, Place(link), folder, name), path)
                except FileNotFoundError:
                    walk.notes.append(f"The index lists {path}, which the server does not have.")
    return walk.listing()


def _web_file(fs: Any, url: Place, folder: str, name: str) -> ListedFile:
    return _remote_file(fs, fs.info(url.text), url, folder, name)


def _remote_file(fs: Any, info: dict[str, Any], place: Place, folder: str, name: str) -> ListedFile:
    modified = _modified_ns(fs, info)
    keys = ("ETag", "etag", "e_tag", "md5Hash", "content_md5", "Content-MD5")
    tags = [str(info[key]) for key in keys if info.get(key)]
    stamp = tags[0] if tags else "" if modified is None else str(modified)
    size = info.get("size")
    return ListedFile(place, folder, name, -1 if size is None else int(size), modified, stamp)


def _modified_ns(fs: Any, info: dict[str, Any]) -> int | None:
    if "created" in info and "memory" in fs.protocol:
        return int(fs.modified(info["name"]).timestamp() * 1e9)
    for key in ("mtime", "LastModified", "last_modified", "updated", "modified", "Last-Modified"):
        value = info.get(key)
        if value is not None:
            return _as_ns(value)
    return None


def _as_ns(value: Any) -> int | None:
    """A driver's time as Unix ns: it may be seconds, a datetime, ISO text or an HTTP date."""
    # Imported here: it brings in sockets, which no local file needs.
    from email.utils import parsedate_to_datetime

    try:
        if isinstance(value, (int, float)):
            return int(value * 1_000_000_000)
        if isinstance(value, str) and "," in value:
            value = parsedate_to_datetime(value)
        elif isinstance(value, str):
            value = datetime.fromisoformat(value.replace("Z", "+00:00"))
        if isinstance(value, datetime):
            aware = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
            return int(aware.timestamp() * 1_000_000_000)
    except (ValueError, OverflowError, TypeError):
        pass
    return None
