"""The route of the Distributed view: the original's cases, the project's own samples, and runs that
are not whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from werkzeug.test import Client

from tests.builders.listed import trace_listed
from tests.runs.written_run import WrittenRun, sample
from tests.web import original_ranks
from tests.web.served import body
from torch_tb_profiler.analysis.distributed import matching
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.distributed.wire import DistributedPayload
from torch_tb_profiler.web.application import Application

US = 1000


def payload(run: WrittenRun, worker: str = "") -> DistributedPayload:
    """The route's answer."""
    name = worker or run.run.workers[0].name
    client = Client(Application(run, Settings()))  # type: ignore[arg-type]
    response = client.get(f"/distributed?run=run&worker={name}&span=1")
    assert response.status_code == 200
    return msgspec.json.decode(body(response), type=DistributedPayload, strict=True)


def shares(found: DistributedPayload, worker: int, step: int = 0) -> list[float]:
    """Computation, overlap, communication and other in µs, in the original's order."""
    columns = found.overlap
    values = (
        columns.computation_ns,
        columns.overlap_ns,
        columns.communication_ns,
        columns.other_ns,
    )
    return [(column[worker][step] or 0) / US for column in values]


def waits(found: DistributedPayload, worker: int, step: int = 0) -> list[float]:
    """Transfer, waiting and not split in µs."""
    columns = found.waiting
    return [
        (column[worker][step] or 0) / US
        for column in (columns.transfer_ns, columns.waiting_ns, columns.unsplit_ns)
    ]


def operations(found: DistributedPayload, worker: int) -> dict[str, tuple[Any, ...]]:
    """Kind → calls, bytes of all calls, bytes of one, time and transfer in µs: the original's
    columns but for its means.
    """
    rows = found.operations
    return {
        kind: (
            rows["calls"][i],
            rows["calls"][i] * (rows["bytes"][i] or 0),
            rows["bytes"][i],
            rows["total_ns"][i] / US,
            (rows["transfer_ns"][i] or 0) / US,
        )
        for i, kind in enumerate(rows["kind"])
        if rows["worker"][i] == worker
    }


GLOO_WAITS = [[75, 34, 0], [78, 20, 0]]
GLOO_OPERATIONS = [
    {"broadcast": (3, 637440, 212480, 63, 41), "all_reduce": (2, 16392000, 8196000, 46, 34)},
    {"broadcast": (3, 637440, 212480, 44, 44), "all_reduce": (2, 16392000, 8196000, 54, 34)},
]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (original_ranks.GLOO_GPU, [[31, 70, 39, 16], [16, 54, 44, 32]]),
        (original_ranks.GLOO_CPU, [[47, 74, 35, 0], [36, 64, 34, 12]]),
    ],
    ids=["gloo_gpu", "gloo_cpu"],
)
def test_the_originals_gloo_cases(case: tuple[str, ...], expected: list[list[int]]) -> None:
    found = payload(WrittenRun(original_ranks.traces(case)))
    assert [shares(found, worker) for worker in (0, 1)] == expected
    assert [waits(found, worker) for worker in (0, 1)] == GLOO_WAITS
    assert [operations(found, worker) for worker in (0, 1)] == GLOO_OPERATIONS
    assert (found.matched, found.unmatched, found.ready, found.progress) == (5, [], 2, 1.0)
    assert found.clock.startswith("The traces do not align the workers' clocks")


def test_the_originals_nccl_case() -> None:
    """Its last version counts the host's calls (0+75 and 160+75) as latency and as data transfer;
    its first version has these figures of the kernels.
    """
    found = payload(WrittenRun(original_ranks.traces(original_ranks.NCCL)))
    assert [waits(found, worker) for worker in (0, 1)] == [[1074, 498, 0], [1074, 15, 0]]
    assert operations(found, 0) == {
        "broadcast": (1, 212480, 212480, 16, 16),
        "all_reduce": (1, 8196000, 8196000, 1556, 1058),
    }
    assert operations(found, 1) == {
        "broadcast": (1, 212480, 212480, 31, 16),
        "all_reduce": (1, 8196000, 8196000, 1058, 1058),
    }
    # Within the original's step, the host's 235 µs, that version says [32, 73, 16 + 73 ...]; the
    # step here lasts until its device work ends.
    # Worker 0: kernel 130 to 291, collectives 16 to 32 and 162 to 1718, step 0 to 1718. Worker 1:
    # 30 to 191; 8 to 39 and 562 to 1620; 0 to 1620.
    assert shares(found, 0) == [162 - 130, 291 - 162, 16 + 1718 - 291, 16 + 130 - 32]
    assert shares(found, 1) == [191 - 39, 39 - 30, 30 - 8 + 1058, 8 + 562 - 191]


def test_the_originals_user_annotation() -> None:
    """kineto#640: a single annotation is communication."""
    found = payload(
        WrittenRun(
            {
                "worker0": trace_listed(
                    '1 note nccl:all_reduce@10+20 {"Input Dims": [[4]], "Input type": ["float"]}'
                )
            }
        )
    )
    assert found.workers[0].collectives == 1
    assert operations(found, -1) == {"all_reduce": (1, 16, 16, 20, 0)}
    assert found.operations["waiting_ns"] == [None, None]
    assert [one.what for one in found.missing] == ["Waiting and who is late"]
    assert "those of the host's calls" in found.notes[0]


def test_a_limit_of_matching_is_told_where_there_are_others_to_match_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matching, "MOST_COLLECTIVES", 1)
    rank = "1 note nccl:all_reduce@10+20\n1 note nccl:all_reduce@40+20"
    both = payload(WrittenRun({name: trace_listed(rank) for name in ("a", "b")})).notes
    assert any("nothing is said of waiting in the other 2" in note for note in both)
    assert not any(
        "matched" in note for note in payload(WrittenRun({"a": trace_listed(rank)})).notes
    )


