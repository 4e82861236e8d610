"""The routes beside ``/distributed``: its map and its process groups, on the project's own samples and on real traces."""

from __future__ import annotations

from typing import Any, cast, get_args

import msgspec
import pytest
from werkzeug.test import Client

from tests.conftest import REAL_TRACES, REPOSITORY
from tests.runs.written_run import WrittenRun, sample
from tests.web.served import body
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.distributed.process_groups import ProcessGroupsPayload
from torch_tb_profiler.views.distributed.wire import (
    DistributedMapPayload,
    DistributedPayload,
    Measure,
)
from torch_tb_profiler.web.application import Application


def answer(run: WrittenRun, route: str, wire: type[Any], **more: str) -> Any:
    query = {"run": "run", "worker": run.run.workers[0].name, "span": "1", **more}
    response = Client(Application(run, Settings())).get(f"/distributed{route}", query_string=query)  # type: ignore[arg-type]
    assert response.status_code == 200, body(response)
    return msgspec.json.decode(body(response), type=wire, strict=True)


@pytest.fixture(name="ddp8", scope="module")
def _ddp8() -> WrittenRun:
    return sample(str(REPOSITORY / "samples" / "synthetic_ddp8"))


def shown(run: WrittenRun, measure: str) -> DistributedMapPayload:
    return cast(
        "DistributedMapPayload", answer(run, "/map", DistributedMapPayload, measure=measure)
    )


def test_the_straggler_and_the_stalled_rank_are_far_above_the_others(ddp8: WrittenRun) -> None:
    late = shown(ddp8, "late")
    assert [item.worker for item in late.outliers] == [5, 2]
    assert late.outliers[0].text.startswith("Rank 5: ")
    assert format_ns(late.means_ns[5]) in late.outliers[0].text
    assert (len(late.values_ns), len(late.values_ns[0]), late.column_begin) == (8, 7, [*range(7)])


def test_every_measure_is_that_of_the_tables(ddp8: WrittenRun) -> None:
    whole = answer(ddp8, "", DistributedPayload)
    tables = {
        "late": whole.waiting.late_ns,
        "waiting": whole.waiting.waiting_ns,
        "transfer": whole.waiting.transfer_ns,
        "exposed": whole.overlap.communication_ns,
        "hidden": whole.overlap.overlap_ns,
        "computation": whole.overlap.computation_ns,
        "other": whole.overlap.other_ns,
    }
    maps = {measure: shown(ddp8, measure) for measure in get_args(Measure)}
    assert {name: found.values_ns for name, found in maps.items() if name != "step"} == tables
    parts = ("exposed", "hidden", "computation", "other")
    assert maps["step"].values_ns == [
        [sum(maps[part].values_ns[worker][step] or 0 for part in parts) for step in range(7)]
        for worker in range(8)
    ]


def test_the_group_of_all_ranks_with_what_it_moves(ddp8: WrittenRun) -> None:
    found = answer(ddp8, "/groups", ProcessGroupsPayload)
    groups = found.groups
    assert (groups["group"], groups["description"], groups["ranks"]) == (
        ["0"],
        ["default_pg"],
        ["0-7"],
    )
    assert (groups["group_size"], groups["recorded"], groups["calls"]) == ([8], [8], [28])
    sent = {value for row in found.sent_bytes for value in row if value is not None}
    assert sent == {groups["bytes"][0] * 2 // 8}
    assert [row[i] for i, row in enumerate(found.sent_bytes)] == [None] * 8
    assert (found.side, found.names[:2], found.notes) == ("rank", ["rank 0", "rank 1"], [])


@pytest.mark.traces
@pytest.mark.parametrize(
    ("trace", "ranks", "size", "left_out"),
    [("mi300_resnet_ddp", "0-7", 8, True), ("a100_nccl", "0-1", 2, False)],
)
def test_a_real_trace_tells_the_members_of_its_group(
    trace: str, ranks: str, size: int, left_out: bool
) -> None:
    if not (REAL_TRACES / trace).is_dir():
        pytest.skip(f"no {trace}")
    found = answer(sample(str(REAL_TRACES / trace)), "/groups", ProcessGroupsPayload)
    assert (found.groups["ranks"], found.groups["group_size"]) == ([ranks], [size])
    assert (found.groups["recorded"], found.groups["reach"]) == ([1], [None])
    assert found.sent_bytes == [[None]]
    assert bool(found.notes) == left_out
