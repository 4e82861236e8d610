"""``torch-tb-profiler mcp``: the tools of ``server.py`` for assistants, over standard input and output or HTTP on this machine."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from torch_tb_profiler.errors import MissingPackage

HOST = "127.0.0.1"


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves; the exit code.

    Raises:
        MissingPackage: the package ``mcp`` is not installed.
    """
    if find_spec("mcp") is None:
        raise MissingPackage(
            "The MCP server needs the package mcp, which is not installed.",
            'pip install "torch_tb_profiler[mcp]"',
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
