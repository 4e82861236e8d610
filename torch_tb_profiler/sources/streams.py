"""Open a place (path or fsspec URL) as a stream of inflated text, without copying it first.

::

    file or URL ──▶ raw bytes ──▶ [gzip | zstd | plain, by the first bytes] ──▶ read-ahead thread ──▶ TextStream.read()

Inflating runs in its own thread: python-isal and zstandard release the GIL.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import IO, Any

from torch_tb_profiler.errors import MissingDriver, OverLimit, SourceError, install
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.identity import identity_of, is_at, version_of
from torch_tb_profiler.sources.inflate import HEAD_BYTES, Inflated, compression_of, inflate
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.units import format_bytes

READ_BYTES = 1 << 20
BLOCK_BYTES = 4 << 20
BLOCKS_AHEAD = 3

_DRIVERS = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("abfs", "abfss", "az"), "adlfs"),
    "hdfs": "pyarrow",
    **dict.fromkeys(("http", "https"), "aiohttp"),
}
"""URL scheme → package that drives it."""


def filesystem_of(place: Place) -> tuple[Any, str]:
    """The fsspec filesystem of a URL and the path within it.

    Raises:
        MissingDriver: the package that drives the scheme is not installed.
        SourceError: the scheme is unknown or the filesystem could not be set up.
    """
    import fsspec

    scheme = place.text.partition("://")[0]
    try:
        fs, path = fsspec.core.url_to_fs(place.text)
    except ImportError as error:
        driver = _DRIVERS.get(scheme)
        raise MissingDriver(
            f"{scheme}:// needs the package {driver or scheme}, which is not installed.",
            install(driver) if driver else f"Install the fsspec driver for {scheme}://",
        ) from error
    except Exception as error:
        raise SourceError(
            f"{place.shown} could not be opened: {_why(error, place)}.",
            "Check the URL and your credentials.",
        ) from error
    return fs, path


def open_bytes(place: Place) -> tuple[IO[bytes], int | None]:
    """A binary file object over the raw bytes of a file, and its size in bytes or None.

    Raises:
        SourceError: it cannot be opened.
    """
    if place.archive is not None:
        # What few need is loaded for them, here as in ``filesystem_of``.
        from torch_tb_profiler.sources.archives import ArchiveError, open_member

        try:
            return open_member(open_bytes(place.archive)[0], place.scheme, place.member)
        except ArchiveError as error:
            # Those who list files name it, too.
            raise SourceError(
                f"The file could not be opened in its archive: {error}.",
                "Unpack the archive and check it.",
            ) from error
    if not place.is_local:
        fs, path = filesystem_of(place)
        try:
            file = fs.open(path, "rb")
            return file, getattr(file, "size", None)
        except MissingDriver:
            raise
        except Exception as error:
            raise SourceError(
                f"{place.shown} could not be opened: {_why(error, place)}.",
                "Check that it exists and may be read.",
            ) from error
    try:
        local = place.open()
        return local, os.fstat(local.fileno()).st_size
    except OSError as error:
        raise SourceError(
            f"{place.name} could not be opened: {error.strerror}.",
            "Check that it exists and may be read.",
        ) from error


def _why(error: BaseException, place: Place) -> str:
    """The error as text, without the credentials and signatures in the URL."""
    text = words(error).replace(place.text, place.shown)
    # Of an archive in an archive fsspec names the outermost one.
    url = Place(place.text.rpartition("::")[2])
    return text if url.is_local else text.replace(url.text, url.shown)


class TextStream:
    """Inflated text of one file, read ahead by a thread.

    Attributes:
        size: raw (compressed) size in bytes; None unknown.
        path: the local file with exactly these bytes; None if remote or compressed.
        name: base name of the file; ``""`` unknown.
        identity: of its content, ``""`` unknown; see ``identity.py``.
        device: of its file system; -1 unknown.
        limits: beyond which ``read`` raises OverLimit; None: none.
    """

    def __init__(
        self,
        file: IO[bytes],
        size: int | None,
        path: str | None = None,
        name: str = "",
        identity: str = "",
    ) -> None:
        self.identity = identity
        self.device = os.fstat(file.fileno()).st_dev if identity else -1
        self.size = size
        self.path = path
        self.name = name
        self._file = file
        self._state = Inflated()
        self._blocks: queue.Queue[tuple[list[bytes], int] | BaseException | None] = queue.Queue(
            BLOCKS_AHEAD
        )
        """Each as the pieces that it was inflated in, with the raw bytes of it and all before."""
        self._pieces: deque[bytes] = deque()
        self._piece = b""
        self._rest = memoryview(b"")
        self._ended = False
        self._done = 0
        self._inflated, self._begun = 0, time.monotonic()
        self.limits: Settings | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._read_ahead, name="profiler-inflate", daemon=True
        )
        self._thread.start()

    @property
    def done(self) -> int:
        """Raw bytes of the text that was read, about; what was read ahead is not counted."""
        return self._done

    @property
    def problem(self) -> str | None:
        """What was wrong with the compressed stream; known once it has ended."""
        return self._state.problem

    @property
    def unchanged(self) -> bool:
        """Whether the file is as it was when it was opened, as far as is known."""
        if not self.identity:
            return True
        replaced = self.path is not None and not is_at(self.path, self._file)
        return not replaced and self.identity.startswith(f"{version_of(self._file)}-")

    def read(self, n: int) -> bytes:
        """The next ``n`` bytes at most; ``b""`` only at the end.

        Raises:
            SourceError: reading failed.
        """
        if not self._rest and not self._pieces and not self._ended:
            block = self._blocks.get()
            if block is None:
                self._ended = True
                self._done = self._state.consumed
            elif isinstance(block, BaseException):
                self._ended = True
                if isinstance(block, MemoryError):
                    raise block
                raise SourceError(
                    f"Reading failed: {words(block)}.",
                    "Try again; if it persists, check the file system.",
                ) from block
            else:
                pieces, self._done = block
                self._pieces.extend(pieces)
        while not self._rest and self._pieces:
            self._piece = self._pieces.popleft()
            self._rest = memoryview(self._piece)
        out, self._rest = self._rest[:n], self._rest[n:]
        self._inflated += len(out)
        if self.limits is not None:
            self._expect_within(self.limits)
        # A whole piece is given as it is.
        return bytes(out) if len(out) < len(self._piece) else self._piece

    def _expect_within(self, limits: Settings) -> None:
        what = ""
        if self._inflated > limits.max_inflated_bytes:
            size = format_bytes(limits.max_inflated_bytes)
            what, name = f"The file inflates to more than {size}", "MAX_INFLATED_BYTES"
        elif time.monotonic() - self._begun > limits.max_import_seconds:
            seconds = f"{limits.max_import_seconds:g} s"
            what, name = f"Reading the file took more than {seconds}", "MAX_IMPORT_SECONDS"
        if what:
            raise OverLimit(what, name)

    def close(self) -> None:
        """Stop reading ahead and close the source."""
        self._stop.set()
        while self._thread.is_alive():
            with contextlib.suppress(queue.Empty):
                self._blocks.get(timeout=0.05)
        self._file.close()

    def __enter__(self) -> TextStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _raw(self) -> Iterator[bytes]:
        while not self._stop.is_set():
            data = self._file.read(READ_BYTES)
            if not data:
                return
            yield data

    def _read_ahead(self) -> None:
        last: BaseException | None = None
        try:
            gathered: list[bytes] = []
            size = 0
            for piece in inflate(self._raw(), self._state):
                gathered.append(piece)
                size += len(piece)
                if size >= BLOCK_BYTES:
                    self._blocks.put((gathered, self._state.consumed))
                    gathered, size = [], 0
                if self._stop.is_set():
                    break
            if gathered:
                self._blocks.put((gathered, self._state.consumed))
        except Exception as error:
            last = error
        self._blocks.put(last)


def open_text(place: Place, settings: Settings | None = None) -> TextStream:
    """Open a file as inflated text. ``settings``: reading raises OverLimit beyond their limits of an import.

    Raises:
        SourceError: it cannot be opened (``MissingDriver`` when a package is missing).
    """
    file, size = open_bytes(place)
    stream = text_of(file, size, place)
    stream.limits = settings
    return stream


def text_of(file: IO[bytes], size: int | None, place: Place) -> TextStream:
    """The text of what ``open_bytes`` opened, before anything of it was read.

    Raises:
        SourceError: it cannot be read.
    """
    name = place.name
    try:
        identity = identity_of(file)
        if not place.is_local or not file.seekable():
            return TextStream(file, size, name=name, identity=identity)
        compressed = compression_of(file.read(HEAD_BYTES)) != "plain"
        file.seek(0)
    except OSError as error:
        file.close()
        raise SourceError(
            f"{name} could not be read: {words(error)}.", "Check that it may be read."
        ) from error
    return TextStream(file, size, None if compressed else place.path, name, identity)


class TextInMemory:
    """The interface of ``TextStream`` over bytes in memory."""

    problem: str | None = None

    def __init__(self, text: bytes) -> None:
        self.size: int | None = len(text)
        self._file = io.BytesIO(text)

    @property
    def done(self) -> int:
        """Bytes read so far."""
        return self._file.tell()

    def read(self, n: int) -> bytes:
        """The next ``n`` bytes at most."""
        return self._file.read(n)
