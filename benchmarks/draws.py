"""Draws the examples of all property tests anew, again and again; what fails is to be mended, and to stay as an example.

    nice python benchmarks/draws.py --minutes 30 [TEST...]
    python benchmarks/draws.py --seed 1234 --rounds 1 tests/analysis/test_step_kinds.py

The suite tries the same examples each time. This tries others: each round has a seed of its own, from which it can be
repeated, and all the examples that a test has in CI.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARKS = "hypothesis and not browser and not live and not nightly"
NOTHING_RAN = 5
_SECTION = re.compile(r"^_{3,} (.+) _{3,}$", re.M)


def main() -> int:
    """The command; 1 after a failure."""
    options = _options()
    end, failures, rounds = time.monotonic() + 60 * options.minutes, 0, 0
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    while rounds < options.rounds if options.rounds else not rounds or time.monotonic() < end:
        failures += draw(seed + rounds, options.tests)
        rounds += 1
    print(f"{rounds} rounds from seed {seed}, {failures} failures")
    return int(failures > 0)


def draw(seed: int, tests: list[str]) -> int:
    """One round; how many tests failed, each of which is printed with its example."""
    told = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-m", MARKS, "-p", "no:cacheprovider"),
            *("--tb=short", f"--hypothesis-seed={seed}", *tests),
        ],
        env={**os.environ, "HYPOTHESIS_EXAMPLES": "random"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = told.stdout.strip().splitlines() or [told.stderr.strip()]
    print(f"seed {seed}: {lines[-1]}", flush=True)
    if told.returncode in (0, NOTHING_RAN):
        return 0
    found = failed(told.stdout)
    for name, text in found:
        print(
            f"\n{name}, seed {seed}: mend the rule, and keep it with @example\n{text}\n", flush=True
        )
    if not found:
        print(told.stdout[-4000:], told.stderr[-4000:], flush=True)
    return max(len(found), 1)


def failed(printed: str) -> list[tuple[str, str]]:
    """The failed tests of a run of pytest: name, and the example that failed with what it raised."""
    parts = _SECTION.split(printed.partition("short test summary info")[0])
    found = []
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        lines = [
            line for line in text.splitlines() if line.startswith(("E ", "  ", "    ", "You can"))
        ]
        found.append((name, "\n".join(lines[-40:])))
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tests", nargs="*", default=["tests"], metavar="TEST")
    parser.add_argument("--minutes", type=float, default=10, help="begin rounds for so long")
    parser.add_argument("--rounds", type=int, default=0, help="instead of minutes")
    parser.add_argument("--seed", type=int, help="of the first round (default: at random)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
