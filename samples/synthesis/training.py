"""A data-parallel training job of a small transformer: its steps, and how ranks wait."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import BinaryIO

from synthesis.catalogue import (
    COLLECTIVE,
    DROPOUT,
    GRAPH_KERNELS,
    LAYER,
    LOSS,
    NONE,
    STALE,
    Call,
    adam,
    average,
)
from synthesis.ledger import ANNOTATION, OPERATOR, PYTHON, Frame, Ledger
from synthesis.process import (
    COLLECTIVES,
    COMPUTE,
    COPY,
    SIDE,
    USUAL,
    Assumptions,
    Kernel,
    Process,
    Steady,
    Thread,
)
from synthesis.text import TraceText, header

FIRST_STEP = 3
ODD_STEP = 7
"""The step in which one rank's DataLoader stalls; ``FIRST_STEP`` is the cold one."""
_ORIGIN = 4_367_264_000_000_000
_TOKENS = 4096
Done = tuple[int, Call, float]
"""A forward call that has a backward: sequence number, call, factor of its module."""


class Job:
    """All ranks of one run, advanced step by step. ``streams``: one open binary stream per rank."""

    def __init__(
        self,
        streams: Sequence[BinaryIO],
        names: Sequence[str],
        seed: int,
        layers: int,
        expected: bool,
        assumptions: Assumptions = USUAL,
    ) -> None:
        ranks = len(streams)
        self.assumptions = assumptions
        random = Steady if assumptions.steady else Random
        self.layers = layers
        self.straggler = ranks * 5 // 8 if ranks > 1 else -1
        self.stalled = 2 % ranks
        self.next_step = FIRST_STEP
        self.random = random(f"{seed} job")
        self.skews = [
            self.random.randrange(-2_000_000, 2_000_000) if ranks > 1 else 0 for _ in range(ranks)
        ]
        self.processes = [
            Process(
                rank,
                ranks,
                TraceText(
                    streams[rank],
                    header(rank, ranks, seed),
                    _ORIGIN + self.skews[rank],
                    names[rank],
                ),
                random(f"{seed} rank {rank}"),
                Ledger() if expected else None,
                assumptions,
            )
            for rank in range(ranks)
        ]
        for process in self.processes:
            _before(process)

    def step(self) -> None:
        """One training step on every rank."""
        number = self.next_step
        self.next_step += 1
        for process in self.processes:
            cold = number == FIRST_STEP
            process.host = 3.0 if cold else 1.0
            slow = self.assumptions.straggler if process.rank == self.straggler else 1.0
            process.device = (1.2 if cold else 1.0) * slow * self.assumptions.device
            process.start_step()
            process.begin(process.main, ANNOTATION, f"ProfilerStep#{number}")
            self.load(process, number)
            self.forward_backward(process, number)
        self._communicate()
        for process in self.processes:
            process.finish_step(self.update(process, number))
            process.settle()

    def load(self, process: Process, number: int) -> None:
        """Get the batch of a step."""
        odd = number == ODD_STEP and process.rank == self.stalled
        load(process, 12_000_000 if odd else 350_000)

    def forward_backward(self, process: Process, number: int) -> None:
        """Launch both passes of a step; ``number`` is for jobs that differ by step."""
        _forward_backward(process, self.layers)

    def update(self, process: Process, number: int) -> Frame:
        """All of a step after its collectives; the step."""
        return _update(process, number, self.layers)

    def close(self) -> None:
        """End the recordings."""
        for process in self.processes:
            _after(process)
            process.settle()
            process.text.close()

    def _communicate(self) -> None:
        """Each collective runs once the last rank has reached it, and ends on all ranks at about
        the same time.
        """
        ranks = len(self.processes)
        for i in range(len(self.processes[0].pending)):
            calls = [process.pending[i] for process in self.processes]
            starts = [
                max(call.ready, process.free[COLLECTIVES])
                for call, process in zip(calls, self.processes, strict=True)
            ]
            transfer = 18_000 + int(calls[0].bytes / 160 * (0.98 + 0.04 * self.random.random()))
            transfer = int(transfer * self.assumptions.transfer)
            for call, process, start in zip(calls, self.processes, starts, strict=True):
                end = max(starts) + transfer + self.random.randrange(400)
                process.run_collective(
                    call,
                    COLLECTIVE,
                    start,
                    end - start,
                    _collective_args(call.bytes, ranks, call.sequence),
                )
        for process in self.processes:
            process.pending.clear()


def _collective_args(size: int, ranks: int, sequence: int) -> str:
    listed = ", ".join(str(rank) for rank in range(ranks))
    return (
        f'"Collective name": "allreduce", "In msg nelems": {size // 2}, "Out msg nelems":'
        f' {size // 2}, "Group size": {ranks}, "dtype": "BFloat16", "In split size": "[]", "Out'
        ' split size": "[]", "Process Group Name": "0", "Process Group Description": "default_pg",'
        f' "Process Group Ranks": "[{listed}]", "Seq": {sequence}'
    )


