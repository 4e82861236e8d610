"""Files that are written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from torch_tb_profiler.errors import BadRequest, SourceError

STDOUT = "-"


def save(pieces: Iterator[bytes], path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a file, completely or not at all.

    Raises:
        BadRequest: the file is there already, and ``force`` is not given.
        SourceError: it cannot be written.
    """
    with saving(path, force=force) as file:
        for piece in pieces:
            file.write(piece)


@contextlib.contextmanager
def saving(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """A file that is put in place when the block ends without an error; ``-`` is standard output.

    Raises:
        BadRequest: the file is there already, and ``force`` is not given.
        SourceError: it cannot be written.
    """
    if os.fspath(path) == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    refuse_overwrite(target, force)
    beside = target if is_device(target) else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield cast(BinaryIO, file)
        if beside != target:
            os.replace(beside, target)
    except OSError as error:
        raise SourceError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        if beside != target:
            with contextlib.suppress(OSError):
                beside.unlink()


def is_device(target: Path) -> bool:
    """Whether it is a pipe, ``/dev/null`` or the like, to be written to and never replaced."""
    return target.exists() and not target.is_file() and not target.is_dir()


def refuse_overwrite(target: Path, force: bool) -> None:
    """Refuse to overwrite a file.

    Raises:
        BadRequest: it is there already, and ``force`` is not given.
    """
    if target.exists() and not force and not is_device(target):
        raise BadRequest(
            f"{target} exists already.", "Use another name, or --force (in Python force=True)."
        )
