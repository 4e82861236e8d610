"""TensorBoard for a long time on a logdir that always changes, under many clients, while things go
wrong around it; prints a table and a verdict.

    nice -n 15 python benchmarks/soak.py --minutes 60 --clients 200 [--rate 20] [--seed 1]
    [--serve] [--traces DIR] [--scratch DIR] [--log FILE] [--write]

Three logdirs: runs that never change (samples, ``--traces`` more), runs that appear, grow, are
replaced, cut, renamed and removed every few seconds, and a web server that is slow and fails
(``soak_store.py``). The clients ask every route with valid parameters (``soak_questions.py``) and
check every reply (``soak_clients.py``): it comes within 30 s, and about what never changes it is what the server answered
before anything was disturbed. Meanwhile worker processes are killed, sidecars removed, written to and exchanged, disks
filled (small ones in memory, where the system lets us mount them: as root) and the clock of the server's
processes jumps (``soak_chaos.py``; ``time.time`` is replaced in them, the system's clock stays).

At the end the disturbances stop, every file must be right, and the server is ended; another one is killed
while it imports. ``--rate`` is
requests per second of all clients together. ``--log`` keeps what the server says, such as why a reply failed.
``--serve`` asks ``torch-tb-profiler serve`` about the first two logdirs instead; SIGTERM must end it within 5 s.
``--write`` puts the table into ``soak.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from soak_chaos import Chaos, leftovers
from soak_clients import (
    LIVE,
    SINGLE,
    Client,
    Connection,
    World,
    Wrong,
    answer_quietly,
    refer,
    settled,
)
from soak_logdir import ChangingLogdir, make_constant
from soak_server import SERVE_END_SECONDS, START_SECONDS, Disk, Server, process
from soak_table import Row, report, verdict

HERE = Path(__file__).resolve().parent
PERIOD_SECONDS = 10.0
FIRST_CHANGES = 80
"""By then about as many files of the changing runs come as go."""
QUIET_SECONDS = 80.0
"""After the last disturbance, until every file must be right: imports that were killed are tried again
after 15 s and 60 s."""


@dataclass
class Soak:
    """One run of the whole thing."""

    options: argparse.Namespace
    scratch: Path

    def run(self) -> int:
        """Carry it out; the exit code."""
        chance = random.Random(self.options.seed)
        folders = {name: self.scratch / "logdir" / name for name in ("const", "live")}
        folders["web"] = self.scratch / "web"
        for folder in folders.values():
            folder.mkdir(parents=True)
        pool = make_constant(folders["const"], self.options.traces)
        for number, source in enumerate(chance.sample(pool, min(3, len(pool)))):
            run = folders["web"] / f"run{number}"
            run.mkdir()
            (run / source.name).write_bytes(source.read_bytes())
        disks = [Disk(self.scratch / "cache"), Disk(self.scratch / "tmp")]
        store = subprocess.Popen(
            [sys.executable, str(HERE / "soak_store.py"), str(folders["web"]), "1"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert store.stdout is not None
        locations = {
            **{name: str(folders[name]) for name in ("const", "live")},
            "web": f"http://127.0.0.1:{int(store.stdout.readline())}/",
        }
        if self.options.serve:
            locations = {"": str(folders["const"].parent)}
        server = Server(locations, disks[0].path, disks[1].path, self.scratch)
        live = ChangingLogdir(folders["live"], pool, chance)
        try:
            for disk in disks:
                disk.mount()
            server.start()
            return self.soak(server, live, disks, folders["const"], pool)
        finally:
            if server.port and server.process.poll() is None:
                server.end()
            if self.options.log:
                shutil.copy(self.scratch / "server.log", self.options.log)
            store.terminate()
            store.wait()
            for disk in disks:
                disk.unmount()

    def soak(
        self,
        server: Server,
        live: ChangingLogdir,
        disks: list[Disk],
        const: Path,
        pool: list[Path],
    ) -> int:
        """Clients and disturbances, then the end; the exit code."""
        world, watcher = World(server, live), Connection(server, keep=True)
        self.wait_for(world, watcher, len(pool))
        refer(world, watcher, const, pool)
        answer_quietly(world, watcher, self.options.seed)
        for _ in range(FIRST_CHANGES):
            live.change()
        chaos = Chaos(server, live, disks, live.chance, self.options.minutes)
        clients, stopped = self.clients(world), threading.Event()
        threads = [threading.Thread(target=c.run, args=(stopped,), daemon=True) for c in clients]
        for thread in threads:
            thread.start()
        chaos.start()
        rows = self.watch(server, world, disks)
        chaos.stop()
        stopped.set()
        for thread in threads:
            thread.join()
        time.sleep(min(QUIET_SECONDS, 20 * self.options.minutes))
        faults = self.last_look(world, watcher)
        watcher.close()
        orphans = server.end()
        late = server.alone and server.end_seconds > SERVE_END_SECONDS
        found: dict[str, list[Any]] = {
            "late end": [f"SIGTERM: {server.end_seconds:.1f} s"] if late else [],
            "wrong": [*world.ledger.wrong, *faults],
            "leftovers": leftovers([disk.path for disk in disks]),
            "orphans": [*orphans, *server.killed(START_SECONDS)],
        }
        counts = Counter({f"changes: {name}": n for name, n in live.changes.items()})
        text = report(self.options, rows, world.ledger, chaos.counts + counts, found, disks)
        print(text)
        if self.options.write:
            (HERE / "soak.md").write_text(text + "\n", "utf-8")
        return 0 if verdict(rows, found)[0] else 1

    def clients(self, world: World) -> list[Client]:
        """As many as asked for, whose requests together come at the rate asked for."""
        pause = self.options.clients / self.options.rate
        return [Client(number, world, pause) for number in range(self.options.clients)]

    def wait_for(self, world: World, connection: Connection, files: int) -> None:
        """Until the runs that never change are imported.

        Raises:
            SystemExit: they are not.
        """
        end = time.monotonic() + 600
        while time.monotonic() < end:
            payload = world.look(connection)
            states = Counter(payload["files"]["state"] if payload else ())
            if states["ready"] >= files:
                return
            time.sleep(1)
        raise SystemExit(f"not imported: {states}")

    def watch(self, server: Server, world: World, disks: list[Disk]) -> list[Row]:
        """A row every period, until the time is over."""
        begin, rows = time.monotonic(), []
        connection = Connection(server, keep=False)
        while (now := time.monotonic() - begin) < 60 * self.options.minutes:
            time.sleep(max(0.0, PERIOD_SECONDS - now % PERIOD_SECONDS))
            try:
                world.look(connection)
            except Exception as error:
                world.ledger.blame("/diagnosis", {}, 0, f"no reply: {error!r}")
            rows.append(self.row(time.monotonic() - begin, server, world, disks))
            if len(rows) % 6 == 0:
                print(rows[-1], f"wrong {len(world.ledger.wrong)}", file=sys.stderr, flush=True)
            if server.process.poll() is not None:
                world.ledger.blame("", {}, 0, "the server is gone")
                break
        return rows

    def row(self, at: float, server: Server, world: World, disks: list[Disk]) -> Row:
        """What a period brought."""
        heard = world.ledger.take()
        main = process(server.process.pid)
        workers = [found for pid in server.workers() if (found := process(pid)) is not None]
        paths = [path for disk in disks for path in disk.path.rglob("*")]
        return Row(
            at,
            Counter(status for status, _ in heard),
            sorted(seconds for _, seconds in heard),
            main.resident if main else 0,
            main.anonymous if main else 0,
            main.descriptors if main else 0,
            len(workers),
            sum(worker.resident for worker in workers),
            sum(worker.descriptors for worker in workers),
            sum(path.name.endswith(".safetensors") for path in paths),
            sum(path.name.endswith(".part") for path in paths),
        )

    def last_look(self, world: World, connection: Connection) -> list[Wrong]:
        """Every whole file of the changing runs must now be answered as its twin is."""
        world.look(connection)
        places: dict[str, Any] = {path: place for place, path in world.paths.items()}
        known = {place for family in world.places.values() for place in family}
        faults = []
        for path, content in sorted(world.live.whole().items()):
            place = places.get(f"{LIVE}/{path.relative_to(world.live.folder)}")
            if place not in known:
                faults.append(Wrong(time.time(), str(path.name), "", 0, "it is not listed"))
                continue
            query = dict(zip(("run", "worker", "span"), place, strict=True))
            for route in SINGLE:
                try:
                    body = settled(connection, route, query)
                except SystemExit as error:
                    faults.append(Wrong(time.time(), route, str(query), 0, str(error)))
                    break
                world.ledger.checked["at the end"] += 1
                if world.references[route, content] != hashlib.sha256(body).hexdigest():
                    why = f"not what {Path(content).name} says"
                    faults.append(Wrong(time.time(), route, str(query), 200, why))
        return faults


def main() -> None:
    """Read the command line and soak."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20.0, help="requests per second in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help="without TensorBoard")
    parser.add_argument("--traces", type=Path, help="folder with runs of more traces")
    parser.add_argument("--scratch", type=Path, help="where to work; default: a temporary folder")
    parser.add_argument("--log", type=Path, help="where to keep the server's log")
    parser.add_argument("--write", action="store_true", help="write soak.md")
    options = parser.parse_args()
    # The server and the disks are given back.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(dir=options.scratch, prefix="soak-") as scratch:
        raise SystemExit(Soak(options, Path(scratch)).run())


if __name__ == "__main__":
    main()
