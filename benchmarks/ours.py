"""One measurement of this package in a fresh process; prints one JSON object.

    python benchmarks/ours.py cold TRACE      import the libraries, read the trace, derive the facts, make the overview (no cache)
    python benchmarks/ours.py write TRACE DIR fill the cache in DIR
    python benchmarks/ours.py warm TRACE DIR  a restarted server: open the trace from DIR and make every view, first and again

The clock starts before the package is imported, as it does for the peers in ``peers.py``.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

START = time.perf_counter()


def views(facts: Any) -> dict[str, Callable[[], Any]]:
    """What each page asks the server for, up to the bytes that go over the wire (before gzip)."""
    import msgspec

    from torch_tb_profiler.analysis.selection import select
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.views.kernels import kernel_payload
    from torch_tb_profiler.views.operators import operator_payload
    from torch_tb_profiler.views.overview import Place, overview_payload

    rows = Settings().max_table_rows
    place = Place(workers=1, rank=None, rank_source="order", world_size=None)
    encode = msgspec.json.encode
    return {
        "overview": lambda: encode(overview_payload(facts, select(facts), place)),
        "operator": lambda: encode(operator_payload(facts, select(facts), "name", rows)),
        "operator_shape": lambda: encode(operator_payload(facts, select(facts), "shape", rows)),
        "kernel": lambda: encode(kernel_payload(facts, select(facts), "name", rows)),
        "kernel_properties": lambda: encode(kernel_payload(facts, select(facts), "properties", rows)),
    }


def cold(path: str) -> dict[str, float]:
    """Wall seconds of each stage and the peak resident memory in MB."""
    from torch_tb_profiler.analysis.derive import derive
    from torch_tb_profiler.importers import read_trace
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.sources.streams import open_text

    loaded = time.perf_counter()
    with open_text(path) as stream:
        trace = read_trace(stream, Settings())
    read = time.perf_counter()
    facts = derive(trace)
    derived = time.perf_counter()
    size = sum(len(make()) for name, make in views(facts).items() if name == "overview")
    end = time.perf_counter()
    return {
        "wall_s": end - START, "libraries_s": loaded - START, "import_s": read - loaded, "facts_s": derived - read, "overview_s": end - derived,
        "events": trace.entries, "inflated_mb": int((trace["chunks"]["offset"] + trace["chunks"]["size"]).max()) / 1e6, "overview_bytes": size,
    }


def warm(path: str, cache: str) -> dict[str, float]:
    """Milliseconds of each view, the first time after a restart and again."""
    from torch_tb_profiler.runs.single import load
    from torch_tb_profiler.settings import Settings

    loaded = time.perf_counter()
    opened = load(path, Settings(cache_dir=cache))
    out = {"open_ms": 1e3 * (time.perf_counter() - loaded), "events": float(opened.trace.entries)}
    for name, make in views(opened.facts).items():
        for when in ("first", "again"):
            begin = time.perf_counter()
            make()
            out[f"{name}_{when}_ms"] = 1e3 * (time.perf_counter() - begin)
    return out


def main(what: str, path: str, cache: str = "") -> None:
    """Run one measurement and print it."""
    if what == "write":
        from torch_tb_profiler.runs.single import load
        from torch_tb_profiler.settings import Settings

        load(path, Settings(cache_dir=cache))
        result: dict[str, float] = {}
    else:
        result = cold(path) if what == "cold" else warm(path, cache)
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
