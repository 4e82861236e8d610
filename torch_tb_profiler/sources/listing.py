"""Every file below a logdir that may be a trace, local or remote, with its version."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.errors import ProfilerError, SourceError
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import archives, capture_files, names, streams
from torch_tb_profiler.sources.listed_file import ListedFile
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.sources.walk import Folder, Found, Walk
from torch_tb_profiler.units import format_counted, format_names
from torch_tb_profiler.untrusted import is_among, kernel_places, readable, said

__all__ = ["ListedFile", "Listing", "Search", "captures_beside", "list_files"]

SECONDS = Settings.max_scan_seconds
MOST_NAMED = 5


class Listing(msgspec.Struct, frozen=True):
    """Files in natural order of their paths, and what is said of others.

    Attributes:
        notes: a sentence for each thing that could not be read or was left out.
        remarks: on what is listed under another name.
        whole: False where files may be there that are not listed.
    """

    files: tuple[ListedFile, ...]
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    whole: bool = True


class Search:
    """A listing on its way: iterated once it gives files as they are found, then ``listing`` all of them.

    Files are those at or below a place whose suffix a trace may have (``names.parse``); no hidden ones. A place that does not
    exist (yet) yields none and a note.
    """

    def __init__(self, place: Place, seconds: float = SECONDS) -> None:
        """``seconds``: as of ``Walk``."""
        self._place = place
        self._walk: _Walk = _LocalWalk(seconds) if place.is_local else _RemoteWalk(place, seconds)

    def __iter__(self) -> Iterator[list[ListedFile]]:
        """
        Raises:
            SourceError: a remote location cannot be read (``MissingDriver``: a package is missing).
        """
        try:
            yield from self._walk.below(self._place)
        except Exception as error:  # drivers raise anything: botocore, aiohttp, OSError ...
            if self._place.is_local or isinstance(error, ProfilerError):
                raise
            raise SourceError(
                f"{self._place.shown} could not be listed: {words(error)}.",
                "Check the URL and the credentials.",
            ) from error

    @property
    def pending(self) -> list[str]:
        """Paths of the folders that are still to come, relative to the logdir."""
        return self._walk.pending

    def listing(self) -> Listing:
        """What was found."""
        walk = self._walk
        files = sorted(walk.files, key=lambda f: (names.natural(f.folder), names.natural(f.name)))
        return Listing(tuple(files), walk.notes, tuple(walk.remarks()), walk.whole)


def list_files(place: Place, seconds: float = SECONDS) -> Listing:
    """All that a ``Search`` finds.

    Raises:
        SourceError: as there.
    """
    search = Search(place, seconds)
    for _ in search:
        pass
    return search.listing()


class _Walk(Walk):
    """Archives are folders of their members."""

    def below(self, place: Place) -> Iterator[list[ListedFile]]:
        """The files at or below a place as they are found."""
        raise NotImplementedError

    def entries(self, folder: Folder) -> Iterator[Found]:
        """What a folder holds that is no archive."""
        raise NotImplementedError

    def remarks(self) -> Iterator[str]:
        """On what is listed under another name."""
        return iter(())

    def read(self, folder: Folder) -> Iterator[Found]:
        """The entries of a folder or an archive."""
        return self._members(folder.archive, folder) if folder.archive else self.entries(folder)

    def alone(self, file: ListedFile) -> Iterator[list[ListedFile]]:
        """One file as the logdir: an archive, or a trace with the stamp that it has in the listing of its folder."""
        if archives.is_archive(file.name):
            yield from self.down(Folder(file.location.text, "", archive=file))
            return
        beside = [replace(f, folder="captures") for f in captures_beside(file.location)]
        self.files = capture_files.assigned([file, *beside])[:1]
        yield self.files

    def absent(self, place: Place) -> None:
        """Note that there is nothing."""
        self.note(f"{place.shown} does not exist (yet); it is checked regularly.", "", whole=False)

    def unread(self, folder: Folder, error: Exception) -> None:
        """Note that a folder could not be read; one that was removed a moment ago is not missed."""
        if not isinstance(error, FileNotFoundError) or folder.linked:
            why = (error.strerror if isinstance(error, OSError) else "") or words(error)
            self.note(
                f"The folder {folder.shown} could not be read: {why}.",
                "folders could not be read",
                whole=False,
            )

    def _members(self, file: ListedFile, folder: Folder) -> Iterator[Found]:
        name = said(folder.path or file.name)
        try:
            # Without a stamp another content may have the same size.
            found = (_members if file.stamp else _members.__wrapped__)(
                file.location, file.size, file.stamp
            )
        except (ProfilerError, OSError) as error:
            why = error.message if isinstance(error, ProfilerError) else words(error)
            self.note(
                f"{name} could not be read as an archive: {why}",
                "archives could not be read",
                whole=False,
            )
            return
        for note in found.notes:
            self.note(f"{name}: {note}", "remarks on archives")
        for member in found.files:
            above, _, own = member.name.rpartition("/")
            location = file.location.member_at(member.path)
            inside = folder.below(above) if above else folder.path
            yield ListedFile(location, inside, own, member.size, file.modified_ns, file.stamp)


def _found(file: ListedFile, path: str, linked: bool = False) -> Found:
    """A file that may be a trace, or an archive as a folder."""
    if archives.is_archive(file.name):
        return Folder(file.location.text, path, linked, file)
    return file


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
    home = place.parent
    walk = _LocalWalk(SECONDS) if home.is_local else _RemoteWalk(home, SECONDS, at_once=False)
    found = list(walk.entries(Folder(home.text, "")))
    folders = [f for f in found if isinstance(f, Folder) and f.archive is None]
    files = [f for f in found if isinstance(f, ListedFile)]
    return [Place(f.location) for f in folders if capture_files.is_capture(f.path)], [
        f for f in files if capture_files.is_capture(f.name) or f.name == capture_files.DETAILS
    ]


def _is_candidate(name: str) -> bool:
    return archives.is_archive(name) or names.parse(name) is not None


class _LocalWalk(_Walk):
    """Links are followed, but not into the kernel's file systems, and to no folder twice."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self._kernel = kernel_places()
        self._above: set[tuple[int, int]] = set()
        self._seen: dict[tuple[int, int], str] = {}
        self._again: list[str] = []

    def below(self, place: Place) -> Iterator[list[ListedFile]]:
        """The files at or below a path as they are found."""
        root = place.path
        if os.path.isfile(root):
            name = readable(os.path.basename(root))
            yield from self.alone(_local_file(root, "", name, os.stat(root)))
        elif os.path.isdir(root):
            above = os.path.realpath(root)
            while above != (above := os.path.dirname(above)):
                with suppress(OSError):
                    self._above.add(_identity(os.stat(above)))
            yield from self.down(Folder(root, ""))
        elif os.path.lexists(root) and os.path.exists(root):
            self.note(
                f"{readable(root)} is neither a folder nor a file; it is checked regularly.", ""
            )
        else:
            self.absent(place)

    def remarks(self) -> Iterator[str]:
        """On folders that are listed under another name."""
        if self._again:
            count = format_counted(len(self._again), "folder is", "folders are")
            yield f"{count} listed under another name: {format_names(self._again, MOST_NAMED)}."

    def entries(self, folder: Folder) -> Iterator[Found]:
        """What a folder holds, if it is one to read."""
        try:
            if self._enters(folder, os.stat(folder.location)):
                with os.scandir(folder.location) as entries:
                    for entry in entries:
                        yield None if entry.name.startswith(".") else self._entry(entry, folder)
        except OSError as error:
            self.unread(folder, error)

    def _enters(self, folder: Folder, status: os.stat_result) -> bool:
        own = _identity(status)
        if is_among(status, self._kernel):
            self.note(
                f"The folder {folder.shown} belongs to the kernel, as /proc does, and was not searched.",
                "folders of the kernel were not searched",
            )
        elif own in self._above:
            self.note(
                f"The folder {folder.shown} holds the logdir itself and was not searched. Give it as the logdir to see"
                " what else it holds.",
                "folders that hold the logdir itself were not searched",
            )
        elif own in self._seen:
            self._again.append(f"{folder.shown} ({said(self._seen[own]) or 'the logdir itself'})")
        else:
            # Some file systems number nothing; there only the budgets end a loop.
            if own[1]:
                self._seen[own] = folder.path
            return True
        return False

    def _entry(self, entry: os.DirEntry[str], folder: Folder) -> Found:
        name = readable(entry.name)
        path = folder.below(name)
        if _is_folder(entry):
            return Folder(entry.path, path, folder.linked or entry.is_symlink())
        if not _is_candidate(name):
            return None
        try:
            status = entry.stat()
        except FileNotFoundError:
            # Removed since it was listed, or a dangling link.
            if entry.is_symlink():
                self.note(f"{said(path)} is a dangling symbolic link.", "dangling symbolic links")
        except OSError as error:
            self.note(
                f"{said(path)} could not be read: {error.strerror or words(error)}.",
                "files could not be read",
                whole=False,
            )
        else:
            if stat.S_ISREG(status.st_mode) and not is_among(status, self._kernel):
                return _found(
                    _local_file(entry.path, folder.path, name, status), path, folder.linked
                )
            self.note(
                f"{said(path)} is a pipe, a device or a file of the kernel and was not read.",
                "pipes, devices or files of the kernel were not read",
            )
        return None


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _local_file(path: str, folder: str, name: str, status: os.stat_result) -> ListedFile:
    modified = status.st_mtime_ns
    return ListedFile(Place(path), folder, name, status.st_size, modified, str(modified))


