"""What is asked of kernels and launches, planted in programs of any vendor, size and place; and healthy ones that stay silent."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import Findings, item, made, rules, span, steps
from tests.builders.drawn import Event
from tests.examples import examples


class Vendor(msgspec.Struct, frozen=True):
    """How a runtime calls a launch, a copy, an allocation, and device work that copies and reduces."""

    launch: str
    copy: str
    allocate: str
    moves: str
    reduces: str


NVIDIA = Vendor(
    "cudaLaunchKernel",
    "cudaMemcpyAsync",
    "cudaMalloc",
    "Memcpy HtoD (Pageable -> Device)",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
)
AMD = Vendor(
    "hipLaunchKernel",
    "hipMemcpyAsync",
    "hipMalloc",
    "CopyHostToDevice",
    "ncclDevKernel_Generic(ncclDevComm*, unsigned long, ncclWork*)",
)
VENDORS = st.sampled_from([NVIDIA, AMD])
KERNEL = 300.0


class Device:
    """A host that launches work on streams of one device; times in µs."""

    def __init__(self, vendor: Vendor) -> None:
        self.vendor, self.listed = vendor, list[Event]()
        self.now, self.number = 0.0, 0
        self.busy: dict[int, float] = {}

    def host(self, name: str, length: float, category: str = "cuda_runtime", **args: Any) -> None:
        """A call that takes so long."""
        self.listed.append(span(category, name, self.now, length, **args))
        self.now += length

    def work(self, name: str, length: float, stream: int = 7, category: str = "kernel") -> None:
        """Device work, launched now, that begins when its stream is free."""
        self.number += 1
        call = self.vendor.copy if category == "gpu_memcpy" else self.vendor.launch
        self.host(call, 4, correlation=self.number)
        begin = max(self.now, self.busy.get(stream, 0.0)) + 1
        self.listed.append(span(category, name, begin, length, stream, correlation=self.number))
        self.busy[stream] = begin + length

    def wait(self) -> None:
        """Until the device has done everything."""
        until = max(self.busy.values(), default=self.now) + 1
        if until > self.now:
            self.host("cudaDeviceSynchronize", until - self.now)


def _found(vendor: Vendor, planted: Any, count: int = 6) -> Findings:
    """What is found in a loop that does what is planted in each of four steps, before, within or after its kernels."""
    device, bounds = Device(vendor), []
    place, plant = planted
    for _ in range(4):
        begin = device.now
        for number in range(count):
            if number == place * (count - 1) // 2:
                plant(device)
            device.work("some_kernel", KERNEL)
        device.wait()
        bounds.append((begin, device.now))
        device.now += 1
    return made([*steps(*bounds), *device.listed])


PLACE = st.integers(0, 2)


@examples(6)
@given(VENDORS, PLACE, st.integers(200, 3000), st.booleans())
def test_copies_that_nothing_hides(vendor: Vendor, place: int, length: int, hidden: bool) -> None:
    def plant(device: Device) -> None:
        device.work(vendor.moves, length, 20 if hidden else 7, "gpu_memcpy")

    # Beside as much computing a copy on a stream of its own costs nothing.
    count = 6 if not hidden else 2 * length // round(KERNEL) + 6
    found = _found(vendor, (0 if hidden else place, plant), count)
    if hidden:
        assert "exposed_copies" not in rules(found)
    else:
        assert item(found, "exposed_copies")["recoverable_ns"] == pytest.approx(
            min(length, 6 * KERNEL) * 1e3, rel=0.1
        )


@examples(6)
@given(VENDORS, PLACE, st.integers(200, 3000), st.booleans())
def test_communication_beside_nothing(
    vendor: Vendor, place: int, length: int, hidden: bool
) -> None:
    def plant(device: Device) -> None:
        device.work(vendor.reduces, length, 20 if hidden else 7)

    count = 6 if not hidden else 2 * length // round(KERNEL) + 6
    found = _found(vendor, (0 if hidden else place, plant), count)
    if hidden:
        assert "exposed_communication" not in rules(found)
    else:
        one = item(found, "exposed_communication")
        assert one["numbers"]["collectives"] == 1
        assert one["recoverable_ns"] == pytest.approx(min(length, 6 * KERNEL) * 1e3, rel=0.1)


@examples(6)
@given(VENDORS, PLACE, st.integers(2500, 6000), st.booleans())
def test_memory_from_the_driver(vendor: Vendor, place: int, length: int, ahead: bool) -> None:
    def plant(device: Device) -> None:
        if ahead:
            # The device has work for longer than the call takes.
            device.work("long_kernel", 2 * length)
        device.host(vendor.allocate, length)

    found = _found(vendor, (place, plant))
    if ahead:
        assert "allocator_churn" not in rules(found)
    else:
        # What was launched before it ends in less than 2 ms.
        assert item(found, "allocator_churn")["numbers"]["calls"] == 1


@examples(6)
@given(VENDORS, st.integers(8, 60), st.integers(2, 12), st.integers(2, 6), st.booleans())
def test_launches_slower_than_their_kernels(
    vendor: Vendor, count: int, kernel: int, times: int, ahead: bool
) -> None:
    def plant(device: Device) -> None:
        for _ in range(count):
            device.host("aten::add", kernel * times, "cpu_op")
            device.work("tiny_kernel", 50.0 * kernel * times if ahead else kernel)

    found = rules(_found(vendor, (0, plant), 1))
    assert ("launch_bound" in found) == (not ahead)
    assert "idle_queue" not in found


@examples(6)
@given(VENDORS, st.integers(8, 40), st.integers(8, 200), st.booleans())
def test_launches_that_wait_for_their_kernels_are_told_as_such(
    vendor: Vendor, count: int, kernel: int, waits: bool
) -> None:
    """A launch that ends with its kernel, and one that is as slow by itself."""
    device, bounds = Device(vendor), []
    for _ in range(3):
        begin = device.now
        for number in range(count):
            device.number += 1
            at = device.now + (2 if waits else kernel + 10)
            args: dict[str, Any] = {"correlation": device.number}
            name = ("one_kernel", "other_kernel", "third_kernel", "last_kernel")[number % 4]
            device.listed.append(span("kernel", name, at, kernel, 7, **args))
            device.host(vendor.launch, kernel + 8, **args)
        bounds.append((begin, device.now + kernel + 5))
        device.now += kernel + 6
    told = item(made([*steps(*bounds), *device.listed]), "launch_bound")["words"]
    assert bool(told.get("waits")) is waits
    assert ("for finding the call that fails" in told.get("attempt", "")) is waits
