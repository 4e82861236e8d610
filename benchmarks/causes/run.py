"""Records programs with one planted cause each, and their twins without it.

    python benchmarks/causes/run.py --out DIR [SET...] [--only NAME]... [--modes plain,record] [--fork]

A set is a folder with ``programs/`` and ``causes.json``; without one it is this folder. Traces go to
DIR/NAME/slow_MODE and DIR/NAME/fixed_MODE. How long steps took, with and without a profiler, goes to
DIR/measured.json, where the steps without one of all runs of a program are pooled. ``--fork`` imports
PyTorch once for all programs, which is three times as fast.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import runpy
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VARIANTS = {"slow": [], "fixed": ["--fixed"]}
FROM_SET = ("loop", "recording")
"""Modules that programs of a set share, left behind by the program before."""


def scripts(sets: Sequence[Path], only: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """(set, script) of each program that is wanted."""
    for folder in sets:
        for script in sorted(folder.glob("programs/*.py")):
            if not only or script.stem in only:
                yield folder, script


class Runner:
    """Runs a program in a process of its own, which imports PyTorch or is a fork of one that did."""

    def __init__(self, fork: bool, seconds: float) -> None:
        self.fork, self.seconds = fork, seconds
        self.context = multiprocessing.get_context("fork")
        if fork:
            import torch_tb_profiler  # noqa: F401

    def run(self, folder: Path, script: Path, arguments: list[str]) -> dict[str, Any]:
        """What the program printed last as JSON; raises RuntimeError with its last line if it failed."""
        paths = [str(script.parent), str(folder), str(folder.parent)]
        with tempfile.TemporaryFile("w+") as printed:
            start = self._forked if self.fork else self._started
            ended = start(paths, [str(script), *arguments], printed.fileno())
            printed.seek(0)
            lines = printed.read().splitlines()
        answers = [line for line in lines if line.startswith('{"mode"')]
        if ended != 0 or not answers:
            raise RuntimeError(
                (lines or ["printed nothing"])[-1] if ended is not None else "too long"
            )
        return dict(json.loads(answers[-1]))

    def _started(self, paths: list[str], command: list[str], output: int) -> int | None:
        known = os.environ.get("PYTHONPATH")
        path = os.pathsep.join([*paths, *([known] if known else [])])
        try:
            return subprocess.run(
                [sys.executable, "-B", *command],
                env={**os.environ, "PYTHONPATH": path},
                stdout=output,
                stderr=output,
                timeout=self.seconds,
            ).returncode
        except subprocess.TimeoutExpired:
            return None

    def _forked(self, paths: list[str], command: list[str], output: int) -> int | None:
        child = self.context.Process(target=_inside, args=(paths, command, output))
        child.start()
        child.join(self.seconds)
        if child.exitcode is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.join()
            return None
        return child.exitcode


def _inside(paths: list[str], command: list[str], output: int) -> None:
    """The program, in a fork."""
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    for name in FROM_SET:
        sys.modules.pop(name, None)
    sys.dont_write_bytecode = True
    sys.path[:1] = paths
    sys.argv = command
    gc.freeze()  # what the runner holds is none of the program's garbage
    runpy.run_path(command[0], run_name="__main__")
    sys.stdout.flush()
    # Threads and workers of the program may be busy still.
    os._exit(0)


def summary(lengths: Sequence[float]) -> dict[str, Any] | None:
    """Figures of steps, ms."""
    if not lengths:
        return None
    return {
        "median": round(statistics.median(lengths), 3),
        "mean": round(statistics.mean(lengths), 3),
        "min": min(lengths),
        "max": max(lengths),
        "steps": len(lengths),
        "all": list(lengths),
    }


def measured(
    runner: Runner, folder: Path, script: Path, out: Path, modes: Sequence[str], repeat: int
) -> dict[str, Any]:
    """Both variants of a program in all modes; the last recording of each stays."""
    figures: dict[str, Any] = {}
    for variant, more in VARIANTS.items():
        bare: list[float] = []
        own: dict[str, Any] = {}
        for mode in modes:
            profiled: list[float] = []
            target = out / script.stem / f"{variant}_{mode}"
            for _ in range(repeat):
                shutil.rmtree(target, ignore_errors=True)
                try:
                    answer = runner.run(
                        folder, script, ["--mode", mode, "--out", str(target), *more]
                    )
                except RuntimeError as error:
                    own.setdefault("errors", []).append(f"{mode}: {error}")
                    continue
                bare += answer["bare_ms"]
                profiled += answer["profiled_ms"]
            if mode != "none":
                own[mode] = summary(profiled)
        figures[variant] = {"bare": summary(bare), **own}
    return figures


def main() -> None:
    """Record what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", type=Path, default=[HERE])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--modes", default="plain,record")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=120, help="that a run may take")
    parser.add_argument("--fork", action="store_true")
    asked = parser.parse_args()
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    file = out / "measured.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    runner = Runner(asked.fork, asked.seconds)
    for folder, script in scripts([each.resolve() for each in asked.sets], asked.only):
        row = measured(runner, folder, script, out, asked.modes.split(","), asked.repeat)
        known[script.stem] = row
        file.write_text(json.dumps(known, indent=1))
        times = [(row[variant]["bare"] or {}).get("mean") for variant in VARIANTS]
        errors = [error for variant in VARIANTS for error in row[variant].get("errors", [])]
        print(f"{script.stem:16} {times[0]} -> {times[1]} ms", *errors, flush=True)


if __name__ == "__main__":
    main()
