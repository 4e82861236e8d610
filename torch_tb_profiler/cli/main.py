"""Entry point of ``torch-tb-profiler``: reads the arguments; what the subcommands do is in modules of their name.

Exit codes: 0 done, 2 nothing could be read or wrong arguments.
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
    return parser


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


if __name__ == "__main__":
    sys.exit(main())
