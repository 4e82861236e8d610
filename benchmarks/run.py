"""The budgets of the design as one table: this package and its peers on the same traces, in one
run, interleaved.

    python benchmarks/run.py --traces DIR --peers PEERS.py --enlarge ENLARGE.py [--runs 3]
    [--large-copies 9] [--write]

Every figure is the median of fresh processes; peers run between our runs, so that a slow minute of
the machine hits all alike. ``--write`` puts the table into ``benchmarks/README.md``. Absolute
seconds are those of one machine on one day: compare ratios.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from large import Memory

HERE = Path(__file__).resolve().parent
MARK = "<!-- table -->"
SMALL = ("v100_resnet50_num_workers_0", "h100_owlv2")


def as_installed() -> None:
    """Have fresh processes find our bytecode: the peers are installed with theirs, as we are for a user."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(HERE.parent / "torch_tb_profiler", quiet=1)


def ours(*words: str) -> dict[str, Any]:
    """One measurement of ``ours.py`` in a fresh process."""
    done = subprocess.run(
        [sys.executable, str(HERE / "ours.py"), *words], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def peak_mb(trace: Path) -> float:
    """Peak memory of one import, all processes together; not a run that is timed, as looking takes time."""
    command = [sys.executable, str(HERE / "ours.py"), "cold", str(trace)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    memory = Memory(running.pid)
    running.wait()
    memory.close()
    return memory.reset() / 1e6


def peer(script: Path, trace: Path) -> dict[str, Any]:
    """One run of every peer on a trace."""
    # Elsewhere and without our path: the original plugin's package has the name of ours.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, str(script.resolve()), str(trace.resolve()), "--runs", "1"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        cwd=tempfile.gettempdir(),
        env=environment,
    )
    return dict(json.loads(done.stdout))


def measure(name: str, trace: Path, peers: Path, runs: int) -> dict[str, Any]:
    """Medians of interleaved runs on one trace."""
    mine: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for _ in range(runs):
        mine.append(ours("cold", str(trace)) | ours("resident", str(trace)))
        others.append(peer(peers, trace))
    with tempfile.TemporaryDirectory() as cache:
        ours("warm", str(trace), cache)
        warm = [ours("warm", str(trace), cache) for _ in range(runs)]
    row: dict[str, Any] = {
        "name": name,
        "warm": {k: statistics.median(w[k] for w in warm) for k in warm[0]},
    }
    row["ours"] = {k: statistics.median(m[k] for m in mine) for k in mine[0]}
    row["ours"]["peak_mb"] = peak_mb(trace)
    for key in ("upstream_0.4.3", "hta_0.5.0", "floor_inflate_and_scan"):
        row[key] = {k: statistics.median(o[key][k] for o in others) for k in ("wall_s", "peak_mb")}
    return row


def measure_alone(scratch: Path, events: int) -> dict[str, Any]:
    """Ours only, on a synthetic trace that the peers would need minutes and gigabytes for."""
    run = scratch / "synthetic"
    script = HERE.parent / "samples" / "synthesize.py"
    subprocess.run(
        [
            sys.executable,
            str(script),
            "--out",
            str(run),
            "--events",
            str(events),
            "--layers",
            "24",
            "--no-expected",
        ],
        check=True,
    )
    trace = run / "rank0.pt.trace.json"
    cold = ours("cold", str(trace)) | ours("resident", str(trace))
    cache = str(scratch / "cache")
    ours("warm", str(trace), cache)
    return {
        "name": f"synthetic, {events:,} events",
        "ours": {**cold, "peak_mb": peak_mb(trace)},
        "warm": ours("warm", str(trace), cache),
    }


def alone(row: dict[str, Any]) -> str:
    """One sentence about a trace without peers."""
    o, w = row["ours"], row["warm"]
    return (
        f"{row['name'].capitalize()} in {o['inflated_mb']:.0f} MB of text, ours alone: import"
        f" {o['import_s']:.1f} s, facts {o['facts_s']:.1f} s, peak {o['peak_mb']:.0f} MB (budget"
        f" {150 + o['inflated_mb'] / 2:.0f}); after a restart the overview is there in"
        f" {w['ready_ms'] + w['overview_first_ms']:.0f} ms."
    )


def table(rows: list[dict[str, Any]]) -> str:
    """The Markdown table; ratios are peer / ours, for the floor ours / floor."""
    lines = [
        (
            "| trace | events | text MB | ours: fresh process, in a worker | original | HTA | floor"
            " | peak MB (budget) | facts + overview / import | restart until the overview is"
            " there |"
        ),
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        o, w = row["ours"], row["warm"]
        up, hta, floor = (row[k] for k in ("upstream_0.4.3", "hta_0.5.0", "floor_inflate_and_scan"))
        lines.append(
            f"| {row['name']} | {o['events']:,.0f} | {o['inflated_mb']:.0f} | {o['wall_s']:.2f} s,"
            f" {o['resident_s']:.2f} s | {up['wall_s']:.2f} s = {up['wall_s'] / o['wall_s']:.1f} ×,"
            f" {up['wall_s'] / o['resident_s']:.1f} × | {hta['wall_s']:.2f} s ="
            f" {hta['wall_s'] / o['wall_s']:.1f} ×, {hta['wall_s'] / o['resident_s']:.1f} × |"
            f" {floor['wall_s']:.2f} s; ours {o['wall_s'] / floor['wall_s']:.1f} ×,"
            f" {o['resident_s'] / floor['wall_s']:.1f} × | {o['peak_mb']:.0f}"
            f" ({150 + o['inflated_mb'] / 2:.0f}); original {up['peak_mb']:.0f}, HTA"
            f" {hta['peak_mb']:.0f} | {100 * (o['facts_s'] + o['overview_s']) / o['import_s']:.0f}"
            f" % | {w['ready_ms'] + w['overview_first_ms']:.0f} ms |"
        )
    return "\n".join(lines)


def warm_table(rows: list[dict[str, Any]]) -> str:
    """First and repeated replies of every route on a filled cache, ms."""
    views = list(
        dict.fromkeys(k[:-9] for row in rows for k in row["warm"] if k.endswith("_first_ms"))
    )
    lines = [
        "| view with a sidecar: first / again, ms | " + " | ".join(views) + " |",
        "| --- |" + " ---: |" * len(views),
    ]
    for row in rows:
        w = row["warm"]
        lines.append(
            f"| {row['name']} | "
            + " | ".join(f"{w[v + '_first_ms']:.1f} / {w[v + '_again_ms']:.1f}" for v in views)
            + " |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--traces", type=Path, required=True, help="folder with the runs " + ", ".join(SMALL)
    )
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--enlarge", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--large-copies", type=int, default=9)
    parser.add_argument(
        "--synthetic-events",
        type=int,
        default=0,
        help="also measure ours on a synthetic trace of so many events",
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    as_installed()
    with tempfile.TemporaryDirectory() as scratch:
        large = Path(scratch) / f"h100_owlv2_x{options.large_copies}.json.gz"
        source = next((options.traces / "h100_owlv2").glob("*.gz"))
        subprocess.run(
            [
                sys.executable,
                str(options.enlarge),
                str(source),
                str(large),
                "--copies",
                str(options.large_copies),
            ],
            check=True,
        )
        chosen = [(name, sorted((options.traces / name).glob("*.gz"))[0]) for name in SMALL] + [
            (large.name.partition(".")[0], large)
        ]
        rows = [measure(name, path, options.peers, options.runs) for name, path in chosen]
        largest = (
            [measure_alone(Path(scratch), options.synthetic_events)]
            if options.synthetic_events
            else []
        )
    text = "\n\n".join([table(rows), *map(alone, largest), warm_table(rows + largest)])
    print(text)
    if options.write:
        readme = HERE / "README.md"
        before, _, rest = readme.read_text("utf-8").partition(MARK)
        _, _, after = rest.partition(MARK)
        readme.write_text(f"{before}{MARK}\n{text}\n{MARK}{after}", "utf-8")


if __name__ == "__main__":
    main()
