"""A trace of many gigabytes of text, or a run of many traces, from file to page: time, memory of all
processes together, disk; prints one JSON object.

    nice -n 15 python benchmarks/large.py SOURCE.json[.gz] --text-gb 10 [--traces 20] [--workers N]
    [--scratch DIR] [--only-import] [--write]

The source's events are repeated along the time axis until a trace has so much text, in Kineto's layout,
written as gzip piece by piece. Then a server with an empty cache imports the traces; one request
after another waits for overview, timeline and findings, then a fresh server starts with what is kept. Memory is
the proportional set size of the server and all its workers, summed, ten times a second: shared pages
count once. The budget of an import is 150 MB + half the text of the traces that are imported at
the same time. ``--write`` adds a row to ``large.md``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson
from isal import igzip
from soak_server import below

HERE = Path(__file__).resolve().parent
STEP = re.compile(r"^ProfilerStep#(\d+)$")
IDS = (
    "External id",
    "external id",
    "correlation",
    "Ev Idx",
    "Python id",
    "Python parent id",
    "Record function id",
    "Sequence number",
    "wait_on_cuda_event_record_corr_id",
)
"""What ties events together: shifted, so that every copy is a trace of its own."""
LEVEL = 2
"""Of the compression, by isal: fast, files about a half larger than Kineto's."""
SAMPLE_SECONDS = 0.1
PATIENCE_SECONDS = 7200.0
ROUTES = {
    "overview": "/overview",
    "timeline": "/trace/timeline",
    "findings": "/findings",
    "distributed": "/distributed",
}
MARK = "| traces | text GB |"


def copies(source: Path, text_bytes: int) -> Iterator[bytes]:
    """The text of the enlarged trace, piece by piece, at least so long."""
    with gzip.open(source) if source.suffix == ".gz" else open(source, "rb") as file:
        trace = orjson.loads(file.read())
    events = [event for event in trace.pop("traceEvents") if isinstance(event, dict)]
    timed = [event for event in events if event.get("ph") != "M" and "ts" in event]
    begin = min(float(event["ts"]) for event in timed)
    span = max(float(event["ts"]) + float(event.get("dur") or 0) for event in timed) - begin + 10
    ids = 1 + max(
        (n for event in timed for n in _numbers(event) if isinstance(n, int) and n < 2**53),
        default=0,
    )
    numbers = [int(m[1]) for event in timed if (m := STEP.match(str(event.get("name", ""))))]
    steps = max(numbers) - min(numbers) + 1 if numbers else 0
    head = orjson.dumps(trace, option=orjson.OPT_INDENT_2)[:-2] + b',\n  "traceEvents": [\n'
    yield head
    written, number = len(head), 0
    while written < text_bytes:
        block = events if number == 0 else timed
        lines = [_text(_shifted(event, number, span, ids, steps)) for event in block]
        piece = (b",\n" if number else b"") + b",\n".join(lines)
        written, number = written + len(piece), number + 1
        yield piece
    yield b"\n  ]\n}\n"


def _numbers(event: dict[str, Any]) -> Iterator[Any]:
    yield event.get("id", 0)
    args = event.get("args")
    if isinstance(args, dict):
        yield from (value for key, value in args.items() if key in IDS)


def _text(event: dict[str, Any]) -> bytes:
    return b"  " + orjson.dumps(event, option=orjson.OPT_INDENT_2).replace(b"\n", b"\n  ")


def _shifted(
    event: dict[str, Any], number: int, span: float, ids: int, steps: int
) -> dict[str, Any]:
    if number == 0:
        return event
    moved = dict(event)
    moved["ts"] = round(float(event["ts"]) + number * span, 3)
    if event.get("ph") in ("s", "t", "f") and isinstance(event.get("id"), int):
        moved["id"] += number * ids
    if match := STEP.match(str(event.get("name", ""))):
        moved["name"] = f"ProfilerStep#{int(match[1]) + number * steps}"
    args = event.get("args")
    if isinstance(args, dict):
        moved["args"] = {
            key: value + number * ids
            if key in IDS and isinstance(value, int) and value > 0
            else value
            for key, value in args.items()
        }
    return moved


def enlarged(source: Path, target: Path, text_bytes: int) -> int:
    """Write the enlarged trace; bytes of its text."""
    total = 0
    opened: Any = igzip.open
    with opened(target, "wb", compresslevel=LEVEL) as file:
        for piece in copies(source, text_bytes):
            file.write(piece)
            total += len(piece)
    return total


class Memory:
    """The memory of a process and all below it, watched by a thread; ``peak`` since ``reset``."""

    def __init__(self, pid: int) -> None:
        self.pid, self.peak = pid, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def reset(self) -> int:
        """The peak so far, bytes; begins anew."""
        self._look()
        peak, self.peak = self.peak, 0
        return peak

    def close(self) -> None:
        """Watch no more."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self._look()

    def _look(self) -> None:
        pids = [self.pid, *below(self.pid)]
        self.peak = max(self.peak, sum(map(proportional, pids)))


def proportional(pid: int) -> int:
    """The proportional set size of a process, bytes; 0 when it is gone."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss: +(\d+) kB", text, re.M)
    return int(found[1]) * 1024 if found else 0


