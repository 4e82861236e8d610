"""Predictions against reality: programs are recorded, changed and recorded again; what ``whatif``
says of the first recording is compared with the second.

    python benchmarks/predictions.py [--only NAME]... [--rounds 15] [--keep DIR] [--write]

Needs PyTorch, its CPU build is enough. ``benchmarks/changed_programs`` holds the programs, their
changes, and the changes in the words of ``whatif``. Nothing of the second recording goes into the
prediction: a factor that is neither 0 nor a plain number is that of the changed operation alone, timed
under the same profiler. Both forms are recorded in turns, a few steps at a time. All figures are medians
over the third of the rounds that was disturbed least: other programs of the machine only make steps longer.
``--write`` puts the table into ``benchmarks/predictions.md``.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from changed_programs import Pair, Step, pairs

TARGET = Path(__file__).with_name("predictions.md")
MARK = "<!-- table -->"
WAIT, WARMUP, ACTIVE = 1, 1, 8
FACTOR_ROUNDS = 12
MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(8 << 30)}
"""Freed memory is kept: what a page fault costs depends on what else the machine does."""
NEAR = 0.05
"""A prediction that is off by no more counts as right."""


def record(pair: Pair, rounds: int, out: Path) -> None:
    """Record both forms of a program in turns: ``out``/before0/rank0.pt.trace.json, ``out``/after0/… and so on."""
    import torch

    rank = int(os.environ["RANK"])
    if pair.ranks > 1:
        torch.distributed.init_process_group("gloo")
    steps: list[Step] = []
    for changed in (False, True):
        torch.manual_seed(rank)
        steps.append(pair.build(changed))
    gc.freeze()
    gc.disable()
    for turn in range(rounds):
        recordings = []
        for step, threads in zip(steps, pair.threads, strict=True):
            torch.set_num_threads(threads)
            gc.collect()
            if pair.ranks > 1:
                torch.distributed.barrier()
            recordings.append(_recorded(step))
        for word, recording in zip(("before", "after"), recordings, strict=True):
            folder = out / f"{word}{turn}"
            folder.mkdir(exist_ok=True)
            recording.export_chrome_trace(str(folder / f"rank{rank}.pt.trace.json"))
    sys.stdout.flush()
    os._exit(0)  # threads and workers of the program may be busy still


def _recorded(step: Step) -> Any:
    """A recording of a few steps."""
    from torch.profiler import profile, schedule

    with profile(**_options(), schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE)) as prof:
        for _ in range(WAIT + WARMUP + ACTIVE):
            step()
            prof.step()
    return prof


def _options() -> dict[str, Any]:
    from torch.profiler import ProfilerActivity

    return {
        "activities": [ProfilerActivity.CPU],
        "record_shapes": True,
        "with_stack": True,
        "acc_events": False,
    }


def factor(build: Any) -> float:
    """How many times as long the changed operation takes, alone and recorded like a program."""
    import torch

    torch.manual_seed(0)
    gc.disable()
    best = [float("inf"), float("inf")]
    for _ in range(FACTOR_ROUNDS):
        for changed in (False, True):
            torch.set_num_threads(1)
            step = build(changed)
            times: list[float] = []

            def timed(step: Step = step, times: list[float] = times) -> None:
                begin = time.perf_counter()
                step()
                times.append(time.perf_counter() - begin)

            _recorded(timed)
            best[changed] = min(best[changed], statistics.median(times[-ACTIVE:]))
    return best[True] / best[False]


def child(*words: str, ranks: int = 1) -> str:
    """Run this program again, in one process per rank; what the first one prints."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    joined = {**MEMORY, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(ranks)}
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **joined, "RANK": str(rank), "GLOO_SOCKET_IFNAME": "lo"},
        )
        for rank in range(ranks)
    ]
    with ThreadPoolExecutor(ranks) as pool:
        printed = list(pool.map(subprocess.Popen.communicate, processes))
    for process, (_, errors) in zip(processes, printed, strict=True):
        if process.returncode:
            raise SystemExit(f"{' '.join(words)} ended with {process.returncode}:\n{errors}")
    return str(printed[0][0])


def step_ns(folder: Path) -> float:
    """Median length of the steps in a recording, over all its ranks, read without the plugin."""
    lengths = []
    for path in folder.glob("*.pt.trace.json"):
        text = path.read_text(encoding="utf-8", errors="replace")
        events = json.loads(text, strict=False)["traceEvents"]
        lengths += [
            1000 * event["dur"]
            for event in events
            if event.get("cat") == "user_annotation" and event["name"].startswith("ProfilerStep#")
        ]
    return float(statistics.median(lengths))


