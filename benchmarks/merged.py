"""Files that several ranks were merged into, drawn at random: is any kernel ever at another rank's operator?

    python benchmarks/merged.py [--files 2000] [--first 0]

Each file is drawn from its seed (``tests/builders/merged.py``): ranks, labels of processes, ids that clash or not, shared or own
devices, clocks, order of events, losses. The ranks' own files are the truth. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.builders.merged import any_variant
from tests.builders.merged_check import check


def main() -> int:
    """Draw the files and print what became of their kernels."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first file")
    options = parser.parse_args()
    files, launched, right = Counter[str](), Counter[str](), Counter[str]()
    wrong = 0
    for seed in range(options.first, options.first + options.files):
        variant = any_variant(random.Random(seed))
        told = check(variant)
        kind = "labelled" if variant.label is not None else f"ids {variant.ids}"
        files[kind] += 1
        launched[kind] += told.launched
        right[kind] += told.right
        if told.wrong:
            wrong += 1
            print(f"seed {seed}: {len(told.wrong)} wrong, {told.wrong[0]}; {variant}")
    print("| merged files | files | kernels with a launch | at their operator | without rank |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind in sorted(files):
        left = launched[kind] - right[kind]
        print(f"| {kind} | {files[kind]} | {launched[kind]} | {right[kind]} | {left} |")
    print(f"{wrong} of {options.files} files have a kernel at another rank's operator.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