def serve(logdir: str, cache: str, workers: str, only: str) -> None:
    """A server without a network that asks itself; a line of JSON after each answer, and then waits
    for a line.
    """
    from werkzeug.test import Client

    from torch_tb_profiler.runs.catalogue import catalogue_of
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.web.application import Application

    begin = time.perf_counter()
    given: dict[str, Any] = {"workers": int(workers)} if workers != "0" else {}
    settings = Settings.from_environment(
        cache_dir=cache, cache_limit_bytes=1 << 40, settle_seconds=0.0, scan_seconds=1.0, **given
    )
    catalogue = catalogue_of(logdir, settings)
    catalogue.start()
    client = Client(Application(catalogue, settings))
    end = time.monotonic() + PATIENCE_SECONDS
    spans: list[dict[str, str]] = []
    while time.monotonic() < end:
        snapshot = catalogue.snapshot()
        states = [file.state.value for file in snapshot.files]
        if states and set(states) <= {"ready", "failed", "rejected"} and not snapshot.scanning:
            break
        time.sleep(0.05)
    for run in snapshot.runs:
        for worker in run.workers:
            for span in worker.spans:
                spans.append({"run": run.name, "worker": worker.name, "span": span.name})
    tell("imported", begin, states=states, notes=list(snapshot.notes))
    for name, path in ROUTES.items() if only == "0" else [("overview", "/overview")]:
        if name == "distributed" and len(spans) == 1:
            continue
        begin = time.perf_counter()
        for query in spans if name != "distributed" else spans[:1]:
            while True:
                reply = client.get(
                    f"{path}?{urlencode(query)}", headers={"Accept-Encoding": "gzip"}
                )
                progress = 1.0
                if reply.status_code == 200 and name == "distributed":
                    progress = json.loads(gzip.decompress(reply.data))["progress"]
                if reply.status_code != 202 and progress >= 1.0:
                    break
                time.sleep(0.05)
        tell(name, begin, status=reply.status_code, bytes=len(reply.data))
    catalogue.close()


def tell(what: str, begin: float, **more: Any) -> None:
    """Say what is done, and wait until it was heard."""
    seconds = round(time.perf_counter() - begin, 2)
    print(json.dumps({"what": what, "seconds": seconds, **more}), flush=True)
    sys.stdin.readline()


def measured(logdir: Path, cache: Path, workers: int, only_import: bool) -> list[dict[str, Any]]:
    """What a fresh server told, with the peak of memory during each part."""
    words = ["serve", str(logdir), str(cache), str(workers), str(int(only_import))]
    server = subprocess.Popen(
        [sys.executable, str(HERE / "large.py"), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path[1:]])},
    )
    assert server.stdout is not None
    assert server.stdin is not None
    memory, parts = Memory(server.pid), []
    for line in server.stdout:
        parts.append({**json.loads(line), "peak_mb": round(memory.reset() / 1e6)})
        print(parts[-1], file=sys.stderr, flush=True)
        server.stdin.write("\n")
        server.stdin.flush()
    memory.close()
    server.wait()
    return parts


def main() -> None:
    """Enlarge, measure, print."""
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path)
    parser.add_argument("--text-gb", type=float, default=1.0, help="text of each trace")
    parser.add_argument("--traces", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--only-import", action="store_true", help="ask for the overview alone")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch, prefix="large-") as scratch:
        run, cache = Path(scratch) / "logdir" / "run", Path(scratch) / "cache"
        run.mkdir(parents=True)
        first = run / "rank0.pt.trace.json.gz"
        begin = time.perf_counter()
        text = enlarged(options.source, first, int(options.text_gb * 1e9))
        print(f"enlarged in {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
        for number in range(1, options.traces):
            os.link(first, run / f"rank{number}.pt.trace.json.gz")
        parts = measured(run.parent, cache, options.workers, options.only_import)
        again = measured(run.parent, cache, options.workers, only_import=True)
        kept = [path for path in cache.iterdir() if path.is_file()]
        imports = [path for path in kept if path.name.count(".") == 1]
        result = {
            "source": options.source.name,
            "traces": options.traces,
            "text_mb": round(text / 1e6),
            "file_mb": round(first.stat().st_size / 1e6),
            "budget_mb": round(150 + text / 2e6),
            "parts": parts,
            "again": again,
            "imports_mb": round(sum(path.stat().st_size for path in imports) / 1e6),
            "kept_mb": round(sum(path.stat().st_size for path in kept) / 1e6),
        }
    print(json.dumps(result))
    if options.write:
        write(result)


def write(result: dict[str, Any]) -> None:
    """Add a row to the table."""
    path = HERE / "large.md"
    head = [
        "# Large traces",
        "",
        "`benchmarks/large.py` says how these are measured. Budget of an import: 150 MB + half the text, at any size.",
        "",
        f"{MARK} file MB | import s | overview s | timeline s | findings s | peak MB: import (budget), timeline, findings"
        " | kept MB: imports, all | restart until overview s |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines = path.read_text("utf-8").splitlines() if path.exists() else head
    of = {part["what"]: part for part in result["parts"]}

    def figure(what: str, key: str) -> str:
        return f"{of[what][key]:,}" if what in of else "–"

    restart = sum(part["seconds"] for part in result["again"])
    lines.append(
        f"| {result['traces']} | {result['text_mb'] / 1e3:.2f} | {result['file_mb']:,} |"
        f" {figure('imported', 'seconds')} | {figure('overview', 'seconds')} | {figure('timeline', 'seconds')} |"
        f" {figure('findings', 'seconds')} | {figure('imported', 'peak_mb')} ({result['budget_mb']:,}),"
        f" {figure('timeline', 'peak_mb')}, {figure('findings', 'peak_mb')} | {result['imports_mb']:,},"
        f" {result['kept_mb']:,} | {restart:.2f} |"
    )
    path.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