def predict(path: Path, changes: list[str]) -> list[dict[str, Any]]:
    """What ``whatif`` says of a trace, of all traces of a folder, or of a run."""
    command = [sys.executable, "-m", "torch_tb_profiler.cli.main", "whatif", str(path), "--json"]
    for change in changes:
        command += ["--change", change]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    answer: list[dict[str, Any]] = json.loads(done.stdout)
    return answer


def measure(pair: Pair, folder: Path, rounds: int) -> dict[str, Any]:
    """Record a pair, predict, compare: the medians over the least disturbed rounds."""
    factors = {
        name: known if isinstance(known, float) else float(child("--factor", f"{pair.name}:{name}"))
        for name, known in pair.factors.items()
    }
    changes = [
        change.format(**{name: f"{value:.4f}" for name, value in factors.items()})
        for change in pair.change
    ]
    out = folder / pair.name
    out.mkdir(parents=True)
    child("--record", pair.name, "--rounds", str(rounds), "--out", str(out), ranks=pair.ranks)
    before, after = (
        [step_ns(out / f"{word}{turn}") for turn in range(rounds)] for word in ("before", "after")
    )
    cost = [b / min(before) + a / min(after) for b, a in zip(before, after, strict=True)]
    chosen = sorted(range(rounds), key=lambda turn: cost[turn])[: max(rounds // 3, 1)]
    answers = predictions(pair, out, chosen, changes)
    predicted = statistics.median(
        statistics.median(step["predicted_ns"] for step in answer["steps"]) for answer in answers
    )
    known_after = statistics.median(after[turn] for turn in chosen)
    return {
        "name": pair.name,
        "title": pair.title,
        "changes": changes,
        "before": statistics.median(before[turn] for turn in chosen),
        "after": known_after,
        "predicted": predicted,
        "low": statistics.median(answer["low_ns"] for answer in answers),
        "high": statistics.median(answer["high_ns"] for answer in answers),
        "error": predicted / known_after - 1,
    }


def predictions(
    pair: Pair, out: Path, chosen: list[int], changes: list[str]
) -> list[dict[str, Any]]:
    """Of the chosen rounds."""
    if pair.rank < 0:
        return [answer for turn in chosen for answer in predict(out / f"before{turn}", changes)]
    together = out / "chosen"
    together.mkdir()
    for turn in chosen:
        trace = out / f"before{turn}" / f"rank{pair.rank}.pt.trace.json"
        shutil.copyfile(trace, together / f"round{turn}.pt.trace.json")
    return predict(together, changes)


def row(result: dict[str, Any]) -> str:
    """A line of the table."""
    before, after, predicted, low, high = (
        f"{result[key] / 1e6:.2f}" for key in ("before", "after", "predicted", "low", "high")
    )
    told = " ".join(
        f"`--change '{change}'`" if re.search(r"[*:, ]", change) else f"`--change {change}`"
        for change in result["changes"]
    )
    return (
        f"| {result['title']} (`{result['name']}`) | {told} | {before} | {predicted} [{low}, {high}]"
        f" | {after} | {result['error']:+.1%} |"
    )


def table(results: list[dict[str, Any]]) -> str:
    """All of it as Markdown."""
    near = sum(abs(result["error"]) <= NEAR for result in results)
    return "\n".join(
        [
            "| changed (program) | as told | before, ms | predicted [low, high], ms | after, ms | error |",
            "| --- | --- | ---: | ---: | ---: | ---: |",
            *(row(result) for result in results),
            "",
            f"{near} of {len(results)} are within {NEAR:.0%}.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="of a program")
    parser.add_argument("--rounds", type=int, default=15, help="recordings of each form")
    parser.add_argument("--keep", type=Path, help="new folder for the recordings")
    parser.add_argument("--write", action="store_true", help=f"put the table into {TARGET.name}")
    parser.add_argument("--record", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--factor", help=argparse.SUPPRESS)
    args = parser.parse_args()
    known = pairs()
    if args.record:
        record(known[args.record], args.rounds, args.out)
    elif args.factor:
        name, _, part = args.factor.partition(":")
        print(factor(known[name].factors[part]))
    else:
        unknown = set(args.only) - set(known)
        if unknown:
            parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
        chosen = [known[name] for name in args.only] or list(known.values())
        with tempfile.TemporaryDirectory() as scratch:
            results = []
            for one in chosen:
                results.append(measure(one, args.keep or Path(scratch), args.rounds))
                print(row(results[-1]), flush=True)
        print(f"\n{table(results)}")
        if args.write:
            before, _, after = TARGET.read_text(encoding="utf-8").split(MARK)
            text = f"{before}{MARK}\n{table(results)}\n{MARK}{after}"
            TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
