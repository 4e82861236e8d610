"""Kernels of CUDA graphs in Nsight Systems exports: replayed by graph launches, named by the
capture.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis.pyprof.rows import rows_of, texts
from tests.builders.nsight import PID, TID, NsightFile, global_id
from tests.builders.tables import NEWEST, OLDER
from tests.importers.sqlite.asked import read
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.flags import NoOperator
from torch_tb_profiler.analysis.facts.span_lookup import captured_at
from torch_tb_profiler.analysis.timeline.arrows import arrows_of
from torch_tb_profiler.store.strings import NONE

CLONE = 100
"""What instantiating a graph adds to the numbers of its nodes, here."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report1.sqlite"


def capture(
    file: NsightFile, node: int, time: int, tid: int = TID, table: str = "CUDA_GRAPH_NODE_EVENTS"
) -> None:
    """A launch during graph capture: the call, the node that it creates, and the node's clone."""
    file.call("cudaLaunchKernel_v7000", time, time + 50, tid=tid)
    file.add(
        table,
        start=time,
        end=time + 50,
        eventClass=77,
        globalTid=global_id(PID, tid),
        graphNodeId=node,
    )
    file.add(
        table,
        start=9000,
        end=9001,
        eventClass=96,
        globalTid=global_id(PID, TID),
        graphNodeId=node + CLONE,
        originalGraphNodeId=node,
    )


def write_captured(path: Path, replays: int = 3, version: str = NEWEST) -> None:
    """Forward and backward of a layer, captured once and replayed, then run eagerly."""
    table = "CUDA_GRAPH_NODE_EVENTS" if version == NEWEST else "CUDA_GRAPH_EVENTS"
    with NsightFile(path, version=version) as file:
        file.device()
        file.call("cudaStreamBeginCapture_v10000", 100, 150)
        file.push_pop("layer:fc1", 190, 2000)
        file.push_pop(
            "aten::addmm, seq = 7, op_id = 1, sizes = [[128], [64, 256], [256, 128]]", 200, 1000
        )
        capture(file, 1, 300, table=table)
        file.push_pop("AddmmBackward0, seq = 7, op_id = 2", 3000, 5000, TID + 1)
        file.push_pop("aten::mm, op_id = 3", 3100, 4900, TID + 1)
        capture(file, 2, 4000, TID + 1, table=table)
        for replay in range(replays):
            time = 10_000 * (replay + 1)
            launch = file.call("cudaGraphLaunch_v10000", time, time + 50)
            file.kernel("gemm_forward", time + 100, time + 200, launch, graphNodeId=1 + CLONE)
            file.kernel("gemm_backward", time + 200, time + 400, launch, graphNodeId=2 + CLONE)
            file.kernel(
                "captured before the recording", time + 400, time + 500, launch, graphNodeId=999
            )


@pytest.mark.parametrize("version", [OLDER, NEWEST])
def test_arrows_lead_back_to_the_capture_and_the_launch_stays_the_launch(
    version: str, path: Path
) -> None:
    write_captured(path, version=version)
    trace = read(path)
    facts = derive(trace)
    kinds, arrows = arrows_of(trace, facts, np.arange(trace["spans"].n))
    assert [(kind["kind"], kind["label"], kind["total"], kind["untied"]) for kind in kinds] == [
        ("launch", "launch → device work", 9, 0),
        ("graph_capture", "graph capture → replay", 6, 0),
    ]
    mine = arrows["kind"] == 1
    named = trace.strings.many(trace["spans"]["name"])
    pairs = [
        (named[i], named[j])
        for i, j in zip(
            arrows["source"][mine].tolist(), arrows["target"][mine].tolist(), strict=True
        )
    ]
    assert (
        sorted(pairs)
        == [("cudaLaunchKernel", "gemm_backward")] * 3 + [("cudaLaunchKernel", "gemm_forward")] * 3
    )
    kernels = facts["kernels"]
    assert {NoOperator(reason) for reason in kernels["reason"].tolist()} == {NoOperator.GRAPH}
    assert {named[row] for row in facts["span_links"]["launch"].tolist() if row >= 0} == {
        "cudaGraphLaunch"
    }
    assert trace.defects.as_dict() == {}


def test_pyprofs_table_names_replayed_kernels_by_what_was_captured(path: Path) -> None:
    write_captured(path, replays=2)
    rows = rows_of(read(path))
    assert (
        texts(rows, "kernel", "layer", "op", "dir", "seq", "sub", "flops")
        == [
            "gemm_forward fc1 addmm fprop 7 0 ~",
            "gemm_backward fc1 addmm bprop 7 0 ~",
            "captured before the recording ~ ~ ~ ~ 0 ~",
        ]
        * 2
    )
    assert [row["params"] is None for row in rows] == [False, False, True] * 2


def test_work_that_begins_at_once_on_one_stream_is_told_apart(path: Path) -> None:
    with NsightFile(path) as file:
        for node in (1, 2):
            capture(file, node, 100 * node)
        for node in (1, 2):
            file.kernel(f"kernel {node}", 10_000, 10_100, 77, graphNodeId=node)
    trace = read(path)
    found, start, named = (
        captured_at(trace),
        trace["spans"]["start"],
        trace.strings.many(trace["spans"]["name"]),
    )
    assert {
        named[row]: int(start[found[row]]) + 100 for row in np.flatnonzero(found >= 0).tolist()
    } == {"kernel 1": 100, "kernel 2": 200}


def test_a_replay_whose_launch_is_lost_is_not_launched_by_its_capture(path: Path) -> None:
    with NsightFile(path) as file:
        capture(file, 3, 100)
        file.kernel("gemm", 10_000, 10_100, 77, graphNodeId=3)
    facts = derive(read(path))
    assert facts["span_links"]["launch"].tolist() == [NONE, NONE]


def test_a_node_that_is_its_own_original_or_of_another_process_ends(path: Path) -> None:
    with NsightFile(path) as file:
        for node, original in ((3, 4), (4, 3)):
            file.add(
                "CUDA_GRAPH_NODE_EVENTS",
                start=100 * node,
                end=101 * node,
                globalTid=global_id(PID, TID),
                graphNodeId=node,
                originalGraphNodeId=original,
            )
        file.kernel("mine", 1000, 1100, 7, graphNodeId=3)
        file.kernel("another's", 1000, 1100, 7, graphNodeId=3, pid=PID + 1)
    flows = read(path)["flows"]
    assert sorted(map(chr, flows["phase"].tolist())) == ["f", "s"]


def test_a_trace_without_graphs_has_no_captures(path: Path) -> None:
    with NsightFile(path) as file:
        file.kernel("gemm", 12_000, 15_000, (2000, 3000))
    assert captured_at(read(path)).tolist() == [NONE, NONE]
