"""Two recordings of a small data-parallel job that differ in one injected change, with noise.

``python -m tests.builders.pairs FOLDER`` writes every pair as files that TensorBoard shows, for
looking at by eye and for tests in a browser.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.builders.drawn import Event, text_of

PID, MAIN, AUTOGRAD = 100, 1, 2
COMPUTE, COPIES, COLLECTIVES = 7, 13, 20
GELU = (
    "void at::native::vectorized_elementwise_kernel<4,"
    " at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&)::{lambda()#1}>(int)"
)
GEMM, NCCL, ADAM = (
    "sm90_xmma_gemm_bf16",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "multi_tensor_apply_kernel",
)
WAITS = "train.py(31): keep_valid;train.py(12): main"
"""Who makes the host wait where ``syncs`` are injected, innermost first."""
COPY = "Memcpy HtoD (Pageable -> Device)"
NO_CHANGE = "again"


@dataclass(frozen=True)
class Change:
    """How a recording differs from the baseline; times in µs."""

    gelu: float = 300.0
    overlap: bool = True
    copies: int = 0
    syncs: bool = False
    gemm_name: str = GEMM
    root: str = "Net_0"
    wrapper: str = ""
    blocks: int = 3
    first_linear: int = 0


CHANGES: dict[str, Change] = {
    NO_CHANGE: Change(),
    "slower_kernel": Change(gelu=450.0),
    "missing_overlap": Change(overlap=False),
    "extra_copy": Change(copies=1),
    "new_sync": Change(syncs=True),
    "renamed": Change(gemm_name="nvjet_tst_256x128", wrapper="OptimizedModule_0", first_linear=7),
}


class _Job:
    """The clocks of one process, and what the profiler writes."""

    def __init__(self, change: Change, seed: int, noise: float) -> None:
        self.change, self.random, self.noise = change, Random(seed), noise
        self.events: list[Event] = []
        self.now = {MAIN: 0.0, AUTOGRAD: 0.0}
        self.free = dict.fromkeys((COMPUTE, COPIES, COLLECTIVES), 0.0)
        self.correlation = 0
        self.pace = 1.0

    def varied(self, usual: float) -> float:
        return usual * self.pace * max(0.2, 1 + self.noise * self.random.gauss(0, 1))

    @contextmanager
    def span(
        self, name: str, category: str = "cpu_op", thread: int = MAIN, **args: object
    ) -> Iterator[None]:
        begin = self.now[thread]
        self.now[thread] += self.varied(2)
        yield
        self.now[thread] += self.varied(2)
        self._add(category, name, PID, thread, begin, self.now[thread], dict(args))

    def call(self, name: str, thread: int, usual: float, until: float = 0.0) -> float:
        """A runtime call; when it began."""
        begin = self.now[thread]
        self.correlation += 1
        self.now[thread] = max(begin + self.varied(usual), until)
        self._add(
            "cuda_runtime",
            name,
            PID,
            thread,
            begin,
            self.now[thread],
            {"correlation": self.correlation},
        )
        return begin

    def launch(
        self,
        kernel: str,
        usual: float,
        thread: int = MAIN,
        stream: int = COMPUTE,
        after: float = 0.0,
    ) -> float:
        """Launch device work; when it is done."""
        self.call(
            "cudaMemcpyAsync" if kernel.startswith("Memcpy") else "cudaLaunchKernel", thread, 5
        )
        start = max(self.now[thread], self.free[stream], after)
        end = self.free[stream] = start + self.varied(usual)
        category = "gpu_memcpy" if kernel.startswith("Memcpy") else "kernel"
        self._add(
            category,
            kernel,
            0,
            stream,
            start,
            end,
            {"correlation": self.correlation, "device": 0, "stream": stream},
        )
        return end

    def _add(
        self,
        category: str,
        name: str,
        pid: int,
        tid: int,
        begin: float,
        end: float,
        args: dict[str, object],
    ) -> None:
        times = {"ts": round(begin, 3), "dur": round(end - begin, 3)}
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": pid,
                "tid": tid,
                **times,
                "args": args,
            }
        )

    def step(self, number: int) -> None:
        self.pace = max(0.5, 1 + self.noise * self.random.gauss(0, 1))
        with self.span(f"ProfilerStep#{number}", "user_annotation"):
            self._forward()
            self.now[AUTOGRAD] = self.now[MAIN]
            self._backward()
            self.now[MAIN] = max(self.now.values())
            with (
                self.span("Optimizer.step#AdamW.step", "user_annotation"),
                self.span("aten::_fused_adamw_"),
            ):
                self.launch(ADAM, 400, after=self.free[COLLECTIVES])
            with self.span("aten::item"), self.span("aten::_local_scalar_dense"):
                self.call("cudaStreamSynchronize", MAIN, 3, self.free[COMPUTE])

    def _forward(self) -> None:
        change = self.change
        with self._modules(*filter(None, (change.wrapper, change.root))):
            for _ in range(change.copies):
                with self.span("aten::to"), self.span("aten::copy_"):
                    # From pageable memory: the host waits until it is done.
                    self.call(
                        "cudaStreamSynchronize",
                        MAIN,
                        3,
                        max(self.free[COMPUTE], self.launch(COPY, 900)),
                    )
            for block in range(change.blocks):
                with self._modules(f"Block_{block}"):
                    with (
                        self._modules(f"Linear_{change.first_linear + block}"),
                        self.span("aten::linear"),
                        self.span("aten::addmm"),
                    ):
                        self.launch(change.gemm_name, 500)
                    with self._modules(f"GELU_{block}"), self.span("aten::gelu"):
                        self.launch(GELU, change.gelu)
                if change.syncs:
                    stack: dict[str, Any] = {"Call stack": WAITS}
                    with self.span("aten::nonzero", **stack):
                        self.call("cudaStreamSynchronize", MAIN, 3, self.free[COMPUTE])
                        self.now[MAIN] += self.varied(150)

    def _backward(self) -> None:
        for _ in range(self.change.blocks):
            with (
                self.span("autograd::engine::evaluate_function: AddmmBackward0", thread=AUTOGRAD),
                self.span("aten::mm", thread=AUTOGRAD),
            ):
                done = self.launch(
                    self.change.gemm_name,
                    900,
                    AUTOGRAD,
                    after=0.0 if self.change.overlap else self.free[COLLECTIVES],
                )
            with (
                self.span("c10d::allreduce_", thread=AUTOGRAD),
                self.span("record_param_comms", thread=AUTOGRAD),
            ):
                self.launch(NCCL, 600, AUTOGRAD, COLLECTIVES, after=done)

    @contextmanager
    def _modules(self, *names: str) -> Iterator[None]:
        if not names:
            yield
            return
        with (
            self.span(f"nn.Module: {names[0]}", "python_function", **{"Python module id": 0}),
            self._modules(*names[1:]),
        ):
            yield


def recording(
    change: Change = CHANGES[NO_CHANGE], seed: int = 0, steps: int = 8, noise: float = 0.01
) -> list[Event]:
    """The entries of ``traceEvents``; ``noise``: relative standard deviation of durations and step
    pace.
    """
    job = _Job(change, seed, noise)
    for number in range(steps):
        job.step(number + 1)
    return job.events


def write_pairs(folder: Path, steps: int = 8) -> dict[str, Path]:
    """Write a run ``baseline`` and one per change below ``folder``; the traces by name."""
    written = {}
    for seed, (name, change) in enumerate({"baseline": CHANGES[NO_CHANGE], **CHANGES}.items()):
        written[name] = folder / name / "worker0.pt.trace.json"
        written[name].parent.mkdir(parents=True, exist_ok=True)
        written[name].write_text(text_of(recording(change, seed, steps)), encoding="utf-8")
    return written


if __name__ == "__main__":
    for written in write_pairs(Path(sys.argv[1])).values():
        print(written)
