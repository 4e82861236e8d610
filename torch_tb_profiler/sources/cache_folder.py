"""The cache folder of sidecar files: location, file names, eviction."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.sources.private_folder import make_private
from torch_tb_profiler.sources.remote_cache import NOTE_SUFFIX, RemoteCache, folder_name
from torch_tb_profiler.sources.stale_sidecars import is_gone
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.untrusted import decoded

SUFFIX = ".safetensors"
DAY_SECONDS = 86_400.0
_DIGITS = 40


class CacheFolder:
    """A writable cache folder.

    Attributes:
        path: the folder; it exists.
        lasting: whether it outlives this object.
        remote: the place at a URL whose copies are here; None where the folder is all.
        spare: where new sidecars are written when ``path`` is full; None before that.
        note: why it is not, or not only, the one that was asked for, in words; ``""`` when it is.
    """

    def __init__(self, settings: Settings) -> None:
        self.note = ""
        self.spare: Path | None = None
        self.lasting = False
        self.remote: RemoteCache | None = None
        self._limit = settings.cache_limit_bytes
        self._own = not settings.use_cache
        self._once = os.urandom(8).hex()
        self._lock = threading.Lock()
        if self._own:
            self.path = self._make_own()
            return
        folder = _configured(settings)
        if not Place(settings.cache_dir).is_local:
            self._take_remote(settings.cache_dir)
        try:
            if why := make_private(folder, ours=not settings.cache_dir or self.remote is not None):
                why += "; name a folder of your own, or take that away"
            else:
                tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            why = f"is not writable ({words(error)})"
        if why:
            self.path = self._make_own()
            self.note = (
                f"The cache folder {folder} {why}: imports are kept in {self.path} until this"
                " process ends."
            )
        else:
            self.path, self.lasting = folder, True

    def _make_own(self) -> Path:
        path = Path(tempfile.mkdtemp(prefix="torch_tb_profiler-"))
        # A server ends without saying so; the folder goes with the process.
        self._end = weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        self._own = True
        return path

    def _take_remote(self, url: str) -> None:
        try:
            self.remote = RemoteCache(url)
        except SourceError as error:
            self.note = (
                f"The cache {Place(url).shown} is not used: {error.message} What is imported is kept on this"
                " machine only."
            )

    def fall_back(self, needed: float = 0.0) -> bool:
        """Write to a folder of this process from now on, as the disk of this one is full; whether
        there is another one, with so many bytes free.
        """
        with self._lock:
            if self.spare is None and not self._own and _free(tempfile.gettempdir()) >= needed:
                with contextlib.suppress(OSError):
                    self.spare = self._make_own()
                    self.note = (
                        f"The cache folder {self.path} is full: what is new is kept in"
                        f" {self.spare} until the end of this process."
                    )
            return self.spare is not None

    def free(self) -> float:
        """Bytes free where new sidecars are written; infinite where that is unknown."""
        return _free(self.spare or self.path)

    def located(self, sidecar: str | Path) -> Path:
        """Where a sidecar of this folder is, or is to be written."""
        path = Path(sidecar)
        return path if self.spare is None or path.exists() else self.spare / path.name

    def outlasts(self, sidecar: str | Path) -> bool:
        """Whether a sidecar stays when this process ends."""
        return self.remote is not None or (
            self.lasting and self.located(sidecar).parent == self.path
        )

    def copied(self, sidecar: str | Path) -> Path:
        """Where a sidecar is, copied from the remote place if it is not here.

        Raises:
            SourceError: the place does not answer.
            OSError: the copy could not be written.
        """
        path = self.located(sidecar)
        if self.remote is not None and not path.exists():
            self.remote.fetch(path)
        return path

    def copy_all(self, sidecars: Iterable[str | Path]) -> None:
        """Have many small sidecars here that are at the remote place.

        Raises:
            SourceError: the place does not answer.
            OSError: a copy could not be written.
        """
        if self.remote is not None:
            paths = [self.located(sidecar) for sidecar in sidecars]
            self.remote.fetch_all([path for path in paths if not path.exists()])

    def told_of(self, sidecar: str | Path) -> dict[str, Any] | None:
        """What ``tell`` said of a sidecar that is at the remote place and not here; None unknown.

        Raises:
            SourceError: the place does not answer.
        """
        path = self.located(sidecar)
        if self.remote is None or path.exists() or self.remote.size(path.name) is None:
            return None
        try:
            told = decoded(self.remote.note(_note_name(path)) or b"null")
        except ValueError:
            return None
        return told if isinstance(told, dict) else None

    def tell(self, sidecar: str | Path, what: dict[str, Any]) -> None:
        """Say something of a sidecar that others learn without copying it.

        Raises:
            SourceError: it could not be written.
        """
        if self.remote is not None:
            self.remote.publish_note(_note_name(Path(sidecar)), json.dumps(what).encode())

    def publish(self, sidecar: str | Path) -> None:
        """Have others find what was written here, where there is a remote place.

        Raises:
            SourceError: it could not be written there.
        """
        if self.remote is not None:
            self.remote.publish(Path(sidecar))

    def has(self, sidecar: str | Path) -> bool:
        """Whether a sidecar is here or at the remote place, as far as is known."""
        path = self.located(sidecar)
        with contextlib.suppress(SourceError):
            return path.exists() or (
                self.remote is not None and self.remote.size(path.name) is not None
            )
        return False

    def appeared(self, sidecar: str | Path) -> None:
        """Somebody wrote a sidecar."""
        if self.remote is not None:
            self.remote.saw(Path(sidecar).name)

    def bytes_of(self, sidecar: str | Path) -> int:
        """Size of a sidecar, here or at the remote place; 0 if it is not known."""
        path = self.located(sidecar)
        with contextlib.suppress(OSError):
            return path.stat().st_size
        with contextlib.suppress(SourceError):
            return (self.remote.size(path.name) if self.remote is not None else None) or 0
        return 0

    def discard(self, sidecar: str | Path) -> None:
        """A sidecar cannot be used: its copy goes, and is fetched again if there is another one."""
        if self.remote is not None:
            _remove(self.located(sidecar))

    def condemn(self, sidecar: str | Path) -> None:
        """Damage was found where a sidecar was used: no copy of it is fetched before it was made
        again.
        """
        if self.remote is not None:
            self.remote.condemn(Path(sidecar).name)

    def sidecar(self, file: ListedFile, version: str) -> Path:
        """The sidecar's path for one version of a file, read by one version of the program.

        Without a stamp to tell contents of equal size apart, the path is valid in this process only.
        """
        once = "" if file.stamp else self._once
        key = "\0".join((file.location.text, str(file.size), file.stamp, version, once))
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return self.path / (digest[:_DIGITS] + SUFFIX)

    @staticmethod
    def part_sidecar(sidecar: str | Path, part: str) -> Path:
        """The path for a rank of a file that several were merged into, for the path of the file's sidecar."""
        path = Path(sidecar)
        key = f"{path.name.removesuffix(SUFFIX)}\0{part}".encode("utf-8", "surrogatepass")
        return path.with_name(hashlib.sha256(key).hexdigest()[:_DIGITS] + SUFFIX) if part else path

    @staticmethod
    def touch(sidecar: str | Path) -> None:
        """Mark a sidecar as used: the least recently used are removed first. When it was written stays: who has it mapped
        sees by that whether it changed.
        """
        with contextlib.suppress(OSError):
            os.utime(sidecar, ns=(time.time_ns(), os.stat(sidecar).st_mtime_ns))

    def trim(self) -> int:
        """Remove least recently used sidecars beyond the limit, and remains of broken imports.

        Returns the number of files removed. A mapped sidecar stays readable on POSIX and cannot be
        removed on Windows; both are fine.
        """
        sidecars: list[tuple[float, int, Path]] = []
        removed = 0
        for path in (*self.path.iterdir(), *(self.spare.iterdir() if self.spare else ())):
            try:
                status = path.stat()
            except OSError:
                continue
            if path.name.endswith(SUFFIX):
                sidecars.append((_used(status), status.st_size, path))
            elif SUFFIX in path.name and _is_old(path):
                removed += _remove(path)
        total = sum(size for _, size, _ in sidecars)
        # The newest stays whatever the limit, or it would be rebuilt forever.
        for _, size, path in sorted(sidecars)[:-1]:
            if total <= self._limit:
                break
            if _remove(path):
                total -= size
                removed += 1
        return removed

    def remove_gone(self) -> int:
        """Remove sidecars, with what was derived of them, that nobody used for a day and whose files
        were removed or changed. Returns the number of files removed.
        """
        removed = 0
        for path in self.path.glob(f"*{SUFFIX}"):
            stem = path.name.removesuffix(SUFFIX)
            # What is derived has a longer name.
            if len(stem) != _DIGITS or not _is_old(path) or not is_gone(path):
                continue
            removed += _remove(path)
            removed += sum(_remove(derived) for derived in self.path.glob(f"{stem}-*{SUFFIX}"))
        return removed

    def close(self) -> None:
        """Remove the folder that was made for this process alone."""
        if self._own:
            self._end()


