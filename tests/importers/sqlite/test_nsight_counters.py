"""Counters in exports of Nsight Systems, one quirk a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.nsight import PID, NsightFile
from tests.importers.sqlite.asked import instants, read
from torch_tb_profiler.store import defects as d


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report1.sqlite"


def test_samples_of_network_cards_are_counters(path: Path) -> None:
    with NsightFile(path) as file:
        file.add(
            "TARGET_INFO_NETWORK_METRICS",
            metricsListId=1,
            metricsIdx=0,
            name="Bytes sent",
            unit="B/s",
        )
        file.add("TARGET_INFO_NIC_INFO", nicId=5, name="mlx5_0")
        file.add("NIC_ID_MAP", nicId=5, globalId=1 << 40)
        file.add(
            "NET_NIC_METRIC",
            start=100,
            end=200,
            globalId=1 << 40,
            metricsListId=1,
            metricsIdx=0,
            value=70,
        )
        file.add(
            "NET_NIC_METRIC", start=200, end=300, globalId=9, metricsListId=1, metricsIdx=3, value=5
        )
        file.push_pop("step", 0, 300)
    trace = read(path)
    assert trace.defects.as_dict() == {}
    assert instants(trace) == [
        (100, "Network metrics", "network_counters", "C", '{"Bytes sent [B/s]":70}'),
        (200, "Network metrics", "network_counters", "C", '{"metric 3":5}'),
    ]
    assert set(trace.strings.many(trace["tracks"]["pid"])) == {str(PID), "mlx5_0", "network card"}


def test_samples_of_gpu_metrics_are_counters(path: Path) -> None:
    with NsightFile(path) as file:
        file.add(
            "TARGET_INFO_GPU_METRICS",
            typeId=257,
            metricId=3,
            metricName="SMs Active [Throughput %]",
        )
        file.add("GPU_METRICS", timestamp=100, typeId=257, metricId=3, value=40)
        file.add("GPU_METRICS", timestamp=200, typeId=257, metricId=9, value=7)
        file.push_pop("step", 0, 300)
    trace = read(path)
    assert instants(trace) == [
        (100, "GPU metrics", "hardware_counters", "C", '{"SMs Active [Throughput %]":40}'),
        (200, "GPU metrics", "hardware_counters", "C", '{"metric 9":7}'),
    ]
    assert trace.strings.many(trace["tracks"]["pid"]) == [str(PID), "1"]


def test_samples_of_gpu_metrics_may_stand_as_json(path: Path) -> None:
    """As exports before 2023 have them; later ones have both."""
    sample = (
        '{"SM Active": "40", "Tensor Active": 7, "note": "x", "flag": true, "long":'
        ' "1234567890123456789"}'
    )
    with NsightFile(path) as file:
        file.add(
            "TARGET_INFO_GPU_METRICS",
            typeId=256,
            metricId=1,
            metricName="SMs Active [Throughput %]",
        )
        file.add("GPU_METRICS", timestamp=50, typeId=256, metricId=1, value=40)
        others = ((300, 9, '{"ftrace": 1}'), (310, 9, "no JSON"), (320, 9, "[]"))
        for time, kind, text in (
            (100, 257, sample),
            (None, 257, '{"SM Active": 41}'),
            (50, 256, sample),
            *others,
        ):
            file.add("GENERIC_EVENTS", rawTimestamp=200, timestamp=time, typeId=kind, data=text)
        file.push_pop("step", 0, 400)
    trace = read(path)
    assert [(time, name, category, text) for time, name, category, _, text in instants(trace)] == [
        (50, "GPU metrics", "hardware_counters", '{"SMs Active [Throughput %]":40}'),
        (100, "GPU metrics", "hardware_counters", '{"SM Active":40,"Tensor Active":7}'),
        (200, "GPU metrics", "hardware_counters", '{"SM Active":41}'),
    ]
    assert set(trace.strings.many(trace["tracks"]["pid"])) == {str(PID), "0", "1"}
    assert trace.defects.as_dict() == {d.NOT_READ: 3}


def test_memory_of_the_device_is_a_counter(path: Path) -> None:
    with NsightFile(path) as file:
        file.push_pop("step", 0, 900)
        for device, rows in (
            (0, ((10, 100, 0), (20, 50, 0), (30, 100, 1))),
            (1, ((15, 70, 1), (25, 5, 0))),
        ):
            for time, size, kind in rows:
                file.add(
                    "CUDA_GPU_MEMORY_USAGE_EVENTS",
                    start=time,
                    deviceId=device,
                    bytes=size,
                    memKind=2,
                    memoryOperationType=kind,
                )
        file.add("CUDA_GPU_MEMORY_USAGE_EVENTS", start=40, deviceId=0, bytes=1 << 20, memKind=1)
    whole, least = "Memory of the device", "Memory of the device, at least"
    assert sorted((time, name, text) for time, name, _, _, text in instants(read(path))) == [
        (10, whole, '{"bytes":100}'),
        (15, least, '{"bytes":0}'),
        (20, whole, '{"bytes":150}'),
        (25, least, '{"bytes":5}'),
        (30, whole, '{"bytes":50}'),
    ]
