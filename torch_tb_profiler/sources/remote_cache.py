"""A cache of sidecars at a URL, of which this machine keeps copies.

::

    s3://bucket/cache/0d4f….safetensors ──▶ copies/1a2b…/0d4f….safetensors ──▶ mapped
                 ▲                                    │
                 └──────────── what is made here ─────┘
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from torch_tb_profiler.errors import ProfilerError, SourceError
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.sources.streams import filesystem_of

LIST_SECONDS = 15.0
"""What others wrote is seen after this long at most."""
BLOCK_BYTES = 8 << 20
NOTE_SUFFIX = ".json"
NOTE_BYTES = 64 << 10
_WHOLE_OR_NOTHING = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "memory")
"""Stores in which nobody sees half an object."""


def folder_name(url: str) -> str:
    """The name of the folder of copies of a URL."""
    return hashlib.sha256(url.rstrip("/").encode("utf-8", "surrogatepass")).hexdigest()[:16]


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to be written, which has its name when it is whole, and is not there before."""
    part = path.with_name(f"{path.name}.{os.urandom(4).hex()}.part")
    try:
        with open(part, "wb") as file:
            yield file
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


class RemoteCache:
    """The files at a URL, one folder without subfolders. Thread-safe."""

    def __init__(self, url: str) -> None:
        """Raises:
        SourceError: the URL cannot be used.
        """
        self.url = Place(url.rstrip("/"))
        self._fs, self._path = filesystem_of(self.url)
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = {}
        self._notes: dict[str, bytes] = {}
        self._damaged: set[str] = set()
        self._listed_at = float("-inf")

    def size(self, name: str) -> int | None:
        """Bytes of a file, as far as known; None if it is not there.

        Raises:
            SourceError: the place does not answer.
        """
        with self._lock:
            if name in self._damaged:
                return None
            if name not in self._sizes and time.monotonic() - self._listed_at > LIST_SECONDS:
                self._sizes = self._listed()
                unread = [
                    each
                    for each, size in self._sizes.items()
                    if each.endswith(NOTE_SUFFIX) and each not in self._notes and size < NOTE_BYTES
                ]
                self._notes |= self._read_all(unread)
                self._listed_at = time.monotonic()
            return self._sizes.get(name)

    def note(self, name: str) -> bytes | None:
        """The content of a note, a small file that is read with the listing; None if it is not there.

        Raises:
            SourceError: the place does not answer.
        """
        return None if self.size(name) is None else self._notes.get(name)

    def publish_note(self, name: str, content: bytes) -> None:
        """Write a note, of less than ``NOTE_BYTES``.

        Raises:
            SourceError: it could not be written.
        """
        with self._answering():
            self._fs.pipe_file(f"{self._path}/{name}", content)
        with self._lock:
            self._sizes[name], self._notes[name] = len(content), content

    def fetch_all(self, copies: Sequence[Path]) -> None:
        """Copy the files here that are there, many at a time where the driver can; small ones.

        Raises:
            SourceError: they could not be read.
            OSError: a copy could not be written.
        """
        there = {copy.name: copy for copy in copies if self.size(copy.name) is not None}
        for name, content in self._read_all(list(there)).items():
            with _whole(there[name]) as file:
                file.write(content)

    def fetch(self, copy: Path) -> bool:
        """Copy a file here, under its own name; whether it is there.

        Raises:
            SourceError: it could not be read.
            OSError: the copy could not be written.
        """
        if self.size(copy.name) is None:
            return False
        try:
            with self._answering():
                source = self._fs.open(f"{self._path}/{copy.name}", "rb")
            with source, _whole(copy) as file:
                while block := self._read(source):
                    file.write(block)
        except FileNotFoundError:
            self.forget(copy.name)
            return False
        return True

    def _read(self, source: Any) -> bytes:
        with self._answering():
            block: bytes = source.read(BLOCK_BYTES)
        return block

    def publish(self, copy: Path) -> None:
        """Copy a file from here to the place; nobody sees half of it.

        Raises:
            SourceError: it could not be written.
        """
        target = f"{self._path}/{copy.name}"
        with self._answering():
            if self.url.scheme in _WHOLE_OR_NOTHING:
                self._fs.put_file(str(copy), target)
            else:
                part = f"{target}.{os.urandom(4).hex()}.part"
                self._fs.makedirs(self._path, exist_ok=True)
                self._fs.put_file(str(copy), part)
                self._fs.mv(part, target)
        self.saw(copy.name, copy.stat().st_size)

    def saw(self, name: str, size: int = 0) -> None:
        """A file is there, as a worker says."""
        with self._lock:
            self._sizes[name] = size
            self._damaged.discard(name)

    def condemn(self, name: str) -> None:
        """A file is damaged, here or there: it is not fetched until it was written anew."""
        with self._lock:
            self._damaged.add(name)

    def forget(self, name: str) -> None:
        """A file is not there any more, or not to be used."""
        with self._lock:
            self._sizes.pop(name, None)

    def _read_all(self, names: Sequence[str]) -> dict[str, bytes]:
        """Contents of small files; those that are gone meanwhile are left out."""
        if not names:
            return {}
        with self._answering():
            paths = [f"{self._path}/{name}" for name in names]
            found: dict[str, Any] = self._fs.cat(paths, on_error="return")
            for content in found.values():
                if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                    raise content
        contents = {str(path).rpartition("/")[2]: content for path, content in found.items()}
        return {name: data for name, data in contents.items() if isinstance(data, bytes)}

    def _listed(self) -> dict[str, int]:
        with self._answering():
            self._fs.invalidate_cache()
            try:
                entries: list[Any] = self._fs.ls(self._path, detail=True)
            except FileNotFoundError:
                return {}
        return {
            str(e["name"]).rpartition("/")[2]: int(e.get("size") or 0)
            for e in entries
            if e.get("type") != "directory"
        }

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        """Errors of drivers, which raise anything, as ours."""
        try:
            yield
        except (ProfilerError, FileNotFoundError):
            raise
        except Exception as error:
            why = words(error).replace(self.url.text, self.url.shown)
            raise SourceError(
                f"The cache {self.url.shown} could not be used: {why}.",
                "Check the URL, the credentials and the network.",
            ) from error
