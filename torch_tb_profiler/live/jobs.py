"""The jobs below some folders that can be recorded now."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from torch_tb_profiler.live.job_files import FOLDER, members_of
from torch_tb_profiler.untrusted import Places, is_among, kernel_places

DEEPEST = 4
MOST_FOLDERS = 5000
MOST_JOBS = 50


def jobs_below(roots: Iterable[str]) -> list[tuple[Path, list[int]]]:
    """Folders for which ranks of this user listen, with these ranks; few levels deep.

    Links to folders are not followed.
    """
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
            if FOLDER in names:
                members = members_of(folder)
                # Recording them is refused where somebody else wrote an address.
                if members.ranks and not members.refused:
                    found.append((folder, [member["rank"] for member in members.ranks]))
            below += [folder / name for name in names if not name.startswith(".")]
        level = below
    return found


def _folders(folder: Path, kernel: Places) -> list[str]:
    try:
        if is_among(os.stat(folder), kernel):
            return []
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []
