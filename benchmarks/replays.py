"""How long naming replayed kernels takes: ``python -m benchmarks.replays [KERNELS]``.

One iteration of a server is drawn (``tests/builders/captured_graphs.py``: a graph of 500 kernels, captured for
eight batch sizes) and repeated until the given number of kernels was replayed.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from msgspec.structs import replace

from tests.builders.captured_graphs import Execution, Graph, Node, Recording, other_batch
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.capture_tables import CaptureSource, Collected
from torch_tb_profiler.analysis.facts.device_causes import causes
from torch_tb_profiler.analysis.facts.replay_matching import match_replays
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Trace

KERNELS = 1_000_000
_BATCHES = (1, 2, 4, 8, 16, 24, 32, 64)
_GRAPH = Graph(tuple(Node(f"aten::op{i}", 8, f"kernel_{i % 90}") for i in range(500)))


def repeated(trace: Trace, times: int) -> Trace:
    """The trace ``times`` times, one after the other."""
    spans = trace["spans"]
    length = int((spans["start"] + spans["dur"]).max()) + 1000
    ids = int(spans["correlation"].max()) + 1
    number = np.repeat(np.arange(times), spans.n)
    columns = {key: np.tile(values, times) for key, values in spans.items()}
    columns["start"] = columns["start"] + number * length
    known = columns["correlation"] >= 0
    columns["correlation"] = np.where(known, columns["correlation"] + number * ids, -1)
    columns["ordinal"] = np.arange(len(number))
    return replace(trace, tables=trace.tables | {"spans": Table(spans.spec, columns)})


def main() -> None:
    """Print the time of matching and that of all that leads to it."""
    kernels = int(sys.argv[1]) if len(sys.argv) > 1 else KERNELS
    graphs = other_batch([_GRAPH], 24)
    trace = Execution().add("step[DECODE bs=20]", graphs).trace()
    collected = Collected(repeated(trace, kernels // len(_GRAPH.nodes)))
    for batch in _BATCHES:
        name = f"bs_{batch}.json"
        recording = Recording(other_batch([_GRAPH], batch), batch, "FULL", name)
        collected.add(CaptureSource(name, batch, "FULL"), recording.trace())
    trace = collected.trace()
    tree = call_tree(trace)
    caused = causes(trace, tree, tree.names)
    begun = time.perf_counter(), time.process_time()
    replays = match_replays(trace, tree, caused)
    wall, busy = time.perf_counter() - begun[0], time.process_time() - begun[1]
    named = int((replays.captured >= 0).sum())
    print(
        f"{named} of {len(caused.row)} kernels in {len(replays.launch)} replays named in"
        f" {wall:.2f} s ({busy:.2f} s of processor time)"
    )


if __name__ == "__main__":
    main()
