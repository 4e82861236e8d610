"""Runs of many ranks under few file descriptors: how long until the Distributed view is there, cold, with its
sidecars, and again; prints one JSON object per run.

    python benchmarks/ranks.py [--ranks 128 256 512 1024] [--steps 3] [--layers 1] [--descriptors 256] [--scratch DIR]
    [--write]

The ranks are made up by ``samples/synthesis``: some hundred events each, one straggler. ``sidecars_s`` is the time of a
fresh process from its start of looking at the logdir to the whole payload; ``sidecars_cpu_s`` is all the processor time
that it took, loading included, which other work on the machine does not change. ``--write`` puts the table into
``ranks.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import timeline_server
from timeline import part

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(__file__).with_suffix(".md")
MARK = "<!-- table -->"
RUN = "ranks"
PAUSE_SECONDS = 0.05
COLUMNS = {
    "ranks": "ranks",
    "text_mb": "text, MB",
    "cold_s": "cold, s",
    "sidecars_s": "first with sidecars, s",
    "sidecars_cpu_s": "of it processor time, s",
    "again_ms": "again, ms",
    "path_s": "path through all ranks, s",
    "path_again_ms": "again, ms",
    "payload_kb": "payload, kB",
    "peak_mb": "peak memory, MB",
    "descriptors": "descriptors",
    "straggler": "injected straggler",
    "blamed": "named",
}


def descriptors() -> int:
    """How many this process has open; -1 where that cannot be seen."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else -1


def asked(logdir: str, cache: str, ranks: int, limit: int) -> dict[str, Any]:
    """Seconds until every worker's figures are in, ms of the same request again, and what it took."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    from werkzeug.test import Client

    from torch_tb_profiler.runs.catalogue import catalogue_of
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.web.application import Application

    settings = Settings(cache_dir=cache, settle_seconds=0.0, scan_seconds=0.5)
    begin = time.perf_counter()
    catalogue = catalogue_of(logdir, settings)
    catalogue.start()
    client = Client(Application(catalogue, settings))
    most = 0

    def ask(path: str) -> tuple[int, bytes]:
        nonlocal most
        response = client.get(path, headers={"Accept-Encoding": "gzip"})
        most = max(most, descriptors())
        return response.status_code, response.data

    where = ""
    payload: dict[str, Any] = {"progress": 0.0, "workers": []}
    while payload["progress"] < 1.0 or len(payload["workers"]) < ranks:
        run = next((run for run in catalogue.snapshot().runs if run.workers), None)
        if run is not None:
            worker = run.workers[0]
            query = {"run": run.name, "worker": worker.name, "span": worker.spans[0].name}
            where = urlencode(query)
            before = time.perf_counter()
            if ask(f"/distributed?{where}")[0] == 200:
                payload = json.loads(timeline_server.ready(ask, f"/distributed?{where}"))
            # A page that waits does not ask all the time either.
            time.sleep(max(0.0, time.perf_counter() - before))
        time.sleep(PAUSE_SECONDS)
    took, worked = time.perf_counter() - begin, time.process_time()
    again, size = timeline_server.clocked(ask, f"/distributed?{where}")
    path, path_again = (
        timeline_server.clocked(ask, f"/critical_path/ranks?{where}")[0] for _ in range(2)
    )
    catalogue.close()
    blamed = {payload["workers"][item["worker"]]["rank"] for item in payload["blame"]}
    return {
        "seconds": took,
        "cpu_s": worked,
        "again_ms": again,
        "path_s": path / 1e3,
        "path_again_ms": path_again,
        "bytes": size,
        "ready": payload["ready"],
        "descriptors": most,
        "blamed": sorted(blamed),
    }


def measured(ranks: int, options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """One run, made up and measured in fresh processes."""
    logdir, cache = scratch / "logdir", scratch / "cache"
    sizes = ("--ranks", str(ranks), "--steps", str(options.steps), "--layers", str(options.layers))
    program = (sys.executable, str(ROOT / "samples" / "synthesize.py"))
    subprocess.run(
        [*program, "--out", str(logdir / RUN), *sizes, "--no-expected"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    cache.mkdir()
    words = (str(logdir), str(cache), str(ranks), str(options.descriptors))
    cold, warm = (part("ranks.py", "asked", *words) for _ in range(2))
    return {
        "ranks": ranks,
        "text_mb": round(sum(f.stat().st_size for f in (logdir / RUN).iterdir()) / 1e6),
        "cold_s": round(cold["seconds"], 1),
        "sidecars_s": round(warm["seconds"], 2),
        "sidecars_cpu_s": round(warm["cpu_s"], 2),
        "again_ms": round(warm["again_ms"], 1),
        "path_s": round(warm["path_s"], 2),
        "path_again_ms": round(warm["path_again_ms"], 1),
        "payload_kb": round(warm["bytes"] / 1e3),
        "peak_mb": round(max(cold["peak_mb"], warm["peak_mb"])),
        "descriptors": f"{max(cold['descriptors'], warm['descriptors'])} of {options.descriptors}",
        "straggler": ranks * 5 // 8,
        "blamed": ", ".join(map(str, warm["blamed"])),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    head = ["| " + " | ".join(COLUMNS.values()) + " |", "| " + "---: | " * len(COLUMNS)]
    lines = ["| " + " | ".join(str(row[key]) for key in COLUMNS) + " |" for row in rows]
    return "\n".join([*(line.rstrip() for line in head), *lines])


def main() -> None:
    """Make the runs, then measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, nargs="+", default=[128, 256, 512, 1024])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--descriptors", type=int, default=256, help="limit of the server")
    parser.add_argument(
        "--scratch", type=Path, help="folder for large files; default: a temporary one"
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.words:
        _, logdir, cache, ranks, limit = options.words
        found = asked(logdir, cache, int(ranks), int(limit))
        print(json.dumps(timeline_server.with_peak(found)))
        return
    rows = []
    for ranks in options.ranks:
        with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
            rows.append(measured(ranks, options, Path(scratch)))
        print(json.dumps(rows[-1]), flush=True)
    print(table(rows))
    if options.write:
        before, _, after = TARGET.read_text(encoding="utf-8").split(MARK)
        TARGET.write_text(f"{before}{MARK}\n{table(rows)}\n{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
