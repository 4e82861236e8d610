"""Folders as a hostile or careless hand might leave them, opened and asked by the thousand (``benchmarks/fuzz/folders.py``
says what is drawn).

    nice -n 15 python benchmarks/folders.py --cases 20000 --seed 1

Each block of folders has a process of its own, so that a crash is a fault with a number, too; ``--first NUMBER --cases 1``
makes it again.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = 500
HANG_SECONDS = 300


def block(options: argparse.Namespace) -> None:
    """Check some folders in this process; each fault is a line of JSON, and so is the sum."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.fuzz.folder_check import check_folder

    told: Counter[str] = Counter()
    begun = time.process_time()
    for number in range(options.first, options.first + options.cases):
        print(json.dumps({"number": number}), flush=True)
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        home = Path(tempfile.mkdtemp(prefix="folders-"))
        try:
            told += check_folder(home, options.seed, number)
        except Exception:
            print(json.dumps({"fault": traceback.format_exc(limit=-8)}), flush=True)
        finally:
            faulthandler.cancel_dump_traceback_later()
            shutil.rmtree(home, ignore_errors=True)
    print(json.dumps({"told": told, "seconds": time.process_time() - begun}), flush=True)


def run(options: argparse.Namespace) -> int:
    """Check all, block by block; 1 after a fault."""
    told: Counter[str] = Counter()
    faults, done, seconds, begun = 0, 0, 0.0, time.monotonic()
    end = options.first + options.cases
    first = options.first
    while first < end:
        cases = min(BLOCK, end - first)
        command = [sys.executable, __file__, "--block", "--seed", str(options.seed)]
        command += ["--first", str(first), "--cases", str(cases)]
        number, whole = first, False
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            assert process.stdout is not None
            for line in process.stdout:
                said = json.loads(line)
                number = said.get("number", number)
                if "fault" in said:
                    faults += 1
                    print(f"folder {number} of seed {options.seed}:\n{said['fault']}", flush=True)
                if "told" in said:
                    whole = True
                    told += Counter(said["told"])
                    seconds += said["seconds"]
        if not whole:
            faults += 1
            print(
                f"folder {number} of seed {options.seed} ended the process: {process.returncode}",
                flush=True,
            )
            cases = number - first + 1
        first += cases
        done += cases
        replies = ", ".join(f"{status}: {count:,}" for status, count in sorted(told.items()))
        print(
            f"{done:,} folders, {replies}; {seconds:,.0f} s of processor time,"
            f" {time.monotonic() - begun:,.0f} s, {faults} faults",
            flush=True,
        )
    return int(faults > 0)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first folder")
    parser.add_argument("--block", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.block:
        block(options)
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
