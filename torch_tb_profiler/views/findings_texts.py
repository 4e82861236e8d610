"""What is said about each finding: the rules of ``analysis/findings/rules`` decide, this file
words.

In braces stand the vendor's words (``device``, ``multiprocessor``, ``matrix_cores``), ``step``
(``step`` or ``recording``), ``gain`` and ``share`` (what could be had back), texts of the trace
(``words`` of the finding), and the finding's own numbers, printed with the unit that ``NUMBERS``
gives them.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_tb_profiler.views.findings_wire import FindingView

_DOCS = "https://docs.pytorch.org/docs/stable/"
_TUTORIALS = "https://docs.pytorch.org/tutorials/"


@dataclass(frozen=True)
class RuleText:
    """Texts of one rule. ``host_sentence``: replaces ``sentence`` where the trace has no device
    work.
    """

    title: str
    sentence: str
    attempt: str
    caveat: str
    views: tuple[FindingView, ...]
    links: tuple[tuple[str, str], ...] = ()
    host_sentence: str = ""


_LOADING = ("Multi-process data loading", _DOCS + "data.html#single-and-multi-process-data-loading")
_AMP = ("Automatic mixed precision", _DOCS + "amp.html")
_CHECKPOINT = ("Activation checkpointing", _DOCS + "checkpoint.html")
_COMPILE = ("torch.compile", _DOCS + "torch.compiler.html")
_TUNING = ("Performance tuning guide", _TUTORIALS + "recipes/recipes/tuning_guide.html")
_PINNED = (
    "Pinned memory and non_blocking copies",
    _TUTORIALS + "intermediate/pinmem_nonblock.html",
)
_ALLOCATOR = ("Memory management of CUDA devices", _DOCS + "notes/cuda.html#memory-management")

RULES: dict[str, RuleText] = {
    "input_bound": RuleText(
        "The {step} waits for input data",
        "The {device} is idle for {gain} of the {step} ({share}) while the program waits for its"
        " next batch; the longest wait was {longest}.",
        "Load in worker processes (num_workers above 0) or in more of them, and keep them alive"
        " (persistent_workers=True). Move decoding and augmentation out of the step or onto the"
        " {device}. pin_memory=True speeds up the copy that follows.",
        "Workers that wait for storage are not helped by more workers. The first batch of an epoch"
        " also starts the workers.",
        ("overview", "trace"),
        (_LOADING, _TUNING),
        "The DataLoader takes {gain} of the {step} ({share}); the longest wait was {longest}.",
    ),
    "host_synchronisation": RuleText(
        "The host waits for the {device}, then the {device} for the host",
        "Synchronising calls ({waits} per {step}) keep the host from launching ahead: up to {gain}"
        " of the {step} ({share}) the {device} is idle after them.",
        "Leave values on the {device}: collect losses as tensors and read them every so many steps,"
        " replace nonzero and boolean indices by where or masks of a fixed size, create tensors on"
        " the {device}, copy with pin_memory and non_blocking=True.",
        "A program that needs the value to decide what comes next must wait for it.",
        ("overview", "operator", "trace"),
        (_TUNING, _PINNED),
    ),
    "allocator_churn": RuleText(
        "Memory is taken from the driver inside the {step}",
        "Calls that take memory from the driver or give it back ({calls} per {step}) hold the host"
        " up: up to {gain} of the {step} ({share}) the {device} is idle after them.",
        "Let the caching allocator keep its memory: no empty_cache() in the loop, fewer sizes (pad"
        " or bucket the inputs), or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
        "The first steps of a program take memory that they keep; later ones should not.",
        ("overview", "memory", "trace"),
        (_ALLOCATOR,),
    ),
    "launch_bound": RuleText(
        "The host launches too slowly for the {device}",
        "The {device} runs out of work {gaps} times per {step} and waits up to {gain} ({share}) for"
        " the next launch; half of its {kernels} kernels last {median_kernel} or less.",
        "Launch fewer, larger kernels: torch.compile, device graphs, a larger batch, fused"
        " operators and optimizers. Keep Python work out of the loop.",
        "Recording slows the host: with_stack, record_shapes and profile_memory most. A larger"
        " batch may change convergence.",
        ("overview", "operator", "kernel", "trace"),
        (_COMPILE, ("CUDA graphs", _DOCS + "notes/cuda.html#cuda-graphs")),
    ),
    "idle_host": RuleText(
        "The {device} waits for the host",
        "The {device} is idle for up to {gain} of the {step} ({share}) because the host does"
        " something else than launching; the longest gap is {longest}, and operators or runtime"
        " calls fill {in_operators} of the gaps.",
        "Look at what the host does in the gaps below: computing on the CPU, loading or compiling"
        " kernels, reading files, logging. Move it out of the {step} or into another thread.",
        "A server is idle when nobody asks, and a first call compiles or loads kernels once.",
        ("overview", "trace"),
    ),
    "idle_queue": RuleText(
        "The {device} pauses between kernels",
        "Between kernels that were launched in time the {device} pauses {gaps} times per {step},"
        " {median_gap} each as a rule: up to {gain} ({share}).",
        "Fewer, larger kernels: torch.compile, fused operators, a larger batch. Device graphs"
        " shorten the pauses.",
        "Such a pause may be a wait for another stream.",
        ("overview", "kernel", "trace"),
        (_COMPILE,),
    ),
    "idle_other": RuleText(
        "The {device} is idle for a reason that the trace does not show",
        "The {device} is idle for up to {gain} of the {step} ({share}) though its next work had"
        " been launched, or when that was launched is not known.",
        "Look at the other streams, processes and ranks at these times, and record all activities"
        " (CPU and the accelerator).",
        "The device may have worked on what was not recorded: other processes share it, and some"
        " events may be missing from the trace.",
        ("overview", "trace"),
    ),
    "exposed_communication": RuleText(
        "Communication is not hidden behind computation",
        "For up to {gain} of the {step} ({share}) the {device} communicates and computes nothing;"
        " its collectives ({collectives} per {step}) take {total} together.",
        "Give the collectives more to overlap with (bucket size, order of the layers, prefetching),"
        " make them smaller (communication hooks, lower precision) or rarer (accumulate gradients"
        " under no_sync).",
        "A collective also lasts while it waits for the slowest rank: look at the Distributed view"
        " first. Accumulation changes the effective batch size.",
        ("overview", "distributed", "trace"),
        (
            ("Communication hooks", _DOCS + "ddp_comm_hooks.html"),
            ("DistributedDataParallel", _DOCS + "notes/ddp.html"),
        ),
        "For up to {gain} of the {step} ({share}) a collective is in progress and no thread runs an"
        " operator; the collectives ({collectives} per {step}) take {total} together.",
    ),
    "straggler": RuleText(
        "Another rank keeps this one waiting",
        "Worker {worker} comes last to the collectives in {late_steps} of {of_steps} steps; were it"
        " as fast as the next one, this worker would wait up to {gain} less per {step} ({share})."
        " {doing}",
        "Look at what that worker does before it arrives: more data, slower kernels, a stalled"
        " DataLoader, another program on its machine. Give it less, or the same as the others.",
        "Ranks with different parts of a model (pipeline stages) wait for each other by design.",
        ("overview", "distributed"),
    ),
    "late_itself": RuleText(
        "This rank keeps the others waiting",
        "This worker comes last to the collectives in {late_steps} of {of_steps} steps, {lead} per"
        " {step} after the next one; the others wait {caused} per {step} for it, all together."
        " {doing}",
        "Look at what it does before it arrives, and at its other findings: here they cost every"
        " rank.",
        "Ranks with different parts of a model (pipeline stages) wait for each other by design.",
        ("overview", "distributed"),
    ),
    "host_backend": RuleText(
        "Collectives of the {device} go through host memory",
        "The {device} is idle for up to {gain} of the {step} ({share}) while gloo moves data"
        " (collectives per {step}: {collectives}).",
        "Use the accelerator's own backend in init_process_group (nccl, on ROCm its RCCL; xccl,"
        " hccl).",
        "Where processes share one device, or only small host values are exchanged, gloo may be on"
        " purpose.",
        ("overview", "distributed"),
        (("Which backend to use", _DOCS + "distributed.html#which-backend-to-use"),),
    ),
    "data_parallel": RuleText(
        "DataParallel drives several devices from one process",
        "torch.nn.DataParallel drives {devices} devices from one process: it copies the model in"
        " every {step}, and one Python thread after another launches for them.",
        "Use DistributedDataParallel with one process per {device}.",
        "How much it saves, a trace of one process cannot show.",
        ("overview", "distributed"),
        (
            (
                "DistributedDataParallel instead of DataParallel",
                _DOCS + "notes/cuda.html#cuda-nn-ddp-instead",
            ),
        ),
    ),
    "recompute": RuleText(
        "The forward pass runs again in the backward pass",
        "Activation checkpointing computes parts of the forward pass twice: up to {gain} of the"
        " {step} ({share}).",
        "Checkpoint less: fewer or cheaper layers (selective checkpointing), as far as memory"
        " allows.",
        "It is what buys the memory; see the Memory view for how much is free.",
        ("overview", "operator", "module"),
        (_CHECKPOINT,),
        "Activation checkpointing computes parts of the forward pass twice: up to {gain} of the"
        " {step} ({share}).",
    ),
    "optimizer_unfused": RuleText(
        "The optimizer updates its parameters one by one",
        "Each step of the optimizer starts {kernels} kernels, half of them of {median_kernel} or"
        " less: up to {gain} of the {step} ({share}) is their starting and waiting.",
        "Use the fused or the foreach implementation: fused=True, or foreach=True, where the"
        " optimizer is created.",
        "Not every optimizer has one, and foreach needs memory for its intermediate values.",
        ("overview", "operator", "kernel"),
        (("Optimizer implementations", _DOCS + "optim.html#algorithms"),),
        "Each step of the optimizer runs {operators} operators, half of them of {median_operator}"
        " or less: up to {gain} of the {step} ({share}).",
    ),
    "matrix_cores_unused": RuleText(
        "{matrix_cores} are not used",
        "Matrix products and convolutions run without {matrix_cores} for up to {gain} of the {step}"
        " ({share}).",
        "Run them in bfloat16 or float16 (automatic mixed precision), or allow TF32 for float32"
        ' products where the {device} has it: torch.set_float32_matmul_precision("high").',
        "Lower precision changes results: check the loss. Where shapes or the {device} are not"
        " known, less is to be had: what memory limits gets no faster by {matrix_cores}.",
        ("overview", "efficiency", "operator", "kernel"),
        (_AMP, ("TF32", _DOCS + "notes/cuda.html#tf32-on-ampere")),
    ),
    "unaligned_shapes": RuleText(
        "Shapes keep {matrix_cores} from loading whole vectors",
        "Kernels ({kernels} per {step}) feed {matrix_cores} one or two elements at a time, because"
        " a dimension is no multiple of 8 (4 for TF32): up to {gain} ({share}).",
        "Pad that dimension, such as the vocabulary, the sequence or the number of classes, to a"
        " multiple of 8, better 64.",
        "Padding adds work of its own, and a sequence may have to stay as long as it is.",
        ("overview", "efficiency", "operator", "kernel"),
        (_TUNING,),
    ),
    "few_blocks": RuleText(
        "Kernels have fewer blocks than the {device} has {multiprocessor}s",
        "Kernels ({kernels} per {step}) leave {multiprocessor}s without work, with {blocks_per_sm}"
        " blocks per {multiprocessor} on average: up to {gain} ({share}).",
        "Give each kernel more to do: a larger batch, operators joined into one, other tile sizes;"
        " or run independent kernels on streams beside each other.",
        "A small problem has no more parts to spread.",
        ("overview", "efficiency", "kernel"),
    ),
    "far_from_peak": RuleText(
        "Kernels are far from what the {device} can do",
        "Long kernels ({kernels} per {step}, of distinct operators and shapes: {workloads}) reach"
        " {reached} of what the peaks of the {device} allow for their FLOPs and bytes: up to {gain}"
        " of the {step} ({share}) is beyond that.",
        "See in the Efficiency view what limits each. Memory: join operators (torch.compile), use"
        " smaller types, a better memory format (channels_last). Compute: dimensions that are"
        ' multiples of 8, better 64; torch.backends.cudnn.benchmark, or mode="max-autotune".'
        " Neither: a larger batch.",
        "No kernel reaches a peak, good ones 60 to 80 %. The bytes are the least that an operator"
        " can move, and irregular work is slower by nature.",
        ("overview", "efficiency", "operator", "kernel"),
        (_COMPILE, _TUNING),
    ),
    "repeated_copies": RuleText(
        "The same is copied to the {device} again and again",
        "{copies} copies of up to {bytes} per {step} come from places that had copied as much in"
        " the same {step}: up to {gain} ({share}).",
        "Keep the tensor on the {device} and reuse it, or copy all at once.",
        "Only sizes and places are compared: the data may differ.",
        ("overview", "memory", "trace"),
        (_PINNED,),
    ),
    "exposed_copies": RuleText(
        "Copies between host and {device} are not hidden",
        "For up to {gain} of the {step} ({share}) the {device} copies from or to the host and"
        " computes nothing; {pageable} of its copies ({copies} per {step}) use pageable memory.",
        "Copy from pinned memory with non_blocking=True while the previous batch is computed:"
        " pin_memory=True in the DataLoader, a stream for copies.",
        "What the next kernel needs at once cannot be hidden.",
        ("overview", "trace"),
        (_PINNED,),
    ),
    "memory_near_capacity": RuleText(
        "Memory is nearly full",
        "The allocator's peak is {peak}, {full} of the {memory} of {device} {number}: a slightly"
        " larger input ends in an out-of-memory error.",
        "Recompute activations instead of keeping them, use smaller data types, or shard optimizer"
        " state and parameters.",
        "The caching allocator keeps what it once took: reserved memory that is full need not be"
        " used.",
        ("overview", "memory"),
        (_CHECKPOINT, _AMP),
    ),
    "profiler_overhead": RuleText(
        "The profiler emptied its buffers",
        "The {device} is idle for {gain} of the {step} ({share}) within records of the profiler's"
        " own overhead.",
        "Nothing: without the profiler this time is not spent. Record fewer steps or fewer"
        " activities to see less of it.",
        "The host might have kept the {device} waiting anyway.",
        ("overview", "trace"),
        host_sentence="The profiler's own overhead takes {gain} of the {step} ({share}).",
    ),
    "kernel_loading": RuleText(
        "Kernels are loaded inside the {step}",
        "The {device} is idle for {gain} of the {step} ({share}) while the driver loads or compiles"
        " kernels, {records} times per {step}.",
        "Call everything once before it counts: more warm-up steps, or CUDA_MODULE_LOADING=EAGER in"
        " the environment.",
        "It happens once per kernel: later steps do not pay for it.",
        ("overview", "kernel", "trace"),
    ),
    "silent_end": RuleText(
        "Nothing was recorded at the end of the last step",
        "In the last step nothing at all was recorded for a while before its end, {gain} per {step}"
        " ({share}): most often the profiler that is being stopped.",
        "Leave the last step out when you compare times.",
        "The program may have slept or waited there.",
        ("overview", "trace"),
    ),
    "cold_step": RuleText(
        "The first step is a cold one",
        "The first recorded step takes {wall}, the others {others} as a rule. It is left out of all"
        " findings.",
        "Let the schedule warm up for more steps: schedule(wait=1, warmup=2, active=3).",
        "A program that runs once only, such as a short job, pays for its first step.",
        ("overview",),
        (("Profiler schedule", _DOCS + "profiler.html#torch.profiler.schedule"),),
    ),
    "python_tracing": RuleText(
        "Recording Python frames slows the host",
        "{frames} Python frames were recorded in a {step}. Each costs the host time that an"
        " unrecorded run does not spend; how much, the trace does not say.",
        "Record once more without with_stack and compare the {step} time before you work on the"
        " host.",
        "The lines of the source are only known with it.",
        ("overview", "module"),
    ),
}

NUMBERS: dict[str, tuple[str, str]] = {
    "batches": ("Batches waited for", "count"),
    "longest": ("Longest", "ns"),
    "calls": ("Calls", "count"),
    "waits": ("Synchronising calls", "count"),
    "blocked": ("Time the host is blocked in them", "ns"),
    "gaps": ("Gaps", "count"),
    "kernels": ("Kernels", "count"),
    "median_kernel": ("Median kernel", "ns"),
    "in_operators": ("Share of the gaps within operators and runtime calls", "share"),
    "median_gap": ("Median gap", "ns"),
    "collectives": ("Collectives", "count"),
    "total": ("Their time", "ns"),
    "devices": ("Devices", "count"),
    "events": ("Events computed again", "count"),
    "region": ("Optimizer's step on the host", "ns"),
    "operators": ("Operators", "count"),
    "median_operator": ("Median operator", "ns"),
    "eligible": ("Kernel time of operators that could use them", "share"),
    "blocks_per_sm": ("Blocks per {multiprocessor}", ""),
    "workloads": ("Operators with their shapes", "count"),
    "reached": ("Share of what the peaks allow", "share"),
    "copies": ("Copies", "count"),
    "bytes": ("Largest copy", "bytes"),
    "pageable": ("Share with pageable memory", "share"),
    "peak": ("Peak", "bytes"),
    "memory": ("Memory of the {device}", "bytes"),
    "full": ("Share of the memory", "share"),
    "records": ("Overhead records", "count"),
    "wall": ("First step", "ns"),
    "others": ("Median of the others", "ns"),
    "frames": ("Python frames", "count"),
    "lead": ("Behind the one before it", "ns"),
    "caused": ("Waiting of all other ranks together", "ns"),
    "late_steps": ("Steps in which it is last", "count"),
    "extra": ("Longer than elsewhere", "ns"),
}
"""Number of a finding → (label, unit), in the order in which they are shown. Others are for the
sentence or for nobody.
"""

UNSURE: dict[str, str] = {
    "sums": (
        "The file holds sums of stacks and no times: gaps, waiting and steps are not known, and"
        " nothing was judged."
    ),
    "no_steps": (
        "The recording has no steps: all of it stands as one, so what was done once (loading,"
        " compiling) counts in full."
    ),
    "one_step": "Only one step was recorded: whether it is like the others is not known.",
    "no_device": (
        "The trace holds no work of an accelerator: only what the host shows was looked at."
    ),
    "device_lost": (
        "The trace calls the accelerator's runtime and holds no work of it: how long the"
        " accelerator was idle is not known."
    ),
    "device_profiled": (
        "The recording measured hardware counters and no kernel's time: how long the accelerator"
        " was idle is not known, and replaying kernels for their counters slows the host."
    ),
    "no_launches": (
        "Most work of the {device} has no launch in the trace: what it waited for is not known."
    ),
    "no_host": (
        "The trace holds no host operators: what the host did while the {device} waited is not"
        " known."
    ),
    "no_stacks": "Call stacks were not recorded (with_stack): source lines are not known.",
    "no_memory": (
        "Allocator records were not recorded (profile_memory): how full the memory of the {device}"
        " is, is not known."
    ),
    "device_unknown": (
        "The trace does not say which {device} it is: matrix cores and memory were not judged."
    ),
    "other_ranks": (
        "Whether a collective moves data or waits for a slower rank, only all workers together"
        " show: see the Distributed view."
    ),
    "cut": "A step was cut off by the end of the recording and left out.",
}
