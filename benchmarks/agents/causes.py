"""What can be wrong with the synthetic job: each cause plants itself, and says which findings name it.

A cause plants what a program of that kind does, in the words that Kineto has for it, never what a rule looks
for: durations, counts and places are drawn, and the rest of the job stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from synthesis.catalogue import LAYER, Call, number, tensor
from synthesis.ledger import ANNOTATION, OPERATOR, PYTHON
from synthesis.process import COMPUTE, Kernel, Process
from synthesis.training import FIRST_STEP, operator

STEPS = 8
MS = 1_000_000
_ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>,"
    " std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)
_SUM = (
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float,"
    " at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>>, unsigned int,"
    " float, 4, 4> >(at::native::ReduceOp)"
)
_LONG = [
    "flash_bwd",
    "flash_fwd",
    "nvjet_tst_256x128",
    "vectorized_layer_norm",
    "layer_norm_grad",
    "SoftMaxForward",
    "SoftMaxBackward",
    "GeluCUDAKernel",
]
"""Kernels of the job, by a part of their names."""


class Cause:
    """A cause, with what is drawn of it. All that its methods write is planted; so is each event whose ``category:name`` is like one of ``names``.

    Attributes:
        rules: findings that name it.
        events: whether it has events to show.
        ranks: of the run; ``rank``: where it is planted, −1 for all.
        assumed: what it changes of ``Assumptions``.
    """

    rules: Sequence[str] = ()
    question = ""
    events = True
    ranks = 1

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rank = -1
        self.names: tuple[str, ...] = ()
        self.assumed: dict[str, Any] = {}
        warm = range(FIRST_STEP + 1, FIRST_STEP + STEPS)
        self.some = sorted(random.sample(warm, random.randint(1, 2)))
        self.draw(random)

    def draw(self, random: Random) -> None:
        """What is particular to this case."""

    def wait(self, step: int) -> int:
        """How long this step waits for its batch, ns; 0: as usual."""
        return 0

    def compute(self, process: Process, step: int) -> None:
        """After the backward pass of a step."""

    def update(self, process: Process, step: int) -> None:
        """Once the collectives have run."""

    def before(self, process: Process) -> None:
        """Before the first step."""


def _small(name: str, ns: int, grid: int = 64) -> Kernel:
    return Kernel(name, (grid, 1, 1), (128, 1, 1), 24, 0, 60, ns)


class SlowLoader(Cause):
    """Every batch comes late."""

    rules = ("input_bound",)
    question = "Why does every step begin with an idle GPU?"

    def draw(self, random: Random) -> None:
        self.ms = random.uniform(7, 20)

    def wait(self, step: int) -> int:
        return int(self.ms * MS)


class StalledLoader(Cause):
    """In one or two steps the DataLoader stalls."""

    rules = ("input_bound",)
    question = "What makes single steps slow?"

    def draw(self, random: Random) -> None:
        self.ms = random.uniform(15, 60)

    def wait(self, step: int) -> int:
        return int(self.ms * MS) if step in self.some else 0


class Synchronises(Cause):
    """Values are read one by one, each when it has been computed."""

    rules = ("host_synchronisation",)
    question = "What keeps the host from running ahead?"

    def draw(self, random: Random) -> None:
        self.reads = random.randint(10, 60)
        self.ns = random.randint(3_000, 9_000)

    def compute(self, process: Process, step: int) -> None:
        thread = process.main
        value = tensor(4096, kind="float")
        kernel = _small(_SUM, self.ns)
        process.begin(thread, PYTHON, f"metrics.py({20 + self.reads}): update")
        for _ in range(self.reads):
            operator(process, thread, Call("aten::sum", (value,), (("cudaLaunchKernel", kernel),)))
            process.begin(thread, OPERATOR, "aten::item")
            process.begin(thread, OPERATOR, "aten::_local_scalar_dense")
            process.copy(thread, "DtoH", 4)
            process.runtime(thread, "cudaStreamSynchronize", 2000, until=process.free[COMPUTE])
            process.end(thread)
            process.end(thread)
        process.end(thread)


class ManySmall(Cause):
    """Hundreds of operators of a few microseconds each."""

    rules = ("many_small_calls", "own_code", "launch_bound")
    question = "Why is the GPU idle between kernels?"

    def draw(self, random: Random) -> None:
        self.count, self.ns = random.randint(250, 450), random.randint(1_500, 3_500)
        self.python = random.randint(8_000, 25_000)

    def compute(self, process: Process, step: int) -> None:
        thread = process.main
        value = tensor(256, 32, kind="float")
        call = Call(
            "aten::add",
            (value, value, number(1)),
            (("cudaLaunchKernel", _small(_ADD, self.ns)),),
        )
        process.begin(thread, PYTHON, "loss.py(57): pairwise")
        for _ in range(self.count):
            process.begin(thread, PYTHON, "loss.py(31): distance")
            process.spend(thread, self.python)
            operator(process, thread, call)
            process.end(thread)
        process.end(thread)


class SlowRank(Cause):
    """The GPU of one rank is slower."""

    rules = ("late_itself", "straggler")
    question = "Which rank holds the others back, and by what?"

    def draw(self, random: Random) -> None:
        self.ranks = random.randint(2, 4)
        self.rank = random.randrange(self.ranks)
        self.names = ("kernel:*",)
        self.assumed = {"straggler": random.uniform(1.3, 2)}


class LateRank(Cause):
    """One rank waits for its batches, the others for it."""

    rules = ("late_itself", "straggler")
    question = "Which rank holds the others back, and by what?"

    def draw(self, random: Random) -> None:
        self.ranks = random.randint(2, 4)
        self.rank = random.randrange(self.ranks)
        self.ms = random.uniform(6, 25)

    def wait(self, step: int) -> int:
        return int(self.ms * MS)


class SlowNetwork(Cause):
    """Collectives take many times as long as they should."""

    rules = ("exposed_communication",)
    question = "What does the GPU wait for at the end of the backward pass?"

    def draw(self, random: Random) -> None:
        self.ranks = 2
        self.names = ("kernel:ncclDevKernel*",)
        self.assumed = {"transfer": random.uniform(6, 30)}


class SlowKernel(Cause):
    """One kernel takes many times as long as the GPU needs."""

    rules = ("far_from_peak",)
    question = "Which kernel is far from what the GPU can do?"

    def draw(self, random: Random) -> None:
        name = f"*{random.choice(_LONG)}*"
        self.names = (f"kernel:{name}",)
        self.assumed = {"kernels": ((name, random.uniform(6, 25)),)}


class FullMemory(Cause):
    """The allocator has nearly all of the memory."""

    rules = ("memory_near_capacity",)
    question = "How near is the job to an out-of-memory error?"
    events = False

    def draw(self, random: Random) -> None:
        self.share = random.uniform(0.92, 0.985)

    def before(self, process: Process) -> None:
        process.allocated = process.reserved = int(85_018_279_936 * self.share) - (1 << 30)


class PageableCopies(Cause):
    """Batches come from memory that is not pinned, and the host waits for each copy."""

    rules = ("host_synchronisation", "exposed_copies")
    question = "What is wrong with how batches get to the GPU?"

    def draw(self, random: Random) -> None:
        self.bytes, self.count = random.randint(20, 90) << 20, random.randint(1, 4)

    def compute(self, process: Process, step: int) -> None:
        thread = process.main
        images = tensor(64, 3, 224, 224, kind="float")
        process.begin(thread, PYTHON, "train.py(63): to_device")
        for name in ["aten::copy_"] * self.count:
            process.begin(thread, OPERATOR, name, Call("", (images, images, number("False"))).args)
            process.copy(thread, "Pageable", self.bytes)
            process.runtime(thread, "cudaStreamSynchronize", 2000, until=process.free[COMPUTE])
            process.end(thread)
        process.end(thread)


class Recompiles(Cause):
    """In one or two steps a changed shape is compiled for."""

    rules = ("recompiles", "idle_host")
    question = "What makes single steps slow?"

    def draw(self, random: Random) -> None:
        self.ms = random.uniform(60, 900)

    def compute(self, process: Process, step: int) -> None:
        if step not in self.some:
            return
        thread = process.main
        process.begin(thread, PYTHON, "torch/_dynamo/convert_frame.py(1472): __call__")
        process.begin(thread, ANNOTATION, "_compile.compile_inner (dynamo_timed)")
        process.begin(thread, PYTHON, "torch/_inductor/compile_fx.py(748): compile_fx_inner")
        thread.now += int(self.ms * MS)
        for _ in range(3):
            process.end(thread)


class SingleTensorOptimizer(Cause):
    """The optimizer updates its parameters one by one."""

    rules = ("optimizer_unfused",)
    question = "What is slow about the optimizer?"

    def draw(self, random: Random) -> None:
        self.parameters, self.ns = random.randint(60, 140), random.randint(2_000, 7_000)

    def update(self, process: Process, step: int) -> None:
        thread = process.main
        weight = tensor(1024, 64, kind="float")
        bodies = (("cudaLaunchKernel", _small(_ADD, self.ns)),)
        process.begin(thread, ANNOTATION, "Optimizer.step#RAdam.step")
        process.begin(thread, PYTHON, "torch/optim/radam.py(259): _single_tensor_radam")
        for _ in range(self.parameters):
            for name in ("aten::mul_", "aten::add_", "aten::addcmul_", "aten::addcdiv_"):
                operator(process, thread, Call(name, (weight, weight), bodies))
        process.end(thread)
        process.end(thread)


class HostWork(Cause):
    """Python computes something while the GPU has nothing to do, in every step."""

    rules = ("idle_host",)
    question = "What does the host do while the GPU is idle?"

    def draw(self, random: Random) -> None:
        self.ms = random.uniform(9, 40)
        self.line = random.choice(
            [
                "scipy/optimize/_lsap.py(83): linear_sum_assignment",
                "json/encoder.py(183): encode",
                "numpy/lib/npyio.py(546): save",
                "eval/coco.py(212): evaluate_masks",
            ]
        )

    def update(self, process: Process, step: int) -> None:
        thread = process.main
        process.begin(thread, PYTHON, self.line)
        thread.now += int(process.ns(int(self.ms * MS)))
        process.end(thread)


class Recomputes(Cause):
    """Layers run again in the backward pass."""

    rules = ("recompute",)
    question = "Is anything computed twice?"

    def draw(self, random: Random) -> None:
        self.layers = random.randint(2, 6)

    def compute(self, process: Process, step: int) -> None:
        thread = process.autograd
        thread.now = max(thread.now, process.main.now)
        for _ in range(self.layers):
            name = "autograd::engine::evaluate_function: CheckpointFunctionBackward"
            process.begin(thread, OPERATOR, name, ', "Sequence number": 1, "Fwd thread id": 1')
            for _, _, calls in LAYER:
                for call in calls:
                    process.sequence += 1
                    more = f', "Sequence number": {process.sequence}, "Fwd thread id": 0'
                    operator(process, thread, call, more)
            process.end(thread)
        process.main.now = max(process.main.now, thread.now)


class LoadsKernels(Cause):
    """The driver loads kernels when they are first called, in one or two steps."""

    rules = ("kernel_loading",)
    question = "What makes single steps slow?"

    def draw(self, random: Random) -> None:
        self.kernels, self.ms = random.randint(3, 9), random.uniform(6, 20)

    def compute(self, process: Process, step: int) -> None:
        if step not in self.some:
            return
        thread = process.main
        for i in range(self.kernels):
            process.begin(thread, OPERATOR, "aten::index_select")
            start, ns = thread.now, process.ns(int(self.ms * MS))
            process.text.complete(
                "overhead", "Lazy Function Loading", -1, 0, start, ns, '"overhead cost": 0'
            )
            process.runtime(thread, "cudaLaunchKernel", 4200, until=start + ns)
            process.run_kernel(
                _small(f"indexSelectSmallIndex<float, {i}>", 6_000),
                COMPUTE,
                process.correlation,
                thread.now,
                None,
                0,
            )
            process.end(thread)


class EmptiesCache(Cause):
    """The program gives its cached memory back in every step and takes it again."""

    rules = ("allocator_churn",)
    question = "Does the allocator slow the step down?"

    def draw(self, random: Random) -> None:
        self.blocks, self.us = random.randint(4, 12), random.randint(300, 1_200)

    def update(self, process: Process, step: int) -> None:
        thread = process.main
        process.begin(thread, PYTHON, "torch/cuda/memory.py(218): empty_cache")
        for _ in range(self.blocks):
            process.runtime(
                thread, "cudaFree", self.us * 1000, until=max(process.free.values()) + 2_000
            )
        process.end(thread)
        for _ in range(self.blocks):
            process.runtime(thread, "cudaMalloc", self.us * 1000)


def _product(m: int, n: int, k: int, kind: str, kernel: Kernel) -> Call:
    shapes = (tensor(m, k, kind=kind), tensor(k, n, kind=kind))
    return Call("aten::mm", shapes, (("cudaLaunchKernel", kernel),))


class SinglePrecision(Cause):
    """Products in float32, without TF32."""

    rules = ("matrix_cores_unused",)
    question = "Does the job use the matrix units of the GPU?"

    def draw(self, random: Random) -> None:
        self.size, self.count = 1024 * random.randint(2, 4), random.randint(2, 6)

    def compute(self, process: Process, step: int) -> None:
        size = self.size
        # 67 TFLOP/s of float32 on vector units, 80 % of which such a kernel reaches.
        ns = int(2 * size**3 / 67e12 * 1e9 / 0.8)
        grid = (size // 128, size // 64, 1)
        kernel = Kernel("ampere_sgemm_128x64_tn", grid, (128, 1, 1), 122, 16_384, 25, ns)
        for _ in range(self.count):
            call = _product(size, size, size, "float", kernel)
            operator(process, process.main, call)


class OddDimensions(Cause):
    """Products of a dimension that is no multiple of eight."""

    rules = ("unaligned_shapes",)
    question = "Do the shapes suit the matrix units?"

    def draw(self, random: Random) -> None:
        self.wide = random.randrange(20_001, 60_001, 2)
        self.rate = random.uniform(90e12, 180e12)

    def compute(self, process: Process, step: int) -> None:
        m, k = 4096, 1024
        ns = int(2 * m * self.wide * k / self.rate * 1e9)
        name = "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_nn_align1"
        kernel = Kernel(name, (32, self.wide // 128, 1), (128, 1, 1), 230, 65_536, 12, ns)
        operator(process, process.main, _product(m, self.wide, k, "c10::BFloat16", kernel))


class RepeatedCopies(Cause):
    """One table is copied to the GPU for every sample."""

    rules = ("repeated_copies",)
    question = "Are there copies that the job could do without?"

    def draw(self, random: Random) -> None:
        self.count, self.bytes = random.randint(20, 60), random.randint(1, 4) << 20

    def compute(self, process: Process, step: int) -> None:
        thread = process.main
        process.begin(thread, PYTHON, "model.py(88): positions")
        for _ in range(self.count):
            process.begin(thread, OPERATOR, "aten::copy_")
            process.copy(thread, "HtoD", self.bytes)
            process.end(thread)
        process.end(thread)


class FewBlocks(Cause):
    """A long kernel of a few blocks."""

    rules = ("few_blocks",)
    question = "Which kernel leaves most of the GPU idle?"

    def draw(self, random: Random) -> None:
        self.blocks, self.us = random.randint(2, 40), random.randint(700, 4_000)

    def compute(self, process: Process, step: int) -> None:
        kernel = _small("selective_scan_fwd_kernel<float>", self.us * 1000, self.blocks)
        call = Call("scan::selective_scan_fwd", (), (("cudaLaunchKernel", kernel),))
        operator(process, process.main, call)


CAUSES: tuple[type[Cause], ...] = tuple(Cause.__subclasses__())
"""In the order of this file."""
PAIRS: tuple[tuple[type[Cause], type[Cause]], ...] = (
    (SlowLoader, SlowKernel),
    (HostWork, SinglePrecision),
    (StalledLoader, SlowNetwork),
    (SlowNetwork, Recomputes),
    (SlowKernel, SingleTensorOptimizer),
    (Synchronises, StalledLoader),
    (PageableCopies, OddDimensions),
    (EmptiesCache, SlowLoader),
    (Recompiles, SlowKernel),
    (ManySmall, SlowLoader),
)
