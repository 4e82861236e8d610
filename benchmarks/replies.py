"""The net: records what every route, command, tool and table answers, and shows what differs between two commits.

    python benchmarks/replies.py record --tree TREE OUT
    python benchmarks/replies.py compare OLD NEW

``replies.md`` says what is recorded and what is not compared.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("samples", "../shared/cases", "../shared/traces")
FIXED = {
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    "COLUMNS": "100",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TORCH_TB_PROFILER_WORKERS": "1",
    "TORCH_TB_PROFILER_SETTLE_SECONDS": "0",
    "TORCH_TB_PROFILER_SCAN_SECONDS": "600",
}
"""Environment of a recording."""
_MARK = "TORCH_TB_PROFILER_NET"


def main() -> int:
    """The command."""
    options = _options()
    sys.path[:] = [place for place in sys.path if Path(place).resolve() != ROOT / "benchmarks"]
    sys.path.append(str(ROOT / "benchmarks"))
    if options.action == "compare":
        from net.differences import compare

        return compare(options.old, options.new, re.compile(options.only), options.most)
    refuse_inside_a_repository(options.out)
    tree = options.tree.resolve()
    if os.environ.get(_MARK) != str(tree):
        _begin_anew(tree)
    return _record(options, tree)


def _begin_anew(tree: Path) -> None:
    """Run this command with the package of the tree and with nothing of the user's environment that shows."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("TORCH_TB_PROFILER_")}
    environment = {**own, **FIXED, _MARK: str(tree), "PYTHONPATH": str(tree)}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def _record(options: argparse.Namespace, tree: Path) -> int:
    import torch_tb_profiler

    if not Path(torch_tb_profiler.__file__).is_relative_to(tree):
        print(f"{torch_tb_profiler.__file__} was imported, not the package of {tree}.")
        return 2
    os.environ.pop(_MARK)
    from net.recording import record
    from net.subjects import subjects

    wanted = re.compile(options.only)
    sources = [path.resolve() for path in options.sources]
    found = [each for each in subjects(sources) if wanted.search(each.name)]
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    return int(record(out, tree, found, options.jobs, options.anew, options.kinds) > 0)


def refuse_inside_a_repository(out: Path) -> None:
    """A recording is large and holds what traces say: it lies beside repositories, not in them.

    Raises:
        SystemExit: the folder is in one.
    """
    place = out.resolve()
    for above in (place, *place.parents):
        if (above / ".git").exists():
            raise SystemExit(
                f"{out} is in the repository {above}: give a folder outside of repositories."
            )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    actions = parser.add_subparsers(dest="action", required=True)
    record = actions.add_parser("record", help="record the replies of a tree")
    record.add_argument("out", type=Path, metavar="OUT", help="a folder outside of repositories")
    record.add_argument(
        "sources",
        type=Path,
        nargs="*",
        metavar="SOURCE",
        default=[ROOT / name for name in SOURCES],
        help="folders whose folders are asked about (default: samples, ../shared/cases, ../shared/traces)",
    )
    record.add_argument(
        "--tree", type=Path, default=ROOT, help="the checkout to record (default: this one)"
    )
    record.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="(default: cores)")
    record.add_argument("--anew", action="store_true", help="also what is recorded already")
    kinds = ("routes", "commands", "tools", "tables")
    record.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="(default: all)")
    compare = actions.add_parser("compare", help="show what differs between two recordings")
    compare.add_argument("old", type=Path, metavar="OLD")
    compare.add_argument("new", type=Path, metavar="NEW")
    compare.add_argument(
        "--most", type=int, default=40, help="groups of a kind that are shown; 0: all (default: 40)"
    )
    for each, what in (record, "subjects"), (compare, "subjects and what was asked"):
        each.add_argument(
            "--only", default="", metavar="PATTERN", help=f"a regular expression: {what}"
        )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
