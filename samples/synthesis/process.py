"""One process of the job: its host threads, device streams, allocator, and what a profiler records."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from random import Random

from synthesis.ledger import ANNOTATION, OPERATOR, PYTHON, RUNTIME, Frame, Ledger
from synthesis.text import MULTIPROCESSORS, TraceText

COMPUTE, COPY, SIDE, COLLECTIVES = 7, 13, 17, 20
"""Streams."""
_CATEGORY = {OPERATOR: "cpu_op", ANNOTATION: "user_annotation", PYTHON: "python_function"}
_APIS = {
    "cudaLaunchKernel": 211,
    "cudaLaunchKernelExC": 430,
    "cudaMemcpyAsync": 41,
    "cudaMemsetAsync": 51,
    "cudaGraphLaunch": 311,
}


_COPIES = {
    "HtoD": "Memcpy HtoD (Pinned -> Device)",
    "Pageable": "Memcpy HtoD (Pageable -> Device)",
    "DtoH": "Memcpy DtoH (Device -> Pinned)",
    "DtoD": "Memcpy DtoD (Device -> Device)",
    "Set": "Memset (Device)",
}


@dataclass(frozen=True)
class Kernel:
    """A kernel that the model can launch; ``ns`` is its usual duration."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    shared: int
    occupancy: int
    ns: int

    def args(self) -> str:
        """The arguments that do not change from launch to launch."""
        blocks = self.grid[0] * self.grid[1] * self.grid[2]
        warps = blocks * -(-self.block[0] * self.block[1] * self.block[2] // 32)
        return (
            f'"registers per thread": {self.registers}, "shared memory": {self.shared}, "blocks per'
            f' SM": {blocks / MULTIPROCESSORS:.6f}, "warps per SM": {warps / MULTIPROCESSORS:.6f},'
            f' "grid": {list(self.grid)}, "block": {list(self.block)}, "est. achieved occupancy %":'
            f" {self.occupancy}"
        )


@dataclass(frozen=True)
class Assumptions:
    """What of the job is other than usual, to see what a change makes of it.

    Factors, of things by a pattern of their names: kernels: of their time; calls: of the host's and the
    device's within operators, frames and annotations; modules: the same, and of their backward. Of all
    of a kind: transfer: of collectives once all ranks have come; host: what threads do; python: of
    this what Python does itself; batch: the wait for the DataLoader; device: kernels; straggler: those
    of the slow rank.

    fused: operators whose kernels are one. synchronizes: the host waits for the loss. awaits: the
    optimizer waits for the collectives. steady: everything takes its usual time.
    """

    kernels: tuple[tuple[str, float], ...] = ()
    calls: tuple[tuple[str, float], ...] = ()
    modules: tuple[tuple[str, float], ...] = ()
    transfer: float = 1
    host: float = 1
    python: float = 1
    batch: float = 1
    device: float = 1
    straggler: float = 1.25
    fused: tuple[str, ...] = ()
    synchronizes: bool = True
    awaits: bool = True
    steady: bool = False


def _factor(patterns: tuple[tuple[str, float], ...], *names: str) -> float:
    """The factor of the first pattern that any name is like."""
    for pattern, factor in patterns:
        if any(fnmatchcase(name, pattern) for name in names):
            return factor
    return 1


USUAL = Assumptions()


class Steady(Random):
    """Always the middle."""

    def random(self) -> float:
        return 0.5


class Thread:
    """A host thread: its clock and what is open on it."""

    def __init__(self, tid: int) -> None:
        self.tid = tid
        self.now = 0
        self.open: list[Frame] = []
        self.forward = 1.0
        """Factor of the module whose backward runs."""
        self.finished: list[Frame] = []


@dataclass
class Pending:
    """A collective that is launched but cannot begin before every rank has launched it."""

    ready: int
    correlation: int
    bytes: int
    operator: Frame | None
    external: int
    sequence: int


class Process:
    """One rank. ``host`` and ``device`` scale durations (a cold step, a slow GPU)."""

    def __init__(
        self,
        rank: int,
        ranks: int,
        text: TraceText,
        random: Random,
        ledger: Ledger | None,
        assumptions: Assumptions = USUAL,
    ) -> None:
        self.assumptions = assumptions
        self.rank, self.ranks, self.text, self.random, self.ledger = (
            rank,
            ranks,
            text,
            random,
            ledger,
        )
        self.pid = 4000 + rank
        self.main, self.autograd = Thread(self.pid), Thread(self.pid + 1000)
        self.free = dict.fromkeys((COMPUTE, COPY, SIDE, COLLECTIVES), 0)
        self.host = self.device = 1.0
        self.correlation = self.external = self.sequence = self.collectives = self.python = 0
        self.device_end = 0
        self.device_begin = 0
        self.pending: list[Pending] = []
        self.allocated = self.reserved = 2 << 30
        self._freed: dict[int, list[int]] = {}
        self._blocks: dict[str, list[tuple[int, int]]] = {}
        self._next_address = 0x7F20_0000_0000
        self._args: dict[Kernel, str] = {}

    def ns(self, usual: int) -> int:
        """A host duration near ``usual``."""
        return int(usual * self.host * (0.85 + 0.3 * self.random.random()))

    def factor(self, thread: Thread) -> float:
        """How much longer than usual what runs on a thread now, and what it launches, takes."""
        assumed = self.assumptions
        if not assumed.calls and not assumed.modules:
            return 1
        names = [frame.name for frame in thread.open]
        return _factor(assumed.calls, *names) * self.module_factor(thread) * thread.forward

    def module_factor(self, thread: Thread) -> float:
        """The part of ``factor`` that the modules around make."""
        around = (frame.name.removeprefix("nn.Module: ") for frame in thread.open)
        return _factor(self.assumptions.modules, *around)

    def own(self, thread: Thread, usual: int) -> int:
        """A duration near ``usual`` of something that a thread does."""
        return int(self.ns(usual) * self.assumptions.host * self.factor(thread))

    def spend(self, thread: Thread, usual: int) -> None:
        """What is open innermost on a thread does something itself."""
        in_python = thread.open and thread.open[-1].kind == PYTHON
        thread.now += int(self.own(thread, usual) * (self.assumptions.python if in_python else 1))

    def begin(self, thread: Thread, kind: str, name: str, args: str = "", arrow: int = 0) -> None:
        """Open an operator, annotation or Python frame; ``arrow``: the forward call of this
        backward call.
        """
        self.external += 1
        frame = Frame(kind, name, thread.now, self.external, args)
        if kind == PYTHON:
            self.python += 1
            parent = next(
                (outer.external for outer in reversed(thread.open) if outer.kind == PYTHON), 0
            )
            frame.external = self.python
            frame.args = f'"Python parent id": {parent}, "Python id": {self.python}{args}'
        if arrow:
            self.text.flow("f", arrow, self.pid, thread.tid, thread.now, "fwdbwd")
        thread.open.append(frame)
        self.spend(thread, 600)

    def end(self, thread: Thread) -> Frame:
        """Close the innermost open event."""
        self.spend(thread, 400)
        frame = thread.open.pop()
        frame.end = thread.now
        self.spend(thread, 200)
        args = (
            frame.args
            if frame.kind == PYTHON
            else f'"External id": {frame.external}, "Record function id": 0{frame.args}'
        )
        self.text.complete(
            _CATEGORY[frame.kind],
            frame.name,
            self.pid,
            thread.tid,
            frame.start,
            frame.end - frame.start,
            args,
        )
        self._keep(thread, frame)
        return frame

    def runtime(
        self, thread: Thread, name: str, ns: int, category: str = "cuda_runtime", until: int = 0
    ) -> int:
        """A runtime call that takes ``ns``, or until ``until`` if later; returns its correlation."""
        self.correlation += 1
        frame = Frame(RUNTIME, name, thread.now, self._external(thread))
        frame.end = max(thread.now + self.own(thread, ns), until)
        args = (
            f'"External id": {frame.external}, "cbid": {_APIS.get(name, 307)}, "correlation":'
            f" {self.correlation}"
        )
        self.text.complete(
            category, name, self.pid, thread.tid, frame.start, frame.end - frame.start, args
        )
        thread.now = frame.end
        self.spend(thread, 300)
        self._keep(thread, frame)
        return self.correlation

    def launch(
        self, thread: Thread, kernel: Kernel, stream: int = COMPUTE, api: str = "cudaLaunchKernel"
    ) -> None:
        """Launch one kernel."""
        now = thread.now
        correlation = self.runtime(
            thread,
            api,
            4200,
            (
                "cuda_driver"
                if api.startswith("cu") and not api.startswith("cuda")
                else "cuda_runtime"
            ),
        )
        self.text.flow("s", correlation, self.pid, thread.tid, now, "ac2g")
        self.run_kernel(
            kernel,
            stream,
            correlation,
            now + self.ns(5500),
            self._operator(thread),
            self._external(thread),
            self.factor(thread),
        )

    def skip_launch(self) -> None:
        """Draw the random numbers of a launch that is not there."""
        for _ in range(5):
            self.random.random()

    def run_kernel(
        self,
        kernel: Kernel,
        stream: int,
        correlation: int,
        ready: int,
        operator: Frame | None,
        external: int,
        factor: float = 1,
    ) -> None:
        """Run a kernel once it is ready and its stream is free. ``correlation`` 0: launch not
        recorded.
        """
        start = max(ready, self.free[stream])
        dur = int(kernel.ns * self.device * (0.95 + 0.1 * self.random.random()))
        dur = int(dur * factor * _factor(self.assumptions.kernels, kernel.name))
        if kernel not in self._args:
            self._args[kernel] = kernel.args()
        self._device_event(
            "kernel",
            kernel.name,
            stream,
            start,
            dur,
            correlation,
            external,
            ', "queued": 0, ' + self._args[kernel],
        )
        if self.ledger:
            self.ledger.device_event("kernel", kernel.name, start, dur, correlation > 0, operator)

    def copy(self, thread: Thread, direction: str, size: int, stream: int = COMPUTE) -> None:
        """Copy ``size`` bytes: ``HtoD`` (or from ``Pageable`` memory), ``DtoH`` or ``DtoD``; ``Set`` fills them with zeros."""
        now = thread.now
        fill = direction == "Set"
        correlation = self.runtime(thread, "cudaMemsetAsync" if fill else "cudaMemcpyAsync", 5200)
        self.text.flow("s", correlation, self.pid, thread.tid, now, "ac2g")
        start = max(now + self.ns(6000), self.free[stream])
        rate = {"HtoD": 24, "Pageable": 7, "DtoH": 22, "DtoD": 1300, "Set": 1800}[direction]
        dur = 1200 + int(size / rate * (0.97 + 0.06 * self.random.random()))
        factor = self.factor(thread) * _factor(self.assumptions.kernels, _COPIES[direction])
        dur = max(1, int(dur * factor))
        category = "memset" if fill else "memcpy"
        args = f', "bytes": {size}, "memory bandwidth (GB/s)": {size / dur:.6f}'
        self._device_event(
            f"gpu_{category}",
            _COPIES[direction],
            stream,
            start,
            dur,
            correlation,
            self._external(thread),
            args,
        )
        if self.ledger:
            self.ledger.device_event(
                category, _COPIES[direction], start, dur, True, self._operator(thread)
            )

    def launch_collective(self, thread: Thread, size: int) -> None:
        """Launch a collective; ``run_collective`` runs it once all ranks have."""
        now = thread.now
        correlation = self.runtime(thread, "cudaLaunchKernelExC", 6100)
        self.text.flow("s", correlation, self.pid, thread.tid, now, "ac2g")
        self.pending.append(
            Pending(
                max(now + self.ns(7000), self.free[COMPUTE]),
                correlation,
                size,
                self._operator(thread),
                self._external(thread),
                self.collectives,
            )
        )

    def run_collective(
        self, pending: Pending, kernel: Kernel, start: int, dur: int, args: str
    ) -> None:
        """Run a launched collective from ``start`` for ``dur``, with its arguments."""
        body = ', "queued": 0, ' + kernel.args() + ", " + args
        self._device_event(
            "kernel",
            kernel.name,
            COLLECTIVES,
            start,
            dur,
            pending.correlation,
            pending.external,
            body,
        )
        self.text.complete(
            "gpu_user_annotation",
            "nccl:all_reduce",
            self.rank,
            COLLECTIVES,
            start,
            dur,
            f'"External id": {pending.external}',
        )
        if self.ledger:
            self.ledger.device_event(
                "communication", kernel.name, start, dur, True, pending.operator
            )

    def allocate(self, thread: Thread, size: int, owner: str) -> None:
        """Allocate device memory for ``owner``."""
        addresses = self._freed.setdefault(size, [])
        address = addresses.pop() if addresses else self._next_address
        if address == self._next_address:
            self._next_address += -(-size // 512) * 512
        self._blocks.setdefault(owner, []).append((address, size))
        self.allocated += size
        if self.allocated > self.reserved:
            self.reserved = -(-self.allocated // (20 << 20)) * (20 << 20)
            self.runtime(thread, "cudaMalloc", 90_000)
        self._memory(thread, address, size)

    def release(self, thread: Thread, owner: str) -> None:
        """Release all memory of ``owner``."""
        for address, size in self._blocks.pop(owner, []):
            self._freed[size].append(address)
            self.allocated -= size
            self._memory(thread, address, -size)

    def start_step(self) -> None:
        """Forget the device work of the previous step."""
        self.device_begin = self.device_end = 0

    def finish_step(self, step: Frame) -> None:
        """Write the step's annotation on the compute stream and pass the step to the ledger."""
        if self.device_end:
            args = f'"External id": {step.external}'
            self.text.complete(
                "gpu_user_annotation",
                step.name,
                self.rank,
                COMPUTE,
                self.device_begin,
                self.device_end - self.device_begin,
                args,
            )
        if self.ledger:
            self.ledger.step(step.name, step.start, step.end, self.device_end)

    def settle(self) -> None:
        """Count the finished host events, now that all device work launched by them has run."""
        for thread in (self.main, self.autograd):
            for frame in thread.finished if self.ledger else ():
                assert self.ledger is not None
                self.ledger.host_tree(frame)
            thread.finished.clear()

    def _memory(self, thread: Thread, address: int, size: int) -> None:
        self.text.memory(
            self.pid,
            thread.tid,
            thread.now,
            self.rank,
            address,
            size,
            (self.allocated, self.reserved),
        )
        self.spend(thread, 150)

    def _device_event(
        self,
        category: str,
        name: str,
        stream: int,
        start: int,
        dur: int,
        correlation: int,
        external: int,
        args: str,
    ) -> None:
        self.free[stream] = start + dur + 400 + int(600 * self.random.random())
        if correlation:
            self.device_end = max(self.device_end, start + dur)
            self.device_begin = min(self.device_begin or start, start)
            self.text.flow("f", correlation, self.rank, stream, start, "ac2g")
        shown = (
            f'"External id": {external}, "device": {self.rank}, "context": 1, "stream": {stream},'
            f' "correlation": {correlation}{args}'
        )
        self.text.complete(category, name, self.rank, stream, start, dur, shown)

    def _keep(self, thread: Thread, frame: Frame) -> None:
        if self.ledger is None:
            return
        if thread.open:
            thread.open[-1].children.append(frame)
        else:
            thread.finished.append(frame)

    def _operator(self, thread: Thread) -> Frame | None:
        return next((frame for frame in reversed(thread.open) if frame.kind == OPERATOR), None)

    def _external(self, thread: Thread) -> int:
        return next((frame.external for frame in reversed(thread.open) if frame.kind != PYTHON), 0)
