"""``mcp [LOGDIR]``: tools for assistants over standard input and output, or ``--http [--port N]`` on 127.0.0.1
([guide](guide/assistants.md))
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from torch_tb_profiler.cli.argument_types import path_or_url, port
from torch_tb_profiler.errors import MissingPackage, install

HELP = "serve tools for assistants (Model Context Protocol)"
HOST = "127.0.0.1"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "logdir", metavar="LOGDIR", nargs="?", default=".", type=path_or_url, help="default: ."
    )
    parser.add_argument(
        "--http",
        action="store_true",
        help="streamable HTTP on 127.0.0.1 instead of standard input and output",
    )
    parser.add_argument("--port", type=port, default=6008, help="(default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    if find_spec("mcp") is None:
        raise MissingPackage(
            "The MCP server needs the package mcp, which is not installed.",
            install("mcp", "duckdb", "pyarrow"),
        )
    from mcp.server.transport_security import TransportSecuritySettings

    from torch_tb_profiler.cli.agents.server import server
    from torch_tb_profiler.sources.places import Place

    made = server(Place(options.logdir))
    if not options.http:
        made.run("stdio")
        return 0
    print(f"MCP at http://{HOST}:{options.port}/mcp (press Ctrl+C to quit)", file=sys.stderr)
    # Pages of other sites must not reach it through the browser.
    own = [f"{name}:{options.port}" for name in (HOST, "localhost")]
    security = TransportSecuritySettings(
        allowed_hosts=own, allowed_origins=[f"http://{name}" for name in own]
    )
    made.run("streamable-http", host=HOST, port=options.port, transport_security=security)
    return 0