def _before(process: Process) -> None:
    """What a recording has before its first step: metadata, kernels launched before it, an
    operator.
    """
    text = process.text
    text.instant("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", 0)
    text.process(process.pid, "CPU", process.pid)
    text.process(process.rank, f"GPU {process.rank}", 16_777_216 + process.rank)
    main, autograd = process.main.tid, process.autograd.tid
    text.threads(
        process.pid,
        ((main, f"thread {main} (python)"), (autograd, f"thread {autograd} (pt_autograd_0)")),
    )
    text.threads(
        process.rank,
        tuple((stream, f"stream {stream} ") for stream in (COMPUTE, COPY, SIDE, COLLECTIVES)),
    )
    for i in range(2):
        process.run_kernel(STALE, COMPUTE, 0, 20_000 + 30_000 * i, None, 0)
    process.main.now = 200_000
    operator(process, process.main, Call("aten::empty", (NONE,) * 6))


def _after(process: Process) -> None:
    """An operator after the last step, and the end of the recording."""
    process.main.now = max(process.main.now, *process.free.values()) + 50_000
    operator(process, process.main, Call("aten::empty", (NONE,) * 6))
    process.text.complete(
        "Trace",
        "PyTorch Profiler (0)",
        "Spans",
        "PyTorch Profiler",
        0,
        process.main.now + 100_000,
        '"Op count": 0',
    )
    process.text.instant("Record Window End", "", "", process.main.now + 200_000)


def load(process: Process, wait: int) -> None:
    """Wait for a batch and copy it, on the stream for copies when a second one follows."""
    thread = process.main
    process.begin(
        thread, ANNOTATION, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    )
    process.begin(thread, PYTHON, "torch/utils/data/dataloader.py(1482): _next_data")
    thread.now += int(process.ns(wait) * process.assumptions.batch)
    process.end(thread)
    process.end(thread)
    batch = f"[8, {_TOKENS // 8}]"
    for stream in (COMPUTE, COPY):
        for name in ("aten::to", "aten::_to_copy"):
            process.begin(
                thread,
                OPERATOR,
                name,
                f', "Input Dims": [{batch}, [], [], [], []], "Input type": ["long int", "", "",'
                ' "", ""]',
            )
        process.begin(
            thread,
            OPERATOR,
            "aten::copy_",
            f', "Input Dims": [{batch}, {batch}, []], "Input type": ["long int", "long int",'
            ' "Scalar"]',
        )
        process.copy(thread, "HtoD", _TOKENS * 8 * 16, stream)
        for _ in range(3):
            process.end(thread)


def _forward_backward(process: Process, layers: int) -> None:
    thread = process.main
    done: list[Done] = []
    process.begin(thread, PYTHON, "nn.Module: DistributedDataParallel_0", ', "Python module id": 0')
    process.begin(thread, ANNOTATION, "DistributedDataParallel.forward")
    for layer in range(layers):
        _layer(process, layer, done)
    process.end(thread)
    process.end(thread)
    process.begin(thread, PYTHON, "nn.Module: CrossEntropyLoss_0", ', "Python module id": 0')
    _forward_call(process, LOSS, done)
    process.end(thread)
    process.begin(thread, PYTHON, "torch/_tensor.py(566): backward")
    process.begin(
        thread,
        PYTHON,
        "<built-in method run_backward of torch._C._EngineBase object at 0x7f20c0de0000>",
    )
    process.spend(thread, 9_000)
    process.autograd.now = thread.now
    _backward(process, done, layers)
    thread.now = max(thread.now, process.autograd.now)
    process.spend(thread, 6_000)
    process.end(thread)
    process.end(thread)


def _layer(process: Process, layer: int, done: list[Done]) -> None:
    thread = process.main
    process.begin(thread, PYTHON, f"nn.Module: Block_{layer}", f', "Python module id": {layer}')
    for i, (module, line, calls) in enumerate(LAYER):
        process.begin(
            thread,
            PYTHON,
            f"nn.Module: {module}_{layer * len(LAYER) + i}",
            f', "Python module id": {layer * len(LAYER) + i}',
        )
        process.begin(thread, PYTHON, line)
        for call in calls:
            _forward_call(process, call, done)
        process.end(thread)
        process.end(thread)
    if layer % 2:
        process.begin(
            thread,
            OPERATOR,
            "aten::native_dropout",
            ', "Input Dims": [[8, 512, 1024], [], []], "Input type": ["c10::BFloat16", "Scalar",'
            ' "Scalar"]',
        )
        process.launch(thread, DROPOUT, SIDE)
        process.end(thread)
    process.end(thread)


def _forward_call(process: Process, call: Call, done: list[Done]) -> None:
    if call.gradient:
        process.sequence += 1
        process.text.flow(
            "s", process.sequence, process.pid, process.main.tid, process.main.now, "fwdbwd"
        )
        done.append((process.sequence, call, process.module_factor(process.main)))
    operator(
        process,
        process.main,
        call,
        f', "Sequence number": {process.sequence}, "Fwd thread id": 0' if call.gradient else "",
    )


def operator(process: Process, thread: Thread, call: Call, more: str = "", arrow: int = 0) -> None:
    """Run a call and all that it calls."""
    process.begin(thread, OPERATOR, call.name, more + call.args, arrow)
    launched = False
    for kind, value in call.body:
        if isinstance(value, Kernel) and launched and call.name in process.assumptions.fused:
            process.skip_launch()
            continue
        launched |= isinstance(value, Kernel)
        if isinstance(value, Call):
            operator(process, thread, value)
        elif isinstance(value, Kernel):
            process.launch(thread, value, COMPUTE, kind)
        elif kind == "allocate":
            process.allocate(thread, value, "activations")
        elif kind == "runtime":
            process.runtime(thread, "cudaStreamIsCapturing", value)
        else:
            process.copy(thread, "DtoD", value)
    process.end(thread)


def _backward(process: Process, done: list[Done], layers: int) -> None:
    """Run the graph backwards on autograd's thread; a bucket of gradients is reduced after each
    layer.
    """
    thread = process.autograd
    per_layer = max(1, (len(done) - 1) // layers)
    for i, (sequence, call, factor) in enumerate(reversed(done)):
        thread.forward = factor
        more = f', "Sequence number": {sequence}, "Fwd thread id": 1'
        name = call.gradient
        process.begin(thread, OPERATOR, f"autograd::engine::evaluate_function: {name}", more)
        process.begin(thread, OPERATOR, name, more, sequence)
        for inner in call.backward:
            operator(process, thread, inner)
        process.end(thread)
        process.end(thread)
        thread.forward = 1
        if i and i % per_layer == 0:
            _reduce(process, thread, 24 << 20)
    process.release(thread, "activations")


def _reduce(process: Process, thread: Thread, size: int) -> None:
    """An all-reduce as DistributedDataParallel issues it."""
    process.collectives += 1
    args = (
        f', "Input Dims": [[[{size // 2}]], [], [], [], [], []], "Input type": ["TensorList", "",'
        ' "", "", "Scalar", "Scalar"]'
    )
    process.begin(thread, OPERATOR, "c10d::allreduce_", args)
    process.begin(
        thread,
        OPERATOR,
        "record_param_comms",
        ", " + _collective_args(size, process.ranks, process.collectives),
    )
    process.begin(thread, ANNOTATION, "nccl:all_reduce")
    process.runtime(thread, "cudaEventRecord", 1500)
    process.runtime(thread, "cudaStreamWaitEvent", 1400)
    process.launch_collective(thread, size)
    for _ in range(3):
        process.end(thread)


def _update(process: Process, number: int, layers: int) -> Frame:
    """Wait for the collectives, update the weights, read the loss; an average still runs when the
    step ends.
    """
    thread = process.main
    process.runtime(thread, "cudaStreamWaitEvent", 1400)
    if process.assumptions.awaits:
        process.free[COMPUTE] = max(process.free[COMPUTE], process.free[COLLECTIVES])
    process.begin(thread, ANNOTATION, "Optimizer.step#AdamW.step")
    operator(process, thread, adam(layers))
    process.end(thread)
    _graph(process, thread)
    process.begin(thread, OPERATOR, "aten::item")
    process.begin(thread, OPERATOR, "aten::_local_scalar_dense")
    process.copy(thread, "DtoH", 4)
    until = process.free[COMPUTE] if process.assumptions.synchronizes else 0
    process.runtime(thread, "cudaStreamSynchronize", 2000, until=until)
    process.end(thread)
    process.end(thread)
    process.begin(thread, ANNOTATION, "Optimizer.zero_grad#AdamW.zero_grad")
    process.begin(
        thread,
        OPERATOR,
        "aten::zero_",
        ', "Input Dims": [[25165824]], "Input type": ["c10::BFloat16"]',
    )
    process.copy(thread, "Set", 48 << 20)
    process.end(thread)
    process.end(thread)
    if number % 2:
        operator(process, thread, average(layers))
    step = process.end(thread)
    process.spend(thread, 3_000)
    return step


def _graph(process: Process, thread: Thread) -> None:
    """Replay a captured graph, outside every operator: one launch, many kernels, one correlation."""
    now = thread.now
    correlation = process.runtime(thread, "cudaGraphLaunch", 14_000)
    process.text.flow("s", correlation, process.pid, thread.tid, now, "ac2g")
    for i in range(20):
        process.run_kernel(
            GRAPH_KERNELS[i % len(GRAPH_KERNELS)], COMPUTE, correlation, now + 15_000, None, 0
        )
