"""One walk over a logdir within budgets of time, depth and entries, which gives what it finds as it finds it.

::

    folders of the logdir, upper ones first ──▶ archives, and folders that links lead to
       └ a slice of each at a time: a huge one holds back none beside it

A folder that is listed already, under whatever name, is known by its device and inode. What is left out is a note.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Generator, Iterator
from itertools import islice

import msgspec

from torch_tb_profiler.sources import capture_files
from torch_tb_profiler.sources.listed_file import ListedFile
from torch_tb_profiler.sources.names import natural
from torch_tb_profiler.units import format_count, format_counted
from torch_tb_profiler.untrusted import readable, said

MOST_ENTRIES = 5_000_000
"""Entries of any kind, of the logdir's folders and again of those that links lead to: 1,024 ranks leave a million traces in a
thousand runs.
"""
MOST_KEPT = 1_000_000
"""Folders and files that may be traces, likewise: each takes about a kilobyte."""
DEEPEST = 1_000
"""Folders within each other. Paths of this machine end at 4,096 bytes; a web server may invent deeper ones for ever."""
SLICE = 10_000
"""Entries of a folder before it is the turn of others."""
MOST_OPEN = 8
"""Folders that are read by turns, each with a descriptor; others are read in one go."""
NOTES_OF_A_KIND = 5


class Folder(msgspec.Struct, frozen=True):
    """A folder, or an archive, whose members are its entries.

    Attributes:
        location: a path or URL.
        path: relative to the logdir, as ``ListedFile.folder``.
        linked: a link leads to it or to a folder above it.
        archive: what is to be opened as a folder; None of folders.
    """

    location: str
    path: str
    linked: bool = False
    archive: ListedFile | None = None

    def below(self, name: str) -> str:
        """The path of an entry relative to the logdir."""
        return f"{self.path}/{name}" if self.path else name

    @property
    def shown(self) -> str:
        """Its path for people, in a line; of the logdir itself where that lies."""
        return said(self.path or readable(self.location))


Found = Folder | ListedFile | None
"""An entry of a folder; None: neither a folder nor a file that may be a trace."""


class _Visit(msgspec.Struct, eq=False):
    """A folder on its way, with the files of its own and of the folders of captures in it, and other folders in it that have no
    place yet. ``steps``: None before it begins.
    """

    folder: Folder
    folders: list[Folder] = msgspec.field(default_factory=list)
    files: list[ListedFile] = msgspec.field(default_factory=list)
    steps: Generator[None, None, None] | None = None


class Walk:
    """One walk; who derives from it says what a folder holds. ``notes`` and ``whole`` are right at its end.

    Attributes:
        files: what was found so far.
        whole: whether nothing was left out that a later walk may find.
    """

    def __init__(self, seconds: float) -> None:
        """``seconds``: for the folders of the logdir, and again for what links lead to; what is done between two results
        does not count.
        """
        self.files: list[ListedFile] = []
        self.whole = True
        self._seconds = seconds
        self._notes: list[str] = []
        self._kinds: Counter[str] = Counter()
        self._waiting: deque[_Visit] = deque()
        self._later: list[Folder] = []
        self._open = self._entries = self._kept = 0
        self._begun = time.monotonic()
        self._own = True
        self._cut = ""

    def read(self, folder: Folder) -> Iterator[Found]:
        """The entries of a folder; what cannot be read is noted."""
        raise NotImplementedError

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out and why, the first few of each kind one by one."""
        more = {kind: n - NOTES_OF_A_KIND for kind, n in self._kinds.items()}
        left = (f"{format_count(n)} more {kind}." for kind, n in more.items() if n > 0)
        return (*self._notes, *left)

    @property
    def pending(self) -> list[str]:
        """Paths of the folders that are still to come, relative to the logdir."""
        return [v.folder.path for v in self._waiting] + [f.path for f in self._later]

    @property
    def seconds_left(self) -> float:
        """Until the budget of time is used up."""
        return max(0.0, self._begun + self._seconds - time.monotonic())

    def note(self, text: str, kind: str, *, whole: bool = True) -> None:
        """Say something; ``kind``: what further ones of its kind are called. Not ``whole``: files may be there that are
        not listed.
        """
        self._kinds[kind] += 1
        self.whole &= whole
        if self._kinds[kind] <= NOTES_OF_A_KIND:
            self._notes.append(text)

    def down(self, root: Folder) -> Iterator[list[ListedFile]]:
        """The files of each folder with their captures as soon as it was read, and nothing now and then meanwhile."""
        self._later = [root]
        for self._own in (True, False):
            self._entries = self._kept = 0
            self._begun = time.monotonic()
            self._waiting.extend(map(_Visit, self._later))
            self._later = []
            while self._waiting and not self._cut:
                yield from self._turn()
            yield from self._end()

    def _turn(self) -> Iterator[list[ListedFile]]:
        """Read on in the folder that waits longest."""
        visit = self._waiting.popleft()
        if visit.steps is None:
            visit.steps = self._steps(visit)
        else:
            self._open -= 1
        more = True
        while more and not self._cut:
            more = sum(1 for _ in islice(visit.steps, SLICE)) == SLICE
            for folder in sorted(visit.folders, key=lambda each: natural(each.path)):
                self._place(folder)
            visit.folders.clear()
            if self._open < MOST_OPEN:
                break
        if self._cut:
            self._waiting.appendleft(visit)
        elif more:
            self._open += 1
            self._waiting.append(visit)
            yield []
        else:
            yield from self._given(visit)

    def _given(self, visit: _Visit) -> Iterator[list[ListedFile]]:
        visit.files.sort(key=lambda each: (natural(each.folder), natural(each.name)))
        files = capture_files.assigned(visit.files)
        self.files += files
        paused = time.monotonic()
        yield files
        self._begun += time.monotonic() - paused

    def _end(self) -> Iterator[list[ListedFile]]:
        """Say what was cut, and give what was found in the folders that were not read to their ends."""
        if not self._cut:
            return
        left = len(self._waiting) - 1
        others = f" and left {format_counted(left, 'other folder')} unread" if left else ""
        self.note(
            f"The search ended in the folder {self._waiting[0].folder.shown} {self._cut}{others}. Give a folder"
            " in it as the logdir, or move what is no trace elsewhere.",
            "searches were cut",
            whole=False,
        )
        self._cut, self._open = "", 0
        for visit in self._waiting:
            if visit.steps is not None:
                visit.steps.close()
            yield from self._given(visit)
        self._waiting.clear()

    def _steps(self, visit: _Visit) -> Generator[None, None, None]:
        """Read a folder and those of captures in it; one result for each entry."""
        todo = [visit.folder]
        while todo:
            for found in self.read(todo.pop()):
                self._entries += 1
                self._kept += found is not None
                if isinstance(found, ListedFile):
                    visit.files.append(found)
                elif found is not None and _is_of_captures(found):
                    todo.append(found)
                elif found is not None:
                    visit.folders.append(found)
                self._cut = self._cut or self._exhausted()
                yield
                if self._cut:
                    return

    def _place(self, folder: Folder) -> None:
        """Decide when a folder is read."""
        if folder.path.count("/") >= DEEPEST:
            self.note(
                f"The folder {folder.shown} lies in more than {format_count(DEEPEST)} others and was not searched."
                " Give it as the logdir.",
                "folders lie too deep",
                whole=False,
            )
        elif self._own and (folder.linked or folder.archive is not None):
            self._later.append(folder)
        else:
            self._waiting.append(_Visit(folder))

    def _exhausted(self) -> str:
        """Which budget is used up, in words."""
        if self._entries >= MOST_ENTRIES:
            return f"after {format_count(MOST_ENTRIES)} files and folders"
        if self._kept >= MOST_KEPT:
            return f"after {format_count(MOST_KEPT)} folders and files that may be traces"
        if not self.seconds_left:
            return f"after {self._seconds:g} s (TORCH_TB_PROFILER_MAX_SCAN_SECONDS)"
        return ""


def _is_of_captures(folder: Folder) -> bool:
    """Whether a folder is read with the one above, as it belongs to the files there."""
    return capture_files.is_capture(folder.path.rpartition("/")[2])
