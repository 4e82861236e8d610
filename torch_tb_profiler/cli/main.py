"""Entry point of ``torch-tb-profiler``: reads the arguments; what the subcommands do is in modules of their name.

Exit codes: 0 done, 1 slower than ``compare --fail-on`` allows, 2 nothing could be read or wrong arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from torch_tb_profiler._version import __version__
from torch_tb_profiler.errors import ProfilerError

FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        return code
    except ProfilerError as error:
        print(f"torch-tb-profiler: {error.message} {error.hint}".rstrip(), file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # `| head` is no error; closing now keeps the interpreter from complaining at its end.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="torch-tb-profiler", description="Facts from PyTorch profiler traces.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    summary = commands.add_parser("summary", help="print the facts of the traces at a path")
    summary.add_argument("path", metavar="PATH", help="a trace file, a run folder or a logdir; a path or a URL")
    summary.add_argument("--json", action="store_true", help="print a JSON array, one object per trace; times in integer nanoseconds")
    summary.add_argument("--no-cache", action="store_true", help="neither use nor keep the result of an import")
    summary.set_defaults(run=_summary)

    serve = commands.add_parser("serve", help="show the page without TensorBoard")
    serve.add_argument("logdir", metavar="LOGDIR", help="a path or a URL")
    serve.add_argument("--port", type=_port, default=6007, help="0 takes a free one (default: %(default)s)")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, this machine only)")
    serve.set_defaults(run=_serve)

    compare = commands.add_parser("compare", help="compare a trace with a baseline")
    compare.add_argument("a", metavar="A", help="the baseline: a trace file, or a folder that holds one")
    compare.add_argument("b", metavar="B", help="what is compared with it")
    compare.add_argument("--steps-a", metavar="STEPS", help="steps of A by their index, like 3 or 3-7 (default: all)")
    compare.add_argument("--steps-b", metavar="STEPS", help="steps of B")
    compare.add_argument("--fail-on", metavar="PERCENT", type=_percent, help="exit with 1 when the step of B is slower by more, and by more than noise")
    compare.add_argument("--format", choices=("markdown", "csv", "json"), default="markdown", help="(default: %(default)s)")
    compare.add_argument("--no-cache", action="store_true", help="neither use nor keep the result of an import")
    compare.set_defaults(run=_compare)
    return parser


def _percent(text: str) -> float:
    number = float(text)
    if not 0 <= number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is no percentage of at least 0")
    return number


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port, expected 0 to 65535")
    return number


def _summary(options: argparse.Namespace) -> int:
    from torch_tb_profiler.cli.summary import summarise

    return summarise(options.path, as_json=options.json, use_cache=not options.no_cache)


def _serve(options: argparse.Namespace) -> int:
    from torch_tb_profiler.cli.serve import serve

    return serve(options.logdir, options.host, options.port)


def _compare(options: argparse.Namespace) -> int:
    from torch_tb_profiler.cli.compare import compare

    sides = (options.a, options.steps_a), (options.b, options.steps_b)
    return compare(*sides, fail_on=options.fail_on, form=options.format, use_cache=not options.no_cache)


if __name__ == "__main__":
    sys.exit(main())
