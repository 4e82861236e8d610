"""One measurement of this package in a fresh process; prints one JSON object.

    python benchmarks/ours.py cold TRACE        import the libraries, read the trace, derive the facts, make the overview (no cache)
    python benchmarks/ours.py resident TRACE    the same with the libraries loaded, by stage
    python benchmarks/ours.py warm TRACE CACHE   a server: every view over its route, first and again; the second call finds the cache filled

The clock starts before the package is imported, as it does for the peers in ``peers.py``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch_tb_profiler.store.model import Facts

START = time.perf_counter()
ROUTES = {
    "overview": "/overview?",
    "operator": "/operator?group=name&",
    "operator_shape": "/operator?group=shape&",
    "operator_stack": "/operator?group=stack&",
    "kernel": "/kernel?group=name&",
    "kernel_properties": "/kernel?group=properties&",
    "one_step": "/operator?group=name&steps=0&",
    "no_cold": "/operator?group=name&skip_cold=1&",
}
"""What the pages ask for."""
PATIENCE_SECONDS = 600.0


def cold(path: str) -> dict[str, Any]:
    """Wall seconds up to the bytes of the overview, in a fresh process like that of the command line: its text is inflated
    while the libraries load.
    """
    from torch_tb_profiler.child_process import OWN_PROCESSES
    from torch_tb_profiler.settings import Settings

    os.environ |= OWN_PROCESSES
    from torch_tb_profiler.runs.import_job import read
    from torch_tb_profiler.sources.places import Place

    trace, facts = read(Place(path), Settings())
    size = overview_bytes(facts)
    return {
        "wall_s": time.perf_counter() - START,
        "events": trace.entries,
        "inflated_mb": int((trace["chunks"]["offset"] + trace["chunks"]["size"]).max()) / 1e6,
        "overview_bytes": size,
    }


def resident(path: str) -> dict[str, Any]:
    """Wall seconds of each stage in a worker process, which has its libraries loaded."""
    from torch_tb_profiler.child_process import OWN_PROCESSES
    from torch_tb_profiler.settings import Settings

    os.environ |= OWN_PROCESSES
    import torch_tb_profiler.views.overview.payload
    import torch_tb_profiler.views.wire  # noqa: F401
    from torch_tb_profiler.analysis.facts.derive import derive
    from torch_tb_profiler.importers import read_trace
    from torch_tb_profiler.sources.places import Place
    from torch_tb_profiler.sources.streams import open_text

    loaded = time.perf_counter()
    with open_text(Place(path)) as stream:
        trace = read_trace(stream, Settings())
    read = time.perf_counter()
    facts = derive(trace)
    derived = time.perf_counter()
    overview_bytes(facts)
    end = time.perf_counter()
    return {
        "resident_s": end - loaded,
        "import_s": read - loaded,
        "facts_s": derived - read,
        "overview_s": end - derived,
    }


def overview_bytes(facts: Facts) -> int:
    """Make the overview's JSON."""
    from torch_tb_profiler.analysis.figures.selection import select
    from torch_tb_profiler.views.overview.payload import RankInJob, overview_payload
    from torch_tb_profiler.views.wire import to_json

    member = RankInJob(workers=1, rank=None, rank_source="order", world_size=None)
    return len(to_json(overview_payload(facts, select(facts), member)))


def warm(path: str, cache: str) -> dict[str, Any]:
    """Milliseconds of each route's reply, gzip included, the first time after a start and again;
    and of the start until the run is ready.

    On an empty cache that is a cold start; the next one is warm.
    """
    from werkzeug.test import Client

    from torch_tb_profiler.runs.catalogue import catalogue_of
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.web.application import Application

    loaded = time.perf_counter()
    settings = Settings(cache_dir=cache, settle_seconds=0.0, scan_seconds=0.2)
    logdir = os.path.join(cache, "logdir")
    run = os.path.join(logdir, "run")
    trace = os.path.join(run, "worker0.pt.trace.json" + (".gz" if path.endswith(".gz") else ""))
    if not os.path.exists(trace):
        os.makedirs(run)
        os.symlink(os.path.realpath(path), trace)
    catalogue = catalogue_of(logdir, settings)
    catalogue.start()
    client = Client(Application(catalogue, settings))
    span = ready(client)
    out: dict[str, Any] = {"ready_ms": 1e3 * (time.perf_counter() - loaded)}
    for name, route in ROUTES.items():
        for when in ("first", "again"):
            begin = time.perf_counter()
            reply = client.get(
                f"{route}run=run&worker=worker0&span={span}", headers={"Accept-Encoding": "gzip"}
            )
            out[f"{name}_{when}_ms"] = 1e3 * (time.perf_counter() - begin)
            if reply.status_code != 200:
                raise SystemExit(
                    f"{route} answered {reply.status_code}: {reply.get_data(as_text=True)[:200]}"
                )
    catalogue.close()
    return out


def ready(client: Any) -> str:
    """Wait until the only trace is there; its span's name."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        runs = client.get("/runs").json["runs"]
        spans = [s for run in runs for worker in run["workers"] for s in worker["spans"]]
        if spans and spans[0]["state"] == "ready":
            return str(spans[0]["name"])
        time.sleep(0.005)
    raise SystemExit("the trace did not become ready")


def main(what: str, path: str, cache: str = "") -> None:
    """Run one measurement and print it."""
    measured = {
        "cold": lambda: cold(path),
        "resident": lambda: resident(path),
        "warm": lambda: warm(path, cache),
    }
    print(json.dumps(measured[what]()))


if __name__ == "__main__":
    main(*sys.argv[1:])