def lack_of_room(sidecar: str, needed: float) -> str:
    """Why a sidecar of so many bytes is not to be begun, in words; empty where its disk has room."""
    free = _free(os.path.dirname(sidecar))
    if free >= needed:
        return ""
    return (
        f"It was not begun: what is kept of it takes about {format_bytes(round(needed))}, and the disk of the cache"
        f" folder has {format_bytes(round(free))} free. Make room there, or set TORCH_TB_PROFILER_CACHE_DIR."
    )


def _free(folder: str | Path) -> float:
    """Bytes; infinite where that is unknown."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return float("inf")


def _configured(settings: Settings) -> Path:
    if settings.cache_dir and Place(settings.cache_dir).is_local:
        return Path(settings.cache_dir).expanduser()
    import platformdirs

    home = Path(platformdirs.user_cache_dir("torch_tb_profiler", appauthor=False))
    if not Place(settings.cache_dir).is_local:
        return home / "copies" / folder_name(settings.cache_dir)
    return home / "sidecars"


def _is_old(path: Path) -> bool:
    """Whether nobody used a file for a day."""
    try:
        return time.time() - _used(path.stat()) > DAY_SECONDS
    except OSError:
        return False


def _used(status: os.stat_result) -> float:
    return max(status.st_atime, status.st_mtime)


def _note_name(sidecar: Path) -> str:
    return sidecar.name.removesuffix(SUFFIX) + NOTE_SUFFIX


def _remove(path: Path) -> int:
    try:
        path.unlink()
    except OSError:
        return 0
    return 1
