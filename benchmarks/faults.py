"""Do the tests notice? Plants each fault of ``faults.jsonl`` in a copy of the repository and runs the tests that must fail:
``python benchmarks/faults.py [WORD…]``, with words only those faults whose tests or text contain one.

A line of the file is ``[tests, old, new]``: what is given to pytest (or, below ``fe``, to vitest), a text that stands exactly once
in the package or the page, and what is planted in its place. The file is found by the text, so it may be renamed and moved. A
fault is "caught" where a test fails, "NOT CAUGHT" where all pass, "GONE" where its text is not there once: its line is then
mended, or another fault of that room takes its place. Ends with 1 unless all are caught.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".jsonl")
MOST_SECONDS = 300
NOT_CAUGHT = {0: "NOT CAUGHT", 5: "NO SUCH TESTS", 4: "NO SUCH TESTS"}


def copied(folder: Path) -> None:
    """What git has or would add, in ``folder``; installed packages of the page by a link."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    if (ROOT / "fe/node_modules").is_dir():
        (folder / "fe/node_modules").symlink_to(ROOT / "fe/node_modules")


def sources(folder: Path) -> dict[Path, str]:
    """Files of the package and the page, without tests."""
    python = folder.glob("torch_tb_profiler/**/*.py")
    page = (path for path in folder.glob("fe/src/**/*.ts*") if ".test." not in path.name)
    return {path: path.read_text(encoding="utf-8") for path in (*python, *page)}


def run(folder: Path, tests: str) -> str:
    """What came of the tests."""
    if tests.startswith("fe/"):
        command = ["npx", "vitest", "run", *tests.removeprefix("fe/").split()]
    else:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", *tests.split()]
    place = folder / "fe" if tests.startswith("fe/") else folder
    environment = os.environ | {"PYTHONPATH": str(folder)}
    try:
        code = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, timeout=MOST_SECONDS
        ).returncode
    except subprocess.TimeoutExpired:
        return "caught (out of time)"
    return NOT_CAUGHT.get(code, "caught")


def main(words: list[str]) -> int:
    """Prints a line per fault."""
    faults = [json.loads(line) for line in LIST.read_text(encoding="utf-8").splitlines()]
    missed = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        copied(folder)
        texts = sources(folder)
        for tests, old, new in faults:
            if words and not any(word in f"{tests} {old}" for word in words):
                continue
            began = time.monotonic()
            found = [path for path, text in texts.items() if old in text]
            if len(found) != 1 or texts[found[0]].count(old) != 1:
                said = "GONE"
            else:
                found[0].write_text(texts[found[0]].replace(old, new), encoding="utf-8")
                said = run(folder, tests)
                found[0].write_text(texts[found[0]], encoding="utf-8")
            missed += not said.startswith("caught")
            print(f"{said:12} {time.monotonic() - began:4.0f} s  {tests}  {old}", flush=True)
    print(f"{missed} of {len(faults)} were not caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
