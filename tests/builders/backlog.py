"""A loop on a device that still works, when the recording begins, on what was launched before."""

from __future__ import annotations

from dataclasses import dataclass, field

LAUNCH, REACTION = 5, 3
"""How long a launch takes, and how long after it an idle stream begins, µs."""


@dataclass
class BusyLoop:
    """What a program records; times in µs.

    free: by stream until when it works on what is not recorded.
    waits: of the first work of every stream from when until when it waited. work: begin and end of all work.
    """

    free: dict[int, int]
    now: int = 0
    lines: list[str] = field(default_factory=list)
    waits: list[tuple[int, int]] = field(default_factory=list)
    work: list[tuple[int, int]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)

    def host(self, dur: int) -> None:
        """An operator that launches nothing."""
        self.lines.append(f"1 op aten::view@{self.now}+{dur}")
        self.now += dur

    def launch(self, stream: int, dur: int, late: int = 0) -> None:
        """A kernel; ``late``: how much later than usual an idle stream begins it."""
        begin = max(self.now + LAUNCH + REACTION + late, self.free[stream])
        self._work(stream, "kernel k", "cudaLaunchKernel", LAUNCH, begin, dur)
        if begin > self.now and stream not in self.seen:
            self.waits.append((self.now, begin))
        self.seen.add(stream)

    def fetch(self, stream: int, dur: int, name: str = "DtoH (Device -> Pageable)") -> None:
        """A copy whose call returns when it is done."""
        begin, called = max(self.now + REACTION, self.free[stream]), self.now
        blocked = begin + dur + 2 - self.now
        self._work(stream, f"copy Memcpy {name}", "cudaMemcpyAsync", blocked, begin, dur)
        if stream not in self.seen and "DtoH" in name:
            self.waits.append((called, begin))
        self.seen.add(stream)

    def synchronise(self, stream: int) -> None:
        """Wait for an event behind what the stream has to do."""
        until = max(self.now + 2, self.free[stream])
        self.lines.append(f"1 call cudaEventSynchronize@{self.now}+{until - self.now}")
        if not self.work:
            self.waits.append((self.now, until))
        self.now = until

    def _work(self, stream: int, what: str, call: str, blocked: int, begin: int, dur: int) -> None:
        number = len(self.work) + 1
        self.lines += [
            f"1 call {call}@{self.now}+{blocked} c{number}",
            f"gpu 0:{stream} {what}@{begin}+{dur} c{number}",
        ]
        self.now += blocked
        self.work.append((begin, begin + dur))
        self.free[stream] = begin + dur

    def marked(self, name: str, begin: int) -> None:
        """An annotation from ``begin`` until now."""
        self.lines.append(f"1 note {name}@{begin}+{self.now - begin}")
