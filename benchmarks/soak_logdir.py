"""The logdir of ``soak.py``: runs that never change, and runs that always do."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ("cnn_workers_0", "cnn_workers_2", "ddp_gloo", "inference", "transformer")
LARGE_EVENTS = 60_000
MOST_RUNS, MOST_FILES = 10, 4
CUT = ""
"""The content of a file that is no whole trace."""
DAY = 86_400.0


def make_constant(folder: Path, more: Path | None) -> list[Path]:
    """Write the runs that never change; their files."""
    for name in SAMPLES:
        shutil.copytree(
            ROOT / "samples" / name, folder / name, ignore=shutil.ignore_patterns("*.expected.json")
        )
    words = ["--events", str(LARGE_EVENTS), "--layers", "8", "--no-expected"]
    command = [sys.executable, str(ROOT / "samples" / "synthesize.py"), "--out"]
    subprocess.run([*command, str(folder / "large"), *words], check=True, stdout=subprocess.DEVNULL)
    for plain in (folder / "large").glob("*.json"):
        with gzip.open(f"{plain}.gz", "wb", compresslevel=6) as packed:
            packed.write(plain.read_bytes())
        plain.unlink()
    for path in sorted(more.rglob("*.json.gz")) if more else ():
        target = folder / path.relative_to(more or path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return sorted(folder.rglob("*.json.gz"))


@dataclass
class Growing:
    """A file that is written piece by piece."""

    path: Path
    source: Path
    at: int = 0


@dataclass
class ChangingLogdir:
    """Runs that appear, grow, are replaced, cut, renamed and removed. ``since``: what each file
    held from when on, by path; ``CUT`` for what is not a whole trace of the pool.
    """

    folder: Path
    pool: list[Path]
    chance: random.Random
    lock: threading.Lock = field(default_factory=threading.Lock)
    since: dict[Path, list[tuple[float, str]]] = field(default_factory=dict)
    growing: list[Growing] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)

    def change(self) -> None:
        """One change at random."""
        kinds = {
            self.appear: 4,
            self.begin: 3,
            self.replace: 4,
            self.truncate: 2,
            self.remove: 2,
            self.remove_run: 1,
            self.rename: 2,
            self.garbage: 1,
            self.touch: 3,
        }
        with self.lock:
            self.grow()
            kind = self.chance.choices(list(kinds), list(kinds.values()))[0]
            kind()
            self.changes[kind.__name__] = self.changes.get(kind.__name__, 0) + 1

    def contents(self, path: Path, seconds: float) -> set[str]:
        """What a file held within the last so many seconds."""
        with self.lock:
            story = list(self.since.get(path, ()))
        begin = time.time() - seconds
        recent = [content for at, content in story if at >= begin]
        before = [content for at, content in story if at < begin]
        return {*recent, *before[-1:]}

    def whole(self) -> dict[Path, str]:
        """The files that hold a whole trace of the pool, and which."""
        with self.lock:
            return {p: s[-1][1] for p, s in self.since.items() if p.exists() and s[-1][1] != CUT}

    def finish(self) -> None:
        """Let what grows come to its end."""
        with self.lock:
            for item in self.growing:
                if item.path.exists():
                    shutil.copyfile(item.source, item.path)
                    self._note(item.path, self._name(item.source))
            self.growing.clear()

    def appear(self) -> None:
        """A new file at once."""
        self._put(self._place())

    def replace(self) -> None:
        """Another trace under the name of one that is there."""
        if (path := self._some()) is not None:
            self._put(path)

    def begin(self) -> None:
        """A new file, written piece by piece."""
        path = self._place()
        self._forget(path)
        path.write_bytes(b"")
        self._note(path, CUT)
        self.growing.append(Growing(path, self.chance.choice(self.pool)))

    def grow(self) -> None:
        """The next piece of each file that grows."""
        for item in list(self.growing):
            text = item.source.read_bytes()
            piece = text[item.at : item.at + self.chance.randrange(1, len(text))]
            if not item.path.exists():
                self.growing.remove(item)
                continue
            with open(item.path, "ab") as file:
                file.write(piece)
            item.at += len(piece)
            if item.at >= len(text):
                self._note(item.path, self._name(item.source))
                self.growing.remove(item)

    def truncate(self) -> None:
        """The first half of a file stays."""
        if (path := self._some()) is not None:
            self._note(path, CUT)
            os.truncate(path, path.stat().st_size // 2)

    def garbage(self) -> None:
        """A file that claims to be a trace."""
        path = self._place()
        self._forget(path)
        self._note(path, CUT)
        path.write_bytes(
            self.chance.choice([b"", b"{", b"\x1f\x8b\x08\x00", b"[1, 2", b"\0" * 4096])
        )

    def remove(self) -> None:
        """A file is gone."""
        if (path := self._some()) is not None:
            self._note(path, CUT)
            path.unlink()

    def remove_run(self) -> None:
        """A run is gone."""
        runs = self._runs()
        if len(runs) > 3:
            run = self.chance.choice(runs)
            for path in run.iterdir():
                self._note(path, CUT)
            shutil.rmtree(run)

    def rename(self) -> None:
        """A run gets another name, and its traces with it."""
        runs, free = self._runs(), self._free_run()
        if runs and free is not None:
            run = self.chance.choice(runs)
            held = {path.name: self.since[path][-1][1] for path in run.iterdir()}
            growing = {item.path for item in self.growing}
            for name in held:
                self._note(free / name, CUT if run / name in growing else held[name])
            run.rename(free)
            for name in held:
                self._note(run / name, CUT)

    def touch(self) -> None:
        """The time of a file jumps into the past or the future."""
        if (path := self._some()) is not None:
            days = self.chance.choice([-4000, -1, -0.04, 0.04, 1, 4000])
            os.utime(path, (time.time(), time.time() + days * DAY))

    def _put(self, path: Path) -> None:
        source = self.chance.choice(self.pool)
        self._forget(path)
        # A reader sees the old file or the new one; now and then somebody writes over it instead.
        part = path.with_name(f".{path.name}.new") if self.chance.random() < 0.7 else path
        if part is path:
            self._note(path, CUT)
        shutil.copyfile(source, part)
        os.replace(part, path)
        self._note(path, self._name(source))

    def _place(self) -> Path:
        runs, free = self._runs(), self._free_run()
        new = free is not None and (len(runs) < 3 or self.chance.random() < 0.4)
        run = free if new and free is not None else self.chance.choice(runs)
        run.mkdir(exist_ok=True)
        return run / f"worker{self.chance.randrange(MOST_FILES)}.pt.trace.json.gz"

    def _some(self) -> Path | None:
        growing = {item.path for item in self.growing}
        paths = [p for p in sorted(self.folder.glob("*/*.gz")) if p not in growing]
        return self.chance.choice(paths) if paths else None

    def _runs(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if path.is_dir())

    def _free_run(self) -> Path | None:
        free = [self.folder / f"run{n}" for n in range(MOST_RUNS)]
        free = [path for path in free if not path.exists()]
        return self.chance.choice(free) if free else None

    def _forget(self, path: Path) -> None:
        self.growing = [item for item in self.growing if item.path != path]

    def _name(self, source: Path) -> str:
        return str(source)

    def _note(self, path: Path, content: str) -> None:
        self.since.setdefault(path, []).append((time.time(), content))
        del self.since[path][:-50]
