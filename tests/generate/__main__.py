"""The command ``python -m tests.generate``."""

from __future__ import annotations

import sys

from tests.generate import ROOT, stale


def main(arguments: list[str]) -> int:
    """1 when something is stale and was not written."""
    write = arguments == ["--write"]
    behind = stale(ROOT, write=write)
    for name in behind:
        print("written:" if write else "stale:", name)
    return int(bool(behind) and not write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
