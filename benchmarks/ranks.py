"""A run of many ranks: how long until the Distributed view is there, cold, with its sidecars, and
again; prints one JSON object.

    python benchmarks/ranks.py --ranks 256 [--steps 3] [--layers 1] [--scratch DIR]

The ranks are made up by ``samples/synthesis``: a few thousand events each, one straggler.
``sidecars_s`` is the time of a fresh process from its start of looking at the logdir to the whole
payload; ``sidecars_cpu_s`` is all the processor time that it took, loading included, which other
work on the machine does not change.
"""

from __future__ import annotations

import argparse
import json
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
RUN = "ranks"


def asked(logdir: str, cache: str) -> dict[str, Any]:
    """Seconds until every worker's figures are in, ms of the same request again, and the size of
    the payload.
    """
    from werkzeug.test import Client

    from torch_tb_profiler.runs.catalogue import catalogue_of
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.web.application import Application

    settings = Settings(cache_dir=cache, settle_seconds=0.0, scan_seconds=0.5)
    begin = time.perf_counter()
    catalogue = catalogue_of(logdir, None, settings)
    catalogue.start()
    client = Client(Application(catalogue, settings))
    polls = 0

    def ask(path: str) -> tuple[int, bytes]:
        response = client.get(path, headers={"Accept-Encoding": "gzip"})
        return response.status_code, response.data

    path = ""
    while True:
        polls += 1
        runs = [run for run in catalogue.snapshot().runs if run.workers]
        if runs:
            worker = runs[0].workers[0]
            path = f"/distributed?{urlencode({'run': runs[0].name, 'worker': worker.name, 'span': worker.spans[0].name})}"
            status, _ = ask(path)
            payload = (
                json.loads(timeline_server.ready(ask, path))
                if status == 200
                else {"progress": 0.0, "workers": []}
            )
            if payload["progress"] >= 1.0 and len(payload["workers"]) == len(
                list(Path(logdir).rglob("*.json*"))
            ):
                break
        time.sleep(0.05)
    took, worked = time.perf_counter() - begin, time.process_time()
    again, size = timeline_server.clocked(ask, path)
    catalogue.close()
    late = sorted({payload["workers"][item["worker"]]["rank"] for item in payload["late"]})
    return {
        "seconds": took,
        "cpu_s": worked,
        "polls": polls,
        "again_ms": again,
        "bytes": size,
        "ready": payload["ready"],
        "matched": payload["matched"],
        "late_ranks": late,
    }


def main() -> None:
    """Make the ranks, then measure in fresh processes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, default=256)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument(
        "--scratch", type=Path, help="folder for large files; default: a temporary one"
    )
    options = parser.parse_args()
    if options.words:
        print(json.dumps(timeline_server.with_peak(asked(*options.words))))
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        logdir, cache = Path(scratch) / "logdir", Path(scratch) / "cache"
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "samples" / "synthesize.py"),
                "--out",
                str(logdir / RUN),
                "--ranks",
                str(options.ranks),
                "--steps",
                str(options.steps),
                "--layers",
                str(options.layers),
                "--no-expected",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        cache.mkdir()
        cold = part("ranks.py", str(logdir), str(cache))
        warm = part("ranks.py", str(logdir), str(cache))
    print(
        json.dumps(
            {
                "ranks": options.ranks,
                "cold_s": round(cold["seconds"], 1),
                "sidecars_s": round(warm["seconds"], 2),
                "sidecars_cpu_s": round(warm["cpu_s"], 2),
                "again_ms": round(warm["again_ms"], 1),
                "payload_bytes": warm["bytes"],
                "peak_mb": round(warm["peak_mb"]),
                "late_ranks": warm["late_ranks"],
                "matched": warm["matched"],
            }
        )
    )


if __name__ == "__main__":
    main()
