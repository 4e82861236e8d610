"""Starts TensorBoard on a folder and waits until the plugin lists its runs: ``python .ci/ask.py
TENSORBOARD LOGDIR``.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PATIENCE_SECONDS = 60.0


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def runs(url: str) -> list[str]:
    """Names of the runs that the plugin knows, empty when it does not answer yet."""
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return [run["name"] for run in json.load(reply)["runs"]]
    except (urllib.error.URLError, OSError):
        return []


def main(tensorboard: str, logdir: str) -> int:
    """0 when the plugin lists at least one run in time."""
    port = free_port()
    began = time.monotonic()
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [tensorboard, "--logdir", logdir, "--port", str(port)], stdout=log, stderr=log
        )
        try:
            while time.monotonic() - began < PATIENCE_SECONDS and server.poll() is None:
                found = runs(f"http://127.0.0.1:{port}/data/plugin/pytorch_profiler/runs")
                if found:
                    print(
                        f"{len(found)} runs after {time.monotonic() - began:.1f} s:"
                        f" {', '.join(found)}"
                    )
                    return 0
                time.sleep(0.2)
        finally:
            server.terminate()
            server.wait(30)
        log.seek(0)
        print(
            f"no run list after {time.monotonic() - began:.1f} s; TensorBoard"
            f" said:\n{log.read().decode(errors='replace')[-3000:]}"
        )
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
