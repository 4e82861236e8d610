"""Stand-ins for the import: what a worker process does with a file is written in the file."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from torch_tb_profiler.errors import NotATrace, SourceError
from torch_tb_profiler.runs.import_job import outcome_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_text
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.fact_schema import FACT_TABLES
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.schema import TRACE_TABLES
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.store.summary import Summary

Report = Callable[[int, "int | None"], None]
HEAD = '{"traceEvents":[{"ph":"X"}]'


def content(**orders: object) -> str:
    """A file that is taken for a trace and carries orders for ``obey``."""
    return HEAD + "".join(f', "{key}": "{value}"' for key, value in orders.items()) + "}"


def obey(location: str, sidecar_path: str, settings: Settings, report: Report) -> dict[str, Any]:
    """Note the start, do what the file orders, and write a sidecar with what it says of itself."""
    with open_text(Place(location), settings) as stream:
        text = stream.read(1 << 20).decode()
    orders = dict(re.findall(r'"(\w+)": "([^"]*)"', text))
    with open(Path(settings.cache_dir) / "begun.log", "a") as log:
        log.write(f"{os.path.basename(location)}\n")
    report(1, 2)
    _misbehave(orders)
    while "until" in orders and not os.path.exists(orders["until"]):
        report(1, 2)
        time.sleep(0.02)
    summary = Summary(
        rank=_number(orders, "rank"),
        world_size=_number(orders, "world"),
        synthetic=orders.get("synthetic") == "yes",
    )
    trace, facts = small(summary, len(text))
    sidecar.write(Path(sidecar_path), trace, facts)
    return asdict(outcome_of(trace, facts))


def _misbehave(orders: dict[str, str]) -> None:
    match orders.get("do"):
        case "hang":
            time.sleep(600)
        case "hang with a child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            Path(orders["note"]).write_text(str(child.pid))
            time.sleep(600)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "leave":
            os._exit(3)
        case "raise":
            raise ValueError("boom")
        case "allocate":
            bytearray(512 << 20)
        case "swallow":
            raise MemoryError
        case "refuse":
            raise NotATrace("There is nothing in it.")
        case "wait for":
            if not os.path.exists(orders["note"]):
                raise SourceError("The server does not answer.")
        case "print":
            print('{"outcome": "printed by a library"}', flush=True)
        case _:
            pass


def small(summary: Summary, entries: int) -> tuple[Trace, Facts]:
    """A trace of no rows."""
    strings = StringTable.of([])
    trace = Trace(strings, {s.name: s.empty() for s in TRACE_TABLES}, {}, DefectCounts(), entries)
    return trace, Facts(strings, {s.name: s.empty() for s in FACT_TABLES}, summary, DefectCounts())


def _number(orders: dict[str, str], key: str) -> int | None:
    return int(orders[key]) if key in orders else None
