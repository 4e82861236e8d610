"""A caching allocator that splits and merges blocks, and a training loop on it, as a snapshot.

Segments are of 2 MiB, 20 MiB, or what a larger block needs; a block is cut from the first free stretch
that holds it, on its stream and in its pool. So memory fragments as it does under PyTorch.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.builders.snapshots import BASE_US, ROUND, stack

SMALL, MIDDLE = 2 << 20, 20 << 20
TORCH = "/lib/python3.12/site-packages/torch"
FORWARD = (
    f"{TORCH}/nn/functional.py:1:linear",
    f"{TORCH}/nn/modules/module.py:1784:_call_impl",
    "/w/train.py:12:train",
)
BACKWARD = (
    "??:0:torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&)",
)
OPTIMIZER = (f"{TORCH}/optim/adam.py:200:_init_group", "/w/train.py:14:train")
MODULE = (f"{TORCH}/nn/modules/module.py:915:_apply", "/w/train.py:3:build")
DATA = (f"{TORCH}/utils/data/dataloader.py:700:__next__", "/w/train.py:10:train")


@dataclass
class Splitting:
    """One device. ``live``: address → (requested, rounded, segment, frames)."""

    device: int = 0
    now: int = BASE_US
    entries: list[dict[str, Any]] = field(default_factory=list)
    segments: dict[int, dict[str, Any]] = field(default_factory=dict)
    live: dict[int, tuple[int, int, int, list[dict[str, Any]]]] = field(default_factory=dict)

    def alloc(
        self, size: int, frames: tuple[str, ...], stream: int = 0, pool: tuple[int, int] = (0, 0)
    ) -> int:
        """Allocate; the address."""
        rounded = -(-max(size, 1) // ROUND) * ROUND
        place = self._place(rounded, stream, pool)
        if place is None:
            total = SMALL if rounded < SMALL else max(MIDDLE, -(-rounded // SMALL) * SMALL)
            base = 0x7F00_0000_0000 + (len(self.entries) + 1) * (1 << 32)
            self.segments[base] = {"bytes": total, "stream": stream, "pool": pool}
            self._note("segment_alloc", base, total, stream, frames)
            place = (base, base)
        segment, address = place
        written = stack(*frames)
        self.live[address] = (size, rounded, segment, written)
        self._note("alloc", address, size, stream, frames)
        return address

    def free(self, address: int, frames: tuple[str, ...] = ()) -> None:
        """Release a block."""
        size, _, segment, _ = self.live.pop(address)
        stream = self.segments[segment]["stream"]
        self._note("free_requested", address, size, stream, frames)
        self._note("free_completed", address, size, stream, frames)

    def empty_cache(self) -> None:
        """Give back the segments without a block."""
        used = {segment for _, _, segment, _ in self.live.values()}
        for base in [base for base in self.segments if base not in used]:
            segment = self.segments.pop(base)
            self._note("segment_free", base, segment["bytes"], segment["stream"], ())

    def fail(self, size: int, free: int, frames: tuple[str, ...]) -> None:
        """Run out of memory."""
        self._note("oom", free, size, 0, frames)
        self.entries[-1]["device_free"] = free

    def stretches(self, base: int) -> list[tuple[int, int, int]]:
        """``(address, bytes, requested)`` of a segment, in order; requested −1: free."""
        found, at = [], base
        for address in sorted(a for a, block in self.live.items() if block[2] == base):
            if address > at:
                found.append((at, address - at, -1))
            found.append((address, self.live[address][1], self.live[address][0]))
            at = address + self.live[address][1]
        end = base + self.segments[base]["bytes"]
        return found + ([(at, end - at, -1)] if at < end else [])

    def _place(self, rounded: int, stream: int, pool: tuple[int, int]) -> tuple[int, int] | None:
        for base, segment in self.segments.items():
            if (segment["stream"], segment["pool"]) != (stream, pool):
                continue
            for address, size, requested in self.stretches(base):
                if requested < 0 and size >= rounded:
                    return base, address
        return None

    def _note(
        self, action: str, address: int, size: int, stream: int, frames: tuple[str, ...]
    ) -> None:
        self.now += 10
        self.entries.append(
            {
                "action": action,
                "addr": address,
                "size": size,
                "stream": stream,
                "time_us": self.now,
                "frames": stack(*frames),
            }
        )

    def snapshot(self) -> dict[str, Any]:
        """What ``torch.cuda.memory._snapshot`` says of it."""
        return {
            "segments": [self._segment(base) for base in self.segments],
            "device_traces": [[]] * self.device + [list(self.entries)],
        }

    def _segment(self, base: int) -> dict[str, Any]:
        segment = self.segments[base]
        return {
            "device": self.device,
            "address": base,
            "total_size": segment["bytes"],
            "stream": segment["stream"],
            "segment_type": "small" if segment["bytes"] == SMALL else "large",
            "segment_pool_id": segment["pool"],
            "is_expandable": False,
            "frames": [],
            "blocks": [
                {
                    "address": address,
                    "size": size,
                    "requested_size": max(requested, 0),
                    "state": "inactive" if requested < 0 else "active_allocated",
                    "frames": self.live[address][3] if requested >= 0 else [],
                }
                for address, size, requested in self.stretches(base)
            ],
        }


def train(steps: int = 4, layers: int = 6, seed: int = 1) -> tuple[Splitting, dict[str, set[int]]]:
    """A model trained on the device, and which addresses of its end are of what."""
    device, draw = Splitting(), random.Random(seed)
    sizes = [draw.randrange(100_000, 6_000_000) for _ in range(layers)]
    kept: dict[str, set[int]] = {"parameter": {device.alloc(size, MODULE) for size in sizes}}
    for step in range(steps):
        batch = device.alloc(draw.randrange(500_000, 3_000_000), DATA)
        saved = []
        for number, size in enumerate(sizes):
            line = (f"/w/layer{number}.py:{number + 1}:forward", *FORWARD)
            scratch = device.alloc(size // 3, line)
            saved.append(device.alloc(size * 2 + step * 4096, line))
            device.free(scratch, line)
        gradients = []
        for number in reversed(range(layers)):
            flow = device.alloc(sizes[number] // 2, BACKWARD)
            gradients.append(device.alloc(sizes[number], BACKWARD, stream=7 if number % 2 else 0))
            device.free(flow, BACKWARD)
            device.free(saved[number], BACKWARD)
        if not step:
            states = {device.alloc(size, OPTIMIZER) for size in sizes for _ in "mv"}
            kept["optimizer_state"] = states
        scratch = device.alloc(10_000, OPTIMIZER)
        device.free(scratch, OPTIMIZER)
        if step < steps - 1:
            for gradient in gradients:
                device.free(gradient, OPTIMIZER)
        else:
            kept["gradient"] = set(gradients)
        device.free(batch, DATA)
    return device, kept