def test_the_four_ranks_over_gloo(samples: Path) -> None:
    found = payload(sample(str(samples / "ddp_gloo")))
    assert [worker.rank for worker in found.workers] == [0, 1, 2, 3]
    assert {worker.backend for worker in found.workers} == {"gloo"}
    assert [worker.node for worker in found.workers] == ["sample"] * 4
    assert (found.matched, found.unmatched, found.steps) == (
        12,
        [],
        [f"ProfilerStep#{n}" for n in (3, 4, 5, 6)],
    )
    assert all(
        worker.offset_ns is not None and worker.error_ns is not None and worker.error_ns < 10**6
        for worker in found.workers
    )
    rows = found.operations
    # The model's 16 × 3 × 3 + … parameters: two buckets of gradients and the loss of one float,
    # once a step and rank.
    assert sorted(
        (rows["bytes"][i] or 0, rows["calls"][i])
        for i in range(len(rows["kind"]))
        if rows["worker"][i] == -1
    ) == [(4, 16), (132096, 16), (273448, 16)]
    assert set(rows["kind"]) == {"all_reduce"}
    assert set(rows["dtype"]) == {"float"}
    assert set(rows["group_size"]) == {4}


def test_a_step_of_the_four_ranks_by_hand(samples: Path) -> None:
    """Worker 0 against the regions of its trace, read here from the events."""
    run = sample(str(samples / "ddp_gloo"))
    found = payload(run)
    traces = [run.open("run", f"rank{rank}", "1") for rank in range(4)]
    begin = [trace.trace.base_ns + trace.trace.origin_ns for trace in traces]
    regions = []
    for trace, offset in zip(traces, begin, strict=True):
        spans, strings = trace.trace["spans"], trace.trace.strings
        rows = [
            row for row in range(spans.n) if strings[int(spans["name"][row])] == "gloo:all_reduce"
        ]
        regions.append(
            [
                (
                    int(spans["start"][row]) + offset,
                    int(spans["start"][row] + spans["dur"][row]) + offset,
                )
                for row in rows
            ]
        )
    busy: set[int] = set()
    moving: set[int] = set()
    for number in range(
        3, 6
    ):  # the second step's; gloo runs several at once, so moments are counted, by µs
        (own, end), last = regions[0][number], max(ranks[number][0] for ranks in regions)
        busy |= set(range(own // US, end // US))
        moving |= set(range(max(own, last) // US, end // US))
    found_us = [
        (column[0][1] or 0) / US for column in (found.waiting.waiting_ns, found.waiting.transfer_ns)
    ]
    assert found_us == pytest.approx([len(busy - moving), len(moving)], abs=5)
    assert found.waiting.unsplit_ns[0][1] == 0


def test_the_four_ranks_began_to_record_one_after_the_other(samples: Path) -> None:
    """Rank 1 began 14 ms after rank 0, which waited 12 ms for it in the first collective; no other
    collective takes so long.
    """
    found = payload(sample(str(samples / "ddp_gloo")))
    assert (found.skew_ns, found.left_out) == (14_124_418, 1)
    assert [(row[0] or 0) > 0 for row in found.waiting.unsplit_ns] == [True] * 4
    assert not any(value for row in found.waiting.unsplit_ns for value in row[1:])


@pytest.mark.parametrize("asked", ["rank0", "rank5"])
def test_any_worker_tells_the_same(samples: Path, asked: str) -> None:
    run = sample(str(samples / "synthetic_ddp8"))
    assert payload(run, asked) == payload(run, "rank3")


def test_a_run_that_becomes_ready() -> None:
    run = WrittenRun(original_ranks.traces(original_ranks.GLOO_CPU))
    run.waiting = {"worker1"}
    found = payload(run, "worker0")
    assert (found.ready, found.matched) == (1, 0)
    assert 0.5 < found.progress < 1
    assert [worker.state for worker in found.workers] == ["ready", "waiting"]
    assert found.overlap.computation_ns[1] == [None]
    assert found.missing == []
    run.waiting = set()
    assert payload(run, "worker0").matched == 5


def test_a_worker_that_failed() -> None:
    run = WrittenRun(original_ranks.traces(original_ranks.GLOO_CPU))
    run.failing = {"worker1"}
    found = payload(run, "worker0")
    assert [(worker.state, worker.message) for worker in found.workers] == [
        ("ready", ""),
        ("failed", "The insight could not be made: it is too large."),
    ]
    assert (found.ready, found.progress) == (1, 1.0)
    assert found.notes[0].startswith("The recording of rank 1 could not be read")


def test_a_run_without_collectives() -> None:
    found = payload(WrittenRun({name: trace_listed("1 op aten::mm@0+10") for name in ("a", "b")}))
    assert [one.what for one in found.missing] == ["Collectives"]
    assert found.blame == []
    assert [found.overlap.computation_ns, found.overlap.other_ns] == [[[10 * US]] * 2, [[0]] * 2]


def test_an_empty_trace() -> None:
    found = payload(WrittenRun({"a": trace_listed("")}))
    assert (found.steps, found.operations["kind"], found.matched) == ([], [], 0)


def test_nodes_and_processes_come_from_the_name() -> None:
    names = ("node_b_4711", "other", "rank-34.Jul_15_10_52_41")
    found = payload(WrittenRun({name: trace_listed("1 op aten::mm@0+10") for name in names}))
    assert [(worker.node, worker.process) for worker in found.workers] == [
        ("node_b", "4711"),
        ("", "13721"),
        ("", "13721"),
    ]
