"""A web server of traces that is slow and fails: the object store of ``soak.py``.

    python benchmarks/soak_store.py FOLDER SEED

Prints its port. Of the replies 60 % are right, the others are late by up to two seconds, a 500 or a 503, end in
the middle, or promise another length than they have.
"""

from __future__ import annotations

import functools
import http.server
import random
import sys
import time
from typing import Any

FAULTS = ("late", "failing", "cut", "wrong length", "closed")
SHARE = 0.4


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder with index pages, badly."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *words: Any, chance: random.Random, **named: Any) -> None:
        self.chance = chance
        super().__init__(*words, **named)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """A reply, perhaps a faulty one."""
        fault = self.chance.choice(FAULTS) if self.chance.random() < SHARE else ""
        if fault == "late":
            time.sleep(2 * self.chance.random())
        elif fault == "failing":
            self.send_error(self.chance.choice((500, 503)))
            return
        elif fault == "closed":
            self.close_connection = True
            return
        elif fault:
            self._cut(fault)
            return
        super().do_GET()

    def _cut(self, fault: str) -> None:
        try:
            with open(self.translate_path(self.path), "rb") as file:
                body = file.read()
        except OSError:  # an index page
            self.send_error(500)
            return
        promised = len(body) if fault == "cut" else len(body) // 2
        self.send_response(200)
        self.send_header("Content-Length", str(promised))
        self.end_headers()
        self.wfile.write(body[: len(body) // 3] if fault == "cut" else body)
        self.close_connection = True


class Store(http.server.ThreadingHTTPServer):
    """Prints no tracebacks of clients that went away."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing."""


def main(folder: str, seed: str) -> None:
    """Serve until the process is ended."""
    handler = functools.partial(Handler, directory=folder, chance=random.Random(int(seed)))
    store = Store(("127.0.0.1", 0), handler)
    print(store.server_port, flush=True)
    store.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
