"""A small caching allocator that writes snapshots like ``torch.cuda.memory._snapshot`` (2.13)."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

SEGMENT = 2 << 20
ROUND = 512
BASE_US = 1_700_000_000_000_000


def stack(*lines: str) -> list[dict[str, Any]]:
    """Frames from ``file:line:function`` texts, innermost first, below the machinery that PyTorch
    adds.
    """
    above = [
        {"filename": "??", "line": 0, "name": "unwind::unwind()"},
        {"filename": "??", "line": 0, "name": "torch::CapturedTraceback::gather(bool)"},
    ]
    return above + [
        {"filename": f, "line": int(n), "name": name}
        for f, n, name in (line.split(":", 2) for line in lines)
    ]


@dataclass
class Allocator:
    """One device. Every block has a segment of its own, 2 MiB or a multiple; ``emptied`` segments
    are given back at once when ``cache`` is False.

    ``allocated`` and ``reserved``: (time in µs, bytes) after each change, as they truly were.
    """

    device: int = 0
    cache: bool = True
    now: int = BASE_US
    mapped: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list)
    held: dict[int, dict[str, Any]] = field(default_factory=dict)
    segments: dict[int, dict[str, Any]] = field(default_factory=dict)
    allocated: list[tuple[int, int]] = field(default_factory=list)
    reserved: list[tuple[int, int]] = field(default_factory=list)

    def alloc(
        self,
        size: int,
        frames: list[dict[str, Any]] | None = None,
        after_us: int = 10,
        stream: int = 0,
    ) -> int:
        """Allocate; the address."""
        self.now += after_us
        frames = frames or []
        total = -(-max(size, 1) // SEGMENT) * SEGMENT
        free = [
            a
            for a, s in self.segments.items()
            if s["total_size"] == total and not s["blocks"][0]["state"].startswith("active")
        ]
        if free:
            address = free[0]
        else:
            self.mapped += 1
            address = 0x7F00_0000_0000 + self.mapped * (1 << 30) + self.device * (1 << 44)
            self._note("segment_alloc", address, total, stream, frames)
        rounded = -(-max(size, 1) // ROUND) * ROUND
        block = {
            "address": address,
            "size": rounded,
            "requested_size": size,
            "state": "active_allocated",
            "frames": frames,
        }
        rest = {
            "address": address + rounded,
            "size": total - rounded,
            "requested_size": 0,
            "state": "inactive",
            "frames": [],
        }
        self.segments[address] = {
            "device": self.device,
            "address": address,
            "total_size": total,
            "allocated_size": rounded,
            "active_size": rounded,
            "requested_size": size,
            "stream": stream,
            "segment_type": "large" if total > SEGMENT else "small",
            "segment_pool_id": (0, 0),
            "is_expandable": False,
            "frames": frames,
            "blocks": [block, rest] if total > rounded else [block],
        }
        self.held[address] = block
        self._note("alloc", address, size, stream, frames)
        return address

    def free(self, address: int, after_us: int = 10, pending_us: int = 0) -> None:
        """Release; with ``pending_us`` another stream uses the block so much longer."""
        self.now += after_us
        block = self.held.pop(address)
        size = block["requested_size"]
        self._note("free_requested", address, size, 0, [])
        self.now += pending_us
        block["state"] = "inactive"
        self._note("free_completed", address, size, 0, [])
        if not self.cache:
            self.empty_cache()

    def empty_cache(self) -> None:
        """Give back what nothing is in."""
        for address in [a for a in self.segments if a not in self.held]:
            segment = self.segments.pop(address)
            self._note("segment_free", address, segment["total_size"], 0, [])

    def fail(self, size: int, free: int = 1000) -> None:
        """Run out of memory."""
        self.now += 1
        self.entries.append(
            {
                "action": "oom",
                "addr": free,
                "device_free": free,
                "size": size,
                "stream": 0,
                "time_us": self.now,
                "frames": [],
            }
        )

    def _note(
        self, action: str, address: int, size: int, stream: int, frames: list[dict[str, Any]]
    ) -> None:
        entry = {
            "action": action,
            "addr": address,
            "size": size,
            "stream": stream,
            "time_us": self.now,
            "frames": frames,
            "compile_context": "N/A",
        }
        self.entries.append({**entry, "pool_id": (0, 0)})
        active = sum(b["requested_size"] for b in self.held.values())
        if action in ("alloc", "free_completed"):
            self.allocated.append((self.now, active))
        self.reserved.append(
            (
                self.now,
                sum(s["total_size"] for s in self.segments.values())
                + (size if action == "segment_alloc" else 0),
            )
        )


def snapshot(*devices: Allocator, last: int | None = None) -> dict[str, Any]:
    """The snapshot's dict; ``last``: entries that its buffer keeps per device."""
    return {
        "segments": [s for d in devices for s in d.segments.values()],
        "device_traces": [d.entries[-last:] if last else list(d.entries) for d in devices],
        "allocator_settings": {
            "PYTORCH_CUDA_ALLOC_CONF": "",
            "max_split_size": -1,
            "garbage_collection_threshold": 0.0,
            "expandable_segments": False,
        },
        "external_annotations": [],
    }


def pickled(value: object, protocol: int = 4) -> bytes:
    """What ``torch.cuda.memory._dump_snapshot`` writes of it."""
    return pickle.dumps(value, protocol)
