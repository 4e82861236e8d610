"""Conservation on every real trace and sample that has allocator records, and the original's
figures on its own sample.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis.figures import opened, trace_files
from tests.analysis.memory.recorded import built
from torch_tb_profiler.analysis.memory.live_memory import live_memory_at
from torch_tb_profiler.analysis.memory.usage import MemoryGroup, usage
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

SHARED = (
    "h100_bert_small",
    "h100_owlv2",
    "h100_vit",
    "mi300_bert_small",
    "v100_memory_nccl",
    "v100_resnet50_num_workers_0",
    "v100_resnet50_num_workers_4",
)
"""Runs of the shared traces that hold allocator records."""
GROUPS: tuple[MemoryGroup, ...] = ("operator", "module")


def conserved(trace: Trace, facts: Facts) -> Insight:
    """Check what must hold of every trace."""
    found = built(trace, facts)
    memory, devices, curve, allocations = (
        trace["memory"],
        found["memory_devices"],
        found["memory_curve"],
        found["allocations"],
    )
    assert (curve.n, found.about["memory_left_out"]) == (memory.n, 0)
    for device in range(devices.n):
        mine = (memory["device_type"] == devices["type"][device]) & (
            memory["device"] == devices["id"][device]
        )
        changed = int(memory["bytes"][mine].sum())
        assert int(devices["end"][device]) == int(devices["begin"][device]) + changed
        rows = curve["device"] == device
        assert int(curve["allocated"][rows].max()) <= int(devices["peak"][device])
        last = live_memory_at(found, device, 1 << 60)
        assert (last.allocated, last.allocated) == (
            int(devices["end"][device]),
            last.unknown + int(last.bytes.sum()),
        )
        peak = live_memory_at(found, device, None)
        assert (
            peak.allocated == int(devices["peak"][device]) == peak.unknown + int(peak.bytes.sum())
        )
        # No address is given out twice, and what is alive never exceeds what is allocated: nothing
        # of these traces is lost.
        assert min(last.unknown, peak.unknown) >= 0
        for group in GROUPS:
            used = usage(found, device, None, group)
            assert int(used.self_increase.sum()) + used.outside_increase == changed
            assert int(used.self_allocated.sum()) + used.outside == int(
                memory["bytes"][mine & (memory["bytes"] > 0)].sum()
            )
            assert (used.allocated >= used.self_allocated).all()
    assert (found.about["memory_lost_releases"], found.about["memory_lost_allocations"]) == (0, 0)
    known = allocations["end"] >= 0
    assert (allocations["end"][known] >= allocations["begin"][known]).all()
    return found


@pytest.mark.parametrize("run", SHARED)
def test_sums_of_real_traces_hold(real_traces: Path, run: str) -> None:
    for path in trace_files(real_traces):
        if path.parent.name == run:
            conserved(*opened(path))


def test_sums_of_the_samples_hold(samples: Path) -> None:
    seen = 0
    for path in trace_files(samples):
        trace, facts = opened(path)
        if trace["memory"].n:
            seen += 1
            found = conserved(trace, facts)
            devices = found["memory_devices"]
            # All that is alive at the end was allocated in the recording, or is the model that was
            # there before.
            assert (devices["begin"] <= devices["peak"]).all()
    assert seen == 16


def test_every_operator_is_open_when_it_allocates(real_traces: Path) -> None:
    trace, facts = opened(real_traces / "h100_owlv2" / "owlv2.1752829956515.pt.trace.json.gz")
    found = built(trace, facts)
    spans, nodes, curve = trace["spans"], found["memory_nodes"], found["memory_curve"]
    inside = curve["node"] >= 0
    event, time = nodes["event"][curve["node"][inside]], curve["time"][inside]
    assert (
        (spans["start"][event] <= time) & (time < spans["start"][event] + spans["dur"][event])
    ).all()
    # 400 scalars of 8 bytes are made by Python's arithmetic before the operator begins.
    table = found["allocations"]
    assert (table["bytes"][table["node"] < 0] == 8).all()
    assert int(np.count_nonzero(table["node"] < 0)) == 400
    lines = found.strings.many(table["line"])
    assert all(".py(" in line for line in lines)


SAMPLE = {
    # calls, size increase, self size increase, allocation count, self allocation count, allocation
    # size, self allocation size in KB
    1: {
        "aten::cudnn_convolution": (318, 8362752.0, 4844874.0, 468, 318, 11880630.0, 8362752.0),
        "aten::empty": (4404, 33203886.0, 33203886.0, 2694, 2694, 33203886.0, 33203886.0),
    },
    0: {"aten::empty": (4404, 28225.96875, 28225.96875, 246, 246, 28225.96875, 28225.96875)},
}


def test_the_originals_figures_on_its_own_sample(real_traces: Path) -> None:
    trace, facts = opened(sorted((real_traces / "v100_resnet50_num_workers_0").glob("*.gz"))[0])
    found = built(trace, facts)
    devices = found["memory_devices"]
    for device in range(devices.n):
        kind = int(devices["type"][device])
        used = usage(found, device, None, "operator")
        names = found.strings.many(used.name)
        assert len(names) == {1: 44, 0: 12}[kind]
        for name, (_, *figures) in SAMPLE[kind].items():
            row = names.index(name)
            columns = (
                used.increase,
                used.self_increase,
                used.allocations,
                used.self_allocations,
                used.allocated,
                used.self_allocated,
            )
            scale = np.array([1024, 1024, 1, 1, 1024, 1024])
            assert [int(column[row]) for column in columns] == (np.array(figures) * scale).astype(
                int
            ).tolist()
