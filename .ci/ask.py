"""Runs a command that starts TensorBoard and waits until the plugin lists its runs:
``python .ci/ask.py "tensorboard --logdir=FOLDER"``.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

PATIENCE_SECONDS = 1200.0
ADDRESS = re.compile(r"TensorBoard .* at (http://[^/]+)/")


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def runs(address: str) -> list[str]:
    """Names of the runs that the plugin knows, empty when it does not answer yet."""
    try:
        url = f"{address}/data/plugin/pytorch_profiler/runs"
        with urllib.request.urlopen(url, timeout=10) as reply:
            return [run["name"] for run in json.load(reply)["runs"]]
    except (urllib.error.URLError, OSError):
        return []


def text_of(log: Path) -> str:
    """What the command has printed by now."""
    return log.read_bytes().decode(errors="replace")


def main(command: str) -> int:
    """0 when the plugin lists at least one run in time."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with log.open("wb") as written:
            # A session of its own: the shell's children end with it.
            shell = subprocess.Popen(
                ["bash", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        try:
            while time.monotonic() - began < PATIENCE_SECONDS and shell.poll() is None:
                address = ADDRESS.search(text_of(log))
                found = runs(address[1]) if address else []
                if found:
                    seconds = time.monotonic() - began
                    print(f"{len(found)} runs after {seconds:.1f} s: {', '.join(found)}")
                    return 0
                time.sleep(0.2)
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGTERM)
            shell.wait(30)
        print(f"no run list after {time.monotonic() - began:.1f} s: {command}")
        print(text_of(log)[-6000:])
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
