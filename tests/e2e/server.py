"""A real TensorBoard with the plugin on a folder, in a process of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

PLUGIN = "pytorch_profiler"
START_SECONDS = 60.0


class Server:
    """TensorBoard on a port of its own choice; use as a context manager."""

    def __init__(self, logdir: Path, cache: Path, **settings: str) -> None:
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__, after the process
        self.port = free_port()
        environment = {
            **os.environ,
            "TORCH_TB_PROFILER_CACHE_DIR": str(cache),
            "TORCH_TB_PROFILER_SCAN_SECONDS": "0.5",
        }
        environment.update(
            {f"TORCH_TB_PROFILER_{name.upper()}": value for name, value in settings.items()}
        )
        command = [
            sys.executable,
            "-m",
            "tensorboard.main",
            "--logdir",
            str(logdir),
            "--port",
            str(self.port),
            "--host",
            "127.0.0.1",
        ]
        self.process = subprocess.Popen(
            command, stdout=self._log, stderr=self._log, env=environment, start_new_session=True
        )

    def __enter__(self) -> Server:
        self.wait(lambda: self.get("runs") is not None, START_SECONDS, "the plugin's first answer")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        self._log.close()

    @property
    def url(self) -> str:
        """Where TensorBoard answers."""
        return f"http://127.0.0.1:{self.port}"

    def get(self, route: str, **query: str) -> Any:
        """The JSON of one of the plugin's routes, an error's too; ``None`` when nothing answers."""
        url = f"{self.url}/data/plugin/{PLUGIN}/{route}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=60) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            body = error.read()
            return json.loads(body) if body.startswith(b"{") else None
        except (urllib.error.URLError, OSError):
            return None

    def wait(self, until: Callable[[], Any], seconds: float, what: str) -> Any:
        """The first true value of ``until``.

        Raises:
            AssertionError: it did not come in time, or TensorBoard ended; its output is in the
                message.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            value = until()
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(
            f"waited {seconds} s in vain for {what}; TensorBoard's output:\n{self.output()}"
        )

    def output(self) -> str:
        """The last lines that TensorBoard wrote."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-4000:]

    def runs(self) -> list[dict[str, Any]]:
        """The runs that the plugin knows now."""
        answer = self.get("runs")
        return list(answer["runs"]) if answer and "runs" in answer else []

    def settled(self, seconds: float = 120.0) -> list[dict[str, Any]]:
        """The runs once every span is ready or failed and the scan is over; opens nothing by
        itself.
        """

        def look() -> list[dict[str, Any]] | None:
            answer = self.get("runs")
            if not answer or answer.get("scanning", True):
                return None
            return list(answer["runs"])

        return list(self.wait(look, seconds, "the end of the scan"))

    def answer(self, route: str, run: str, **query: str) -> dict[str, Any]:
        """A route's payload for the first worker of a run, once it is there."""
        worker = next(found for found in self.runs() if found["name"] == run)["workers"][0]
        query = {"run": run, "worker": worker["name"], "span": worker["spans"][0]["name"], **query}
        return dict(
            self.wait(
                lambda: (found := self.get(route, **query)) and "error" not in found and found,
                60,
                f"{route} of {run}",
            )
        )


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def descendants(pid: int) -> list[int]:
    """Process ids below ``pid``, from /proc; empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found
