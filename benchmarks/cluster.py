"""A run of many ranks through a Dask cluster that is disturbed, against the same run imported here;
prints one JSON object.

    python benchmarks/cluster.py --ranks 64 [--steps 4] [--layers 4] [--calm] [--scratch DIR]

A ``dask scheduler`` and two ``dask worker`` processes of one thread each are started as
``docs/guide/cluster.md`` says, and ``torch-tb-profiler import LOGDIR --scheduler …`` has them do all.
After a third of the imports a worker is killed, with all that it started, and replaced; after two thirds the
scheduler is killed and started again, with its workers, as a supervisor would. ``written_twice`` counts
sidecars that were put in place more than once, ``different`` those whose bytes are not those of the
local import.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timeline import part

ROOT = Path(__file__).resolve().parents[1]
RUN = "ranks"
DESCRIPTORS = 256
"""Limit of the server that answers in the end."""
LOOK_SECONDS = 0.2


class Dask:
    """The processes of a cluster; each is the first of a group of its own."""

    def __init__(self, folder: Path) -> None:
        self._log = open(folder / "dask.log", "ab")  # noqa: SIM115 - as long as this object
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.start_scheduler()
        self.workers = [self.start_worker(), self.start_worker()]

    def start_scheduler(self) -> None:
        """On the port of before."""
        self.scheduler = self._start("scheduler", "--port", str(self._port), "--no-dashboard")

    def start_worker(self) -> subprocess.Popen[bytes]:
        """One with one thread."""
        return self._start("worker", self.address, "--nthreads", "1", "--memory-limit", "4GiB")

    def kill_worker(self) -> None:
        """End one with all that it started, at once, and start another."""
        _kill(self.workers.pop(0))
        self.workers.append(self.start_worker())

    def restart(self) -> None:
        """End the scheduler at once and start it again, and its workers, which end with it."""
        _kill(self.scheduler)
        time.sleep(2.0)
        self.start_scheduler()
        for worker in self.workers:
            _kill(worker)
        self.workers = [self.start_worker() for _ in self.workers]

    def close(self) -> None:
        """End all of it."""
        for process in (*self.workers, self.scheduler):
            _kill(process)
        self._log.close()

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command],
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            cwd=ROOT,
        )


class Writes:
    """How often each sidecar of a folder was put in place: a new file each time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: dict[str, int] = {}
        self.times: Counter[str] = Counter()

    def look(self) -> int:
        """Count; how many imports are there."""
        imports = 0
        for entry in os.scandir(self._folder):
            if not entry.name.endswith(".safetensors"):
                continue
            imports += "-" not in entry.name
            if self._last.get(entry.name) != entry.inode():
                self._last[entry.name] = entry.inode()
                self.times[entry.name] += 1
        return imports


def imported(
    logdir: Path, cache: Path, *options: str, look: Callable[[], object]
) -> dict[str, Any]:
    """What ``torch-tb-profiler import`` says, and its seconds."""
    command = [sys.executable, "-m", "torch_tb_profiler", "import", str(logdir), "--json", *options]
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=said,
            env={**os.environ, "TORCH_TB_PROFILER_CACHE_DIR": str(cache)},
        )
        while running.poll() is None:
            look()
            time.sleep(LOOK_SECONDS)
        look()
        said.seek(0)
        result = json.loads(said.read())
    return {"seconds": time.perf_counter() - begin, **result}


def through_cluster(logdir: Path, cache: Path, ranks: int, calm: bool) -> dict[str, Any]:
    """The run by a cluster that is disturbed."""
    dask, writes, done = Dask(cache.parent), Writes(cache), list[str]()
    begin = time.perf_counter()

    def look() -> None:
        imports = writes.look()
        if not calm and imports >= ranks / 3 and not done:
            done.append(f"worker killed after {imports} imports, {_since(begin)} s")
            dask.kill_worker()
        elif not calm and imports >= ranks * 2 / 3 and len(done) == 1:
            done.append(f"scheduler restarted after {imports} imports, {_since(begin)} s")
            dask.restart()

    try:
        result = imported(logdir, cache, "--scheduler", dask.address, look=look)
    finally:
        dask.close()
    twice = sum(times - 1 for times in writes.times.values())
    return {**result, "disturbed": done, "written_twice": twice}


def differing(one: Path, other: Path) -> list[str]:
    """Names of sidecars that are not in both folders with the same bytes."""
    names = {path.name for folder in (one, other) for path in folder.glob("*.safetensors")}
    return [
        name
        for name in sorted(names)
        if not (one / name).exists()
        or not (other / name).exists()
        or (one / name).read_bytes() != (other / name).read_bytes()
    ]


def main() -> None:
    """Make the ranks, then measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--calm", action="store_true", help="disturb nothing")
    parser.add_argument(
        "--scratch", type=Path, help="folder for large files; default: a temporary one"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        scratch = Path(name)
        logdir, there, here = scratch / "logdir", scratch / "cluster", scratch / "here"
        there.mkdir()
        here.mkdir()
        size = _make(logdir, options)
        _say(f"{options.ranks} ranks, {size / 1e6:.0f} MB")
        cluster = through_cluster(logdir, there, options.ranks, options.calm)
        _say(f"cluster: {cluster['seconds']:.0f} s, {cluster['disturbed']}")
        local = imported(logdir, here, look=lambda: None)
        _say(f"here: {local['seconds']:.0f} s")
        different = differing(there, here)
        sidecars = sum(path.stat().st_size for path in there.iterdir())
        shutil.rmtree(here)
        words = ("asked", str(logdir), str(there), str(options.ranks), str(DESCRIPTORS))
        served = part("ranks.py", *words)
    print(
        json.dumps(
            {
                "ranks": options.ranks,
                "gzip_mb": round(size / 1e6, 1),
                "sidecar_mb": round(sidecars / 1e6, 1),
                "cluster_s": round(cluster["seconds"], 1),
                "ready": cluster["ready"],
                "failed": cluster["failed"],
                "disturbed": cluster["disturbed"],
                "written_twice": cluster["written_twice"],
                "local_s": round(local["seconds"], 1),
                "local_ready": local["ready"],
                "different": len(different),
                "distributed_s": round(served["seconds"], 1),
                "distributed_ready": served["ready"],
                "straggler": options.ranks * 5 // 8,
                "blamed": served["blamed"],
                "server_mb": round(served["peak_mb"]),
            }
        )
    )


def _make(logdir: Path, options: argparse.Namespace) -> int:
    """Write the ranks; bytes on disk."""
    given = {"--ranks": options.ranks, "--steps": options.steps, "--layers": options.layers}
    subprocess.run(
        [
            sys.executable,
            str(ROOT / "samples" / "synthesize.py"),
            *("--out", str(logdir / RUN), "--gzip", "--no-expected"),
            *(word for option, value in given.items() for word in (option, str(value))),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    files = list((logdir / RUN).iterdir())
    for path in files:
        os.utime(path, (1_600_000_000, 1_600_000_000))  # nobody is still writing it
    return sum(path.stat().st_size for path in files)


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _since(begin: float) -> int:
    return round(time.perf_counter() - begin)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group."""
    for group in _children(process.pid):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def _children(pid: int) -> list[int]:
    """Its group, and those of what it started: a nanny's worker has one of its own."""
    found = [pid]
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += _children(int(path.parent.name))
    return found


if __name__ == "__main__":
    main()
