"""Entry point of ``torch-tb-profiler``; ``commands.py`` lists the subcommands.

Exit codes: 0 done, 1 slower than ``diff --fail-on`` allows, 2 nothing could be read or wrong
arguments.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torch_tb_profiler._version import __version__
from torch_tb_profiler.child_process import OWN_PROCESSES
from torch_tb_profiler.cli.arguments import contradiction
from torch_tb_profiler.cli.commands import COMMANDS, command_of
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.errors import ProfilerError, SidecarError
from torch_tb_profiler.store.mapped_files import expect_readable
from torch_tb_profiler.untrusted import printable

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    os.environ |= {**OWN_PROCESSES, **os.environ}
    # A process that ends need not look for garbage.
    atexit.register(gc.disable)
    given = sys.argv[1:] if arguments is None else arguments
    options = _parser(given).parse_args(given)
    if clash := contradiction(options):
        options.refuse(clash)
    try:
        code = _carried_out(options)
        sys.stdout.flush()
        return code
    except ProfilerError as error:
        say(f"{error.message} {error.hint}")
        return FAILED
    except BrokenPipeError:
        # `| head` is no error; closing now avoids a message at exit.
        sys.stderr.close()
        return 0
    except OSError as error:
        # Such as a full disk behind `> FILE`; flushing the rest at exit would fail again.
        where = f"{error.filename}: " if error.filename else ""
        say(f"{where}{error.strerror or error}.")
        sys.stdout = None
        return FAILED
    except KeyboardInterrupt:
        return 130


class _Parser(argparse.ArgumentParser):
    """An argument that it repeats may hold anything: a shell puts in names of files. Options may stand before, between and
    behind the others, of which some may be left out: argparse alone would take those as left out that follow an option.
    """

    _between = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, which calls this for subcommands, and again for each half of what is intermixed."""
        optional = any(one.nargs == "?" and not one.option_strings for one in self._actions)
        if self._between or not optional:
            return super().parse_known_args(args, namespace)
        self._between = True
        return self.parse_known_intermixed_args(args, namespace)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        super()._print_message(printable(message, lines=True), file)


class _Version(argparse.Action):
    """Says also why nothing compiled is used, where that is so."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from torch_tb_profiler.native.library import why_not

        slower = f" (pure Python: {why})" if (why := why_not()) else ""
        print(f"{__version__}{slower}")
        parser.exit()


def _carried_out(options: argparse.Namespace) -> int:
    """The exit code of a command, which is followed by the files that look like traces and could not be read. Damage of a
    kept file shows only where it is read: the file is removed then, and the command begins anew.
    """
    seen: set[str] = set()
    while True:
        options.unreadable = []
        try:
            with expect_readable():
                code: int = options.run(options)
        except SidecarError as damage:
            if damage.message in seen:
                raise
            seen.add(damage.message)
        else:
            for item in options.unreadable:
                if not item.rejected:
                    say(item.text)
            return code


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """A parser of all commands, or of the one that comes first: no other is imported then."""
    parser = _Parser(prog="torch-tb-profiler", description="Analyze PyTorch profiler traces.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in given[:1] if given and given[0] in COMMANDS else COMMANDS:
        command = command_of(name)
        first = next(other for other in COMMANDS if COMMANDS[other] == COMMANDS[name])
        text = command.HELP if name == first else f"same as {first}"
        subparser = commands.add_parser(name, help=text, description=text)
        command.declare(subparser)
        subparser.set_defaults(run=command.run, refuse=subparser.error)
    return parser


if __name__ == "__main__":
    sys.exit(main())
