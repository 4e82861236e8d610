"""``serve LOGDIR``: the page without TensorBoard"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import socket
import threading
from collections.abc import Iterator

from torch_tb_profiler.cli.argument_types import path_or_url, port
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.settings import Settings

HELP = "serve the page without TensorBoard"
END_SECONDS = 4.0
"""What ending may take: then it ends whatever still runs, such as a look at a disk that does not answer."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("logdir", metavar="LOGDIR", type=path_or_url, help="a path or a URL")
    parser.add_argument(
        "--port", type=port, default=6007, help="0 picks a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: %(default)s, this machine only)",
    )
    parser.add_argument(
        "--allowed-hosts",
        metavar="NAMES",
        default="",
        help="names that it is reached by beside this machine's own, such as one of a proxy:"
        " a.example.com,*.b.example.com",
    )
    parser.add_argument(
        "--source",
        metavar="FOLDER",
        action="append",
        type=path_or_url,
        help="a folder of your own program, whose functions Lines and Memory show with what they take; may be given several times"
        " (default: none is read)",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until interrupted. SIGUSR1 writes the stacks of all threads to standard error."""
    from torch_tb_profiler.runs.catalogue import catalogue_of
    from torch_tb_profiler.web.application import Application
    from torch_tb_profiler.web.standalone import server

    logdir, host = options.logdir, options.host
    folders = os.pathsep.join(options.source) if options.source else None
    settings = Settings.from_environment(source_folders=folders)
    catalogue = catalogue_of(logdir, settings)
    allowed = [name for name in options.allowed_hosts.split(",") if name.strip()]
    listening = server(Application(catalogue, settings), host, options.port, allowed)
    # Containers stop with SIGTERM: the processes that read traces must end, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1)
    try:
        catalogue.start()
        everywhere = host in ("0.0.0.0", "::")
        shown = socket.gethostname() if everywhere else f"[{host}]" if ":" in host else host
        for line in _remarks(logdir, listening.port, everywhere, host):
            say(line)
        print(
            f"PyTorch profiler at http://{shown}:{listening.port}/ (press Ctrl+C to quit)",
            flush=True,
        )
        listening.serve_forever()
    finally:
        _end_within(END_SECONDS)
        listening.server_close()
        catalogue.close()
    # Threads that still answer must not meet an interpreter that is being taken down.
    os._exit(0)


def _end_within(seconds: float) -> None:
    """End this process after so long, whatever its threads wait for; what it started ends with it."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()


def _remarks(logdir: str, port: int, everywhere: bool, host: str) -> Iterator[str]:
    if "://" not in logdir and not os.path.exists(os.path.expanduser(logdir)):
        yield f"{logdir} does not exist yet; the page shows it once it does."
    if everywhere:
        yield "Anyone who can reach this machine can read the traces."
    elif os.environ.get("SSH_CONNECTION") and host in ("127.0.0.1", "localhost"):
        yield f"From your own machine: ssh -L {port}:{host}:{port} {socket.gethostname()}"
