"""``.sql``: types of the columns, and several traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.api.traces import write
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.errors import BadRequest


def test_integers_with_unknown_ones_stay_integers(one: TraceFrames) -> None:
    found = one.sql(
        "select id, dur, registers, occupancy, name, sum(dur) over () as total from kernels"
    )
    types = {name: str(kind) for name, kind in found.dtypes.items()}
    assert types["dur"] == "int64"
    assert types["registers"] == "Int32"
    assert found.registers.isna().all()
    assert types["total"] == "int64"
    assert found.total[0] == found.dur.sum()
    assert found.name.tolist() == one.events[one.events.role == "kernel"].name.tolist()


def test_several_traces_have_their_worker_in_front(tmp_path: Path) -> None:
    run: Any = torch_tb_profiler.open(write(tmp_path / "run", "w0", "w1"), use_cache=False)
    found = run.sql("select count(*) as kernels from kernels")
    assert found.worker.tolist() == ["w0", "w1"]
    assert found.kernels.tolist() == [len(run["w0"].sql("from kernels"))] * 2


def test_a_wrong_statement_is_a_bad_request(one: TraceFrames) -> None:
    with pytest.raises(BadRequest, match="Only reading"):
        one.sql("delete from kernels")
