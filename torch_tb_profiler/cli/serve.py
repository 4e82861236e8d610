"""``torch-tb-profiler serve``: the page without TensorBoard."""

from __future__ import annotations

import argparse

from torch_tb_profiler.runs.logdirs import catalogue_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.standalone import server


def run(options: argparse.Namespace) -> int:
    """See ``serve``."""
    return serve(options.logdir, options.host, options.port)


def serve(logdir: str, host: str, port: int) -> int:
    """Serve until interrupted; the exit code.

    Raises:
        SourceError: the address cannot be used.
    """
    settings = Settings.from_environment()
    catalogue = catalogue_of(logdir, None, settings)
    listening = server(Application(catalogue, settings), host, port)
    catalogue.start()
    shown = f"[{host}]" if ":" in host else host
    print(f"PyTorch profiler at http://{shown}:{listening.port}/ (press Ctrl+C to quit)", flush=True)
    try:
        listening.serve_forever()
    finally:
        listening.server_close()
        catalogue.close()
    return 0
