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
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from torch_tb_profiler.atomic_files import whole_file
from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.untrusted import (
    ForeignFile,
    Places,
    decoded,
    is_among,
    kernel_places,
    read_file,
)

FOLDER = ".live"
"""Below the folder of the traces: a file per rank that listens, and their token."""
TOKEN = "token"
MOST_FILES = 4096
MOST_BYTES = 4 << 10
LONGEST_ADDRESS = 1024
MOST_RANKS = 1 << 31
DEEPEST, MOST_FOLDERS, MOST_JOBS = 4, 5000, 50
_TOKEN = regex(rb"[A-Za-z0-9_-]{32}\s?", re.ASCII)
"""What ``secrets.token_urlsafe(24)`` gives."""


class Members(NamedTuple):
    """The ranks that listen for a folder, by the files of this user, and why other files there are not used."""

    ranks: list[dict[str, Any]]
    refused: list[str]


def members_of(directory: Path) -> Members:
    """Rank and address of each rank, in the order of the ranks."""
    found = Members([], [])
    for path in _job_files(directory / FOLDER):
        try:
            told = decoded(_read(path), dict[str, Any])
        except ForeignFile as error:
            found.refused.append(f"{path} is not used: {error.strerror}.")
        except (OSError, ValueError):
            continue
        else:
            address, rank = told.get("address"), integer(told.get("rank"), 0, MOST_RANKS - 1)
            if isinstance(address, str) and len(address) <= LONGEST_ADDRESS:
                found.ranks.append({"rank": rank or 0, "address": address})
    found.ranks.sort(key=lambda member: member["rank"])
    return found


def jobs_below(roots: Iterable[str]) -> list[tuple[Path, list[int]]]:
    """Folders for which ranks of this user listen, with these ranks; few levels deep. Links to folders are not followed."""
    found: list[tuple[Path, list[int]]] = []
    level, kernel = [Path(root) for root in roots], kernel_places()
    seen = 0
    for _ in range(DEEPEST):
        below: list[Path] = []
        for folder in level:
            seen += 1
            if seen > MOST_FOLDERS or len(found) >= MOST_JOBS:
                return found
            names = _folders(folder, kernel)
            members = members_of(folder) if FOLDER in names else Members([], [])
            # Recording them is refused where somebody else wrote an address.
            if members.ranks and not members.refused:
                found.append((folder, [member["rank"] for member in members.ranks]))
            below += [folder / name for name in names if not name.startswith(".")]
        level = below
    return found


def kept_token(directory: Path) -> str | None:
    """The token that a job of this user made for its folder; None if there is none.

    Raises:
        SourceError: what is there is another user's, a link, or no token.
    """
    path = directory / FOLDER / TOKEN
    try:
        text = _read(path)
    except ForeignFile as error:
        raise SourceError(
            f"{path} is not used: {error.strerror}.", "Pass a token, or remove the file."
        ) from error
    except OSError:
        return None
    if _TOKEN.fullmatch(text) is None:
        raise SourceError(f"{path} holds no token.", "Pass a token, or remove the file.")
    return text.decode("ascii").strip()


def shared_token(folder: Path) -> str:
    """One for all ranks: the first one makes it, and only the same user can read it.

    Raises:
        SourceError: the folder cannot be written to, or what is there is not used.
    """
    for _ in range(2):
        if kept := kept_token(folder.parent):
            return kept
        # Never over that of another rank.
        with contextlib.suppress(FileExistsError):
            _write(folder / TOKEN, secrets.token_urlsafe(24), replace=False)
    raise SourceError(f"{folder / TOKEN} cannot be read.", "Pass a token, or another folder.")


def register(folder: Path, rank: int, address: str) -> Path:
    """Write the file that tells where a rank listens; its path.

    Raises:
        SourceError: the folder cannot be written to.
    """
    path = folder / f"rank{rank}.json"
    _write(path, json.dumps({"rank": rank, "address": address, "process": os.getpid()}))
    return path


def integer(value: object, least: int, most: int) -> int | None:
    """The value if it is a whole number between these, else None."""
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    return value if fits else None  # type: ignore[return-value]


def _job_files(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        listed = (e.name for e in entries if e.name.endswith(".json") and e.name[0] != ".")
        return [folder / name for name in sorted(islice(listed, MOST_FILES))]
    return []


def _folders(folder: Path, kernel: Places) -> list[str]:
    with contextlib.suppress(OSError):
        if not is_among(os.stat(folder), kernel):
            with os.scandir(folder) as entries:
                return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    return []


def _read(path: Path) -> bytes:
    _expect_own(path.parent)
    return read_file(path, MOST_BYTES, links=False, own=True)


def _write(path: Path, text: str, *, replace: bool = True) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _expect_own(path.parent)
        with whole_file(path, replace=replace, private=True) as file:
            file.write(text.encode())
    except OSError as error:
        if isinstance(error, FileExistsError) and not replace:
            raise
        raise SourceError(
            f"{path.parent} cannot be written to: {error}.", "Pass another folder."
        ) from error


def _expect_own(folder: Path) -> None:
    if folder.is_symlink():
        raise ForeignFile(errno.ELOOP, "it is in a folder that is a symbolic link")
