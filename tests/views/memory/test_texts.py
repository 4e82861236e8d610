"""Names of memory devices, and what the Memory view notes about its records."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.analysis.memory.recorded import case, out_of_memory
from tests.builders.drawn import Event
from torch_tb_profiler.views.memory.devices import device_name
from torch_tb_profiler.views.memory.payload import memory_payload
from torch_tb_profiler.views.memory.tables import memory_blocks_payload
from torch_tb_profiler.views.words.vocabulary import NEUTRAL, named_device, vendor_words


@pytest.mark.parametrize(
    ("kind", "number", "name"),
    [
        (0, -1, "CPU"),
        (0, 3, "CPU"),
        (1, 0, "GPU 0"),
        (6, 2, "GPU 2"),
        (12, 0, "XPU 0"),
        (19, 1, "MTIA 1"),
        (15, 0, "HPU 0"),
        (20, 0, "PrivateUse1 0"),
        (7, 0, "FPGA 0"),
        (42, 0, "device type 42 0"),
        (42, -1, "device type 42"),
        (-1, -1, "Device"),
        (-1, 4, "Accelerator 4"),
        (1, -1, "GPU"),
    ],
)
def test_device_names(kind: int, number: int, name: str) -> None:
    assert device_name(kind, number, NEUTRAL) == name


@pytest.mark.parametrize("kind", [1, 6, 12, -1])
def test_a_device_has_one_name(kind: int) -> None:
    assert device_name(kind, 9, vendor_words("amd")) == "GPU 9"
    assert named_device(vendor_words("amd"), "GPU 9 AMD Instinct MI300X") == "GPU 9"
    assert named_device(vendor_words("amd"), "python 12") == "python 12"


def test_the_headline_is_the_peak_and_how_near_it_is_to_what_the_device_has() -> None:
    written = """
        main 10 gpu0 a +1048576 1048576 4194304
        main 20 gpu0 a -1048576       0 4194304
        main 30 cpu  b     +100     100
        main 40 gpu0 c     +512     512 6291456
    """
    trace, facts, insight = case(written)
    card = trace.header | {"deviceProperties": [{"id": 0, "totalGlobalMem": 8 << 20}]}
    gpu, cpu = memory_payload(replace(trace, header=card), facts, insight).devices
    assert gpu.headline == [
        "GPU 0 peaked at 1.00 MiB of 8.00 MiB (4.00 MiB reserved).",
        "It was at 10.0 µs; at most 6.00 MiB was reserved, 75.0 %.",
    ]
    assert cpu.headline == ["CPU peaked at 100 B.", "It was at 30.0 µs."]


def notes(written: str, more: list[Event] | None = None) -> list[str]:
    return memory_payload(*case(written, more=more)).notes


def test_a_recording_without_fault_needs_no_note() -> None:
    assert (
        notes("""
        main 10 gpu0 a +64 64 100
        main 20 gpu0 a -64  0 100
    """)
        == []
    )


def test_what_is_wrong_is_said_with_its_number() -> None:
    listed = notes("""
        main 10 gpu0 a +64  64 100
        main 20 gpu0 a +64 128 100
        main 30 gpu0 a -64  64 100
        main 40 gpu0 a -64   0 100
        main 50 gpu0 b  +1 999 100
    """)
    assert [": 1. " in note for note in listed] == [True] * 3
    assert "given out again" in listed[0]
    assert "last released" in listed[1]
    assert "The curve shows what they state" in listed[2]


def test_records_of_old_versions() -> None:
    listed = notes("""
        main 10 gpu0 - +64
        main 20 gpu0 - -64
    """)
    assert [note.split(":")[0] for note in listed] == ["GPU 0", "GPU 0"]
    assert "no totals" in listed[0]
    assert "no addresses" in listed[1]


def test_a_failed_allocation_is_told_with_what_held_the_memory() -> None:
    entry = out_of_memory(Bytes=2 << 30)
    trace, facts, found = case("main 1 gpu0 a +64 64 100", "", [entry, {**entry, "ts": 6}])
    payload = memory_payload(trace, facts, found)
    first = payload.failures[0]
    assert first.sentence == "Out of memory: 2.00 GiB were asked for."
    assert first.why == ["It was the first of 2 that failed."]
    told = {"Device Type": 1, "Device Id": 0, "Device Free": 1024, "Bytes": 5}
    found_too = memory_payload(
        *case("main 1 gpu0 a +64 64 100", "", [{**entry, "args": told}])
    ).failures[0]
    assert found_too.sentence == "Out of memory: 5 B were asked for; 1.00 KiB were free."
    assert found_too.allocated_bytes == 64
    assert (found_too.unused_bytes, found_too.pieces_bytes) == (36, None)


def test_devices_that_are_called_the_same_say_their_type() -> None:
    payload = memory_payload(
        *case("""
        main 1 1:0 a +64 64 100
        main 2 6:0 a +32 32 100
    """)
    )
    assert [device.name for device in payload.devices] == ["GPU 0 (type 1)", "GPU 0 (type 6)"]


def test_the_device_that_ran_out_of_memory_is_first() -> None:
    told = {"Device Type": 1, "Device Id": 0, "Bytes": 5}
    payload = memory_payload(
        *case("main 1 gpu0 a +1 1 9\nmain 2 gpu1 a +5 5 9", "", [out_of_memory(**told)])
    )
    assert [device.name for device in payload.devices] == ["GPU 0", "GPU 1"]


def test_the_device_with_the_highest_peak_is_first_and_the_cpu_last() -> None:
    payload = memory_payload(
        *case("""
        main 1 gpu0 a +1 1 9
        main 2 gpu1 a +5 5 9
        main 3 cpu  a +99 99 0
    """)
    )
    assert [device.name for device in payload.devices] == ["GPU 1", "GPU 0", "CPU"]
    assert [device.key for device in payload.devices] == [1, 0, 2]


def test_blocks_without_a_category_say_none() -> None:
    _, _, insight = case("main 1 gpu0 a +64 64 100")
    assert memory_blocks_payload(insight, 0, None, 10).rows["category"] == [None]