class _RemoteWalk(_Walk):
    """A file system of fsspec: flat ones give all files at once, others and web servers folder by folder."""

    def __init__(self, place: Place, seconds: float, *, at_once: bool = True) -> None:
        """``at_once``: the entries of the root are all files below it, where that is one question.

        Raises:
            SourceError: there is no driver.
        """
        super().__init__(seconds)
        self._at_once = at_once
        self._fs, self._root = streams.filesystem_of(place)
        self._web = place.is_web
        self._links: set[str] = set()

    def below(self, place: Place) -> Iterator[list[ListedFile]]:
        """The files at or below a URL as they are found."""
        self._fs.invalidate_cache()
        try:
            if self._web and _is_candidate(place.name):
                yield from self.alone(self._web_file(place, "", place.name))
                return
            if not self._web:
                info = self._fs.info(self._root)
                if info["type"] == "file":
                    yield from self.alone(_remote_file(self._fs, info, place, "", place.name))
                    return
        except FileNotFoundError:
            self.absent(place)
            return
        yield from self.down(Folder(place.text, ""))

    def entries(self, folder: Folder) -> Iterator[Found]:
        """What a folder holds, at the root of a flat file system all that lies below it too."""
        try:
            yield from self._linked(folder) if self._web else self._named(folder)
        except FileNotFoundError as error:
            if folder.path:
                self.unread(folder, error)
            else:
                self.absent(Place(folder.location))
        except Exception as error:  # drivers raise anything
            if not folder.path and type(error).__name__ != "FSTimeoutError":
                raise
            self.unread(folder, error)

    def _named(self, folder: Folder) -> Iterator[Found]:
        fs = self._fs
        _, path = streams.filesystem_of(Place(folder.location))
        infos = self._found_at_once(path) if self._at_once and not folder.path else None
        root = path.strip("/")
        for info in self._ask("ls", path, detail=True) if infos is None else infos:
            *above, name = info["name"].strip("/")[len(root) :].strip("/").split("/")
            if any(part.startswith(".") for part in (*above, name)) or not name:
                yield None
                continue
            url = Place(fs.unstrip_protocol(info["name"]))
            inside = "/".join(filter(None, (folder.path, *above)))
            full = f"{inside}/{name}".lstrip("/")
            if info["type"] == "directory":
                yield Folder(url.text, full)
            elif _is_candidate(name):
                yield _found(_remote_file(fs, info, url, inside, name), full)
            else:
                yield None

    def _found_at_once(self, path: str) -> list[dict[str, Any]] | None:
        """All files of a store that lists them without their folders; None of others, and of one that takes too long."""
        from fsspec.asyn import AsyncFileSystem
        from fsspec.exceptions import FSTimeoutError

        own = isinstance(self._fs, AsyncFileSystem) and type(self._fs)._find
        if not own or own is AsyncFileSystem._find:
            return None
        with suppress(FSTimeoutError):
            return list(self._ask("find", path, detail=True, share=0.5).values())
        return None

    def _ask(self, what: str, path: str, share: float = 1.0, **options: Any) -> Any:
        """Call the file system; one that can be interrupted within what is left of the time."""
        from fsspec.asyn import AsyncFileSystem, sync

        if not isinstance(self._fs, AsyncFileSystem):
            return getattr(self._fs, what)(path, **options)
        call = getattr(self._fs, f"_{what}")
        return sync(
            self._fs.loop, call, path, timeout=max(share * self.seconds_left, 1.0), **options
        )

    def _linked(self, folder: Folder) -> Iterator[Found]:
        """What an index page links to."""
        url = folder.location.rstrip("/") + "/"
        for link in self._ask("ls", url, detail=False):
            name = Place(link).name
            # Index pages link to themselves in other sort orders (?C=N;O=D) and to their parent.
            own = link.startswith(url) and "?" not in link and not name.startswith(".")
            found: Found = None
            if own and link != url and link not in self._links:
                self._links.add(link)
                path = folder.below(name)
                if link.endswith("/"):
                    found = Folder(link, path)
                elif _is_candidate(name):
                    try:
                        found = _found(self._web_file(Place(link), folder.path, name), path)
                    except FileNotFoundError:
                        self.note(
                            f"The index lists {said(path)}, which the server does not have.",
                            "files of indexes are not there",
                        )
            yield found

    def _web_file(self, url: Place, folder: str, name: str) -> ListedFile:
        return _remote_file(self._fs, self._ask("info", url.text), url, folder, name)


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
