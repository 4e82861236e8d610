"""The files by which a job tells where it listens, and the token that it made::

    runs/profiler/.live/rank0.json   {"rank": 0, "address": "127.0.0.1:41507", "process": 4711}
    runs/profiler/.live/token        only this user can read it

Whoever may write to the folder could have a token sent to an address of theirs, or have a job accept a token that they
know. So of a folder that is a link, of links in it, and of files that belong to others or that others may write to,
nothing is used.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from torch_tb_profiler.atomic_files import whole_file
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.untrusted import ForeignFile, decoded, read_file

FOLDER = ".live"
"""Below the folder of the traces: a file per rank that listens, and their token."""
TOKEN = "token"
MOST_FILES = 4096
MOST_BYTES = 4 << 10
LONGEST_ADDRESS = 1024
MOST_RANKS = 1 << 31
_TOKEN = re.compile(rb"[A-Za-z0-9_-]{32}\s?", re.ASCII)
"""What ``secrets.token_urlsafe(24)`` gives."""
_HERE = os.supports_dir_fd >= {os.open, os.stat}


@dataclass(frozen=True)
class Members:
    """The ranks that listen for a folder, by the files of this user, and why other files there are not used."""

    ranks: list[dict[str, Any]]
    refused: list[str]


def members_of(directory: Path) -> Members:
    """Rank and address of each rank, in the order of the ranks."""
    ranks: list[dict[str, Any]] = []
    refused: list[str] = []
    folder = directory / FOLDER
    try:
        with _entered(folder) as place:
            for name in _names(folder, place):
                try:
                    text = _read(folder, name, place)
                    told = decoded(text, dict[str, Any])
                except ForeignFile as error:
                    refused.append(f"{folder / name} is not used: {error.strerror}.")
                except (OSError, ValueError):
                    continue
                else:
                    address, rank = told.get("address"), told.get("rank")
                    if isinstance(address, str) and len(address) <= LONGEST_ADDRESS:
                        ranks.append(
                            {"rank": whole(rank, 0, MOST_RANKS - 1) or 0, "address": address}
                        )
    except ForeignFile as error:
        refused.append(f"{folder} is not used: {error.strerror}.")
    except OSError:
        pass
    return Members(sorted(ranks, key=lambda member: member["rank"]), refused)


def kept_token(directory: Path) -> str | None:
    """The token that a job of this user made for its folder; None if there is none.

    Raises:
        SourceError: what is there is another user's, a link, or no token.
    """
    folder = directory / FOLDER
    try:
        with _entered(folder) as place:
            text = _read(folder, TOKEN, place)
    except FileNotFoundError:
        return None
    except ForeignFile as error:
        raise SourceError(
            f"{folder / TOKEN} is not used: {error.strerror}.", "Pass a token, or remove the file."
        ) from error
    except OSError:
        return None
    if _TOKEN.fullmatch(text) is None:
        raise SourceError(f"{folder / TOKEN} holds no token.", "Pass a token, or remove the file.")
    return text.decode("ascii").strip()


def shared_token(folder: Path) -> str:
    """One for all ranks: the first one makes it, and only the same user can read it.

    Raises:
        SourceError: the folder cannot be written to, or what is there is not used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for _ in range(2):
            if kept := kept_token(folder.parent):
                return kept
            # Never over that of another rank.
            with contextlib.suppress(FileExistsError):
                _write_private(folder / TOKEN, secrets.token_urlsafe(24), replace=False)
    except OSError as error:
        raise _unwritable(folder, error) from error
    raise SourceError(f"{folder / TOKEN} cannot be read.", "Pass a token, or another folder.")


def register(folder: Path, rank: int, address: str) -> Path:
    """Write the file that tells where a rank listens; its path.

    Raises:
        SourceError: the folder cannot be written to.
    """
    path = folder / f"rank{rank}.json"
    told = {"rank": rank, "address": address, "process": os.getpid()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _entered(folder):
            _write_private(path, json.dumps(told))
    except OSError as error:
        raise _unwritable(folder, error) from error
    return path


def whole(value: object, least: int, most: int) -> int | None:
    """The value if it is a whole number between these, else None."""
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    return value if fits else None  # type: ignore[return-value]


@contextlib.contextmanager
def _entered(folder: Path) -> Iterator[int | None]:
    """The folder itself, whatever its name leads to meanwhile; None where systems cannot hold it.

    Raises:
        ForeignFile: it is a link.
        OSError: there is none.
    """
    if stat.S_ISLNK(os.lstat(folder).st_mode):
        raise ForeignFile(errno.ELOOP, "it is a symbolic link")
    if not _HERE:
        yield None
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _names(folder: Path, place: int | None) -> list[str]:
    with os.scandir(folder if place is None else place) as entries:
        listed = (e.name for e in entries if e.name.endswith(".json") and e.name[0] != ".")
        return sorted(islice(listed, MOST_FILES))


def _read(folder: Path, name: str, place: int | None) -> bytes:
    path = folder / name if place is None else name
    return read_file(path, MOST_BYTES, links=False, own=True, dir_fd=place)


def _write_private(path: Path, text: str, *, replace: bool = True) -> None:
    with whole_file(path, replace=replace, private=True) as file:
        file.write(text.encode())


def _unwritable(folder: Path, error: OSError) -> SourceError:
    return SourceError(f"{folder} cannot be written to: {error}.", "Pass another folder.")
