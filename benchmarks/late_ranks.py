"""Who holds the others back, in live jobs of several gloo ranks beside busy processes, against raw clocks.

    python benchmarks/late_ranks.py [--late 20] [--healthy 10] [--ranks 4] [--steps 8] [--busy 2] [--seed 0] [--keep DIR]

Of each job that has a late rank, one of its ranks sleeps, is given more input or calls a slower operator in every step. Every
rank notes the clock of the machine right before it calls each all_reduce; from these clocks alone the expected answer is
reckoned: the rank that is last in most steps, by a tenth of the step or more in their median and too often for chance; else
nobody. Printed are one line per job and how many of the product's answers agree.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import pairwise
from math import comb
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CAUSES = ("sleep", "input", "operator")
WARM = 2
LEAST_SHARE, CHANCE = 0.1, 0.05


def rank(options: argparse.Namespace) -> None:
    """One rank of a job: trains, records its last steps, and notes when it came to each all_reduce."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{options.folder}/store",
        rank=options.rank,
        world_size=options.ranks,
    )
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)
    )
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=1e-3)
    late = options.rank == options.planted
    rows = 64 * (options.times if late and options.cause == "input" else 1)
    came: list[float] = []

    def slow_read() -> None:
        time.sleep(options.delay)

    def slow_operator(data: Any) -> Any:
        matrix = torch.eye(options.size)
        for _ in range(options.times):
            matrix = matrix @ matrix
        return data + matrix[0, 0] - 1

    def step() -> None:
        data = torch.randn(rows, 256)
        if late and options.cause == "sleep":
            slow_read()
        if late and options.cause == "operator":
            data = slow_operator(data)
        optimizer.zero_grad()
        model(data).square().mean().backward()
        gradient = torch.cat([one.grad.flatten() for one in parameters if one.grad is not None])
        came.append(time.clock_gettime(time.CLOCK_MONOTONIC))
        dist.all_reduce(gradient)
        optimizer.step()

    schedule = torch.profiler.schedule(wait=0, warmup=WARM, active=options.steps, repeat=1)
    handler = torch.profiler.tensorboard_trace_handler(
        f"{options.folder}/trace", worker_name=f"rank{options.rank}"
    )
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=schedule,
        on_trace_ready=handler,
        record_shapes=True,
        with_stack=True,
    ) as profiler:
        for _ in range(WARM + options.steps):
            step()
            profiler.step()
    Path(options.folder, f"came{options.rank}.json").write_text(json.dumps(came[WARM:]))
    dist.destroy_process_group()


def recorded(
    folder: Path, options: argparse.Namespace, cause: str, planted: int
) -> list[list[float]]:
    """Run a job; when each rank came to each all_reduce, seconds."""
    words = [sys.executable, __file__, "--rank-of", "--folder", str(folder), "--cause", cause]
    words += [
        "--planted",
        str(planted),
        "--ranks",
        str(options.ranks),
        "--steps",
        str(options.steps),
    ]
    words += [
        "--delay",
        str(options.delay),
        "--times",
        str(options.times),
        "--size",
        str(options.size),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    jobs = [
        subprocess.Popen([*words, "--rank", str(number)], env=environment)
        for number in range(options.ranks)
    ]
    if max(job.wait(timeout=600) for job in jobs):
        raise SystemExit(f"A rank of {folder} failed.")
    return [json.loads((folder / f"came{n}.json").read_text()) for n in range(options.ranks)]


def expected(came: list[list[float]]) -> tuple[int, str]:
    """Who holds the others back by the raw clocks alone, −1 nobody; and how often and by how much who was last most often was."""
    steps = list(zip(*came, strict=True))
    last = [max(range(len(step)), key=step.__getitem__) for step in steps]
    often, count = Counter(last).most_common(1)[0]
    leads = [step[often] - max(time for n, time in enumerate(step) if n != often) for step in steps]
    length = median(max(b) - max(a) for a, b in pairwise(steps))
    share = median(leads) / length
    tail = sum(
        comb(len(steps), k) * (len(came) - 1) ** (len(steps) - k)
        for k in range(count, len(steps) + 1)
    )
    chance = len(came) * tail / len(came) ** len(steps)
    named = 2 * count > len(steps) and share >= LEAST_SHARE and chance <= CHANCE
    told = f"rank {often} last in {count} of {len(steps)}, {share:.0%} of the step in the median"
    return (often if named else -1), told


def answered(folder: Path) -> tuple[int, str]:
    """Whom the product names, −1 nobody, and its first sentence."""
    words = [
        sys.executable,
        "-m",
        "torch_tb_profiler",
        "findings",
        str(folder / "trace"),
        "--no-cache",
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("=")]
    sentence = lines[1]
    if "holds all others back" in sentence and sentence.lower().startswith("rank"):
        return int("".join(filter(str.isdigit, sentence.split(" holds")[0]))), sentence
    return -1, sentence


def main() -> None:
    """Run the jobs and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, value in (("late", 20), ("healthy", 10), ("ranks", 4), ("steps", 8), ("busy", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the traces; default: a temporary one")
    parser.add_argument("--delay", type=float, default=0.05, help="seconds that a late rank sleeps")
    parser.add_argument("--times", type=int, default=12, help="times as much input or products")
    parser.add_argument("--size", type=int, default=320, help="rows of the slower operator")
    parser.add_argument("--rank-of", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--cause", default="", help=argparse.SUPPRESS)
    parser.add_argument("--planted", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank_of:
        rank(options)
        return
    drawn = random.Random(options.seed)
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)
    ]
    right = 0
    try:
        for number in range(options.late + options.healthy):
            cause = CAUSES[number % len(CAUSES)] if number < options.late else "none"
            planted = drawn.randrange(options.ranks) if number < options.late else -1
            with tempfile.TemporaryDirectory(dir=options.keep) as scratch:
                folder = Path(options.keep or scratch) / f"{number:02}_{cause}"
                folder.mkdir(parents=True, exist_ok=True)
                who, told = expected(recorded(folder, options, cause, planted))
                answer, sentence = answered(folder)
            right += answer == who
            agrees = "agrees" if answer == who else "DIFFERS"
            print(f"{number:02} {cause} planted {planted} {agrees}: {told}; {sentence}", flush=True)
    finally:
        for process in busy:
            process.kill()
    print(f"{right} of {options.late + options.healthy}")


if __name__ == "__main__":
    main()
