"""What to try: the texts of the rules that ``analysis/advice.py`` decides, each with its numbers, its caveat and where to read on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch_tb_profiler.analysis.advice import Advice, advise
from torch_tb_profiler.analysis.selection import Selection
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.vocabulary import vocabulary
from torch_tb_profiler.views.wire import Link, Number, Recommendation, Vocabulary

_DOCS = "https://docs.pytorch.org/docs/stable/"


@dataclass(frozen=True)
class _Rule:
    """Texts of one rule; ``title`` and ``text`` may name the vendor's words in braces."""

    title: str
    text: str
    caveat: str
    links: tuple[tuple[str, str], ...] = ()


_AMP = ("Automatic mixed precision", _DOCS + "amp.html")
_CHECKPOINT = ("Activation checkpointing", _DOCS + "checkpoint.html")
_COMMUNICATION_LINKS = (
    ("Communication hooks", _DOCS + "ddp_comm_hooks.html"),
    ("no_sync", _DOCS + "generated/torch.nn.parallel.DistributedDataParallel.html#torch.nn.parallel.DistributedDataParallel.no_sync"),
)

RULES: dict[str, _Rule] = {
    "dataloader": _Rule(
        "The step waits for input data",
        "A large share of the step passes in the DataLoader with no device work or communication beside it. Load in worker processes "
        "(num_workers above 0) and keep them alive (persistent_workers=True); pin_memory=True speeds up copies to the device.",
        "A DataLoader that already has workers may wait for storage or for decoding: more workers then do not help.",
        (("Multi-process data loading", _DOCS + "data.html#single-and-multi-process-data-loading"),),
    ),
    "data_parallel": _Rule(
        "DataParallel drives several devices from one process",
        "torch.nn.DataParallel copies the model at every step and serialises the host work of all devices. Use DistributedDataParallel, one "
        "process per {device}.",
        "For one {device} the two are the same.",
        (("DistributedDataParallel instead of DataParallel", _DOCS + "notes/cuda.html#cuda-nn-ddp-instead"),),
    ),
    "not_nccl": _Rule(
        "DistributedDataParallel without the device's own collectives",
        "The gradients of a model on {device}s travel through a backend that copies them through host memory. Use backend=\"nccl\" (RCCL on "
        "ROCm) in init_process_group.",
        "Where the processes share one device, or the network has no support for it, another backend may be on purpose.",
        (("Which backend to use", _DOCS + "distributed.html#which-backend-to-use"),),
    ),
    "communication": _Rule(
        "Communication is not hidden behind computation",
        "A large share of the step passes in communication while no kernel computes. Accumulate gradients over several steps (no_sync), "
        "compress them with a communication hook, "
        "raise the batch size, or give the collectives more to overlap with.",
        "Gradient accumulation and larger batches change the effective batch size, and with it convergence. A collective also lasts while "
        "it waits for a slower rank: look at the other ranks first.",
        _COMMUNICATION_LINKS,
    ),
    # The trace shows no device: communication precedes host operators in the breakdown, so nothing says what ran beside it.
    "communication_on_host": _Rule(
        "Communication takes much of the step",
        "A large share of the step has a collective in progress. Whether the host computes meanwhile is not in this figure. Accumulate gradients over "
        "several steps (no_sync), compress them with a communication hook, raise the batch size, or give the collectives more to overlap with.",
        "Gradient accumulation and larger batches change the effective batch size, and with it convergence. A collective also lasts while "
        "it waits for a slower rank: look at the other ranks first.",
        _COMMUNICATION_LINKS,
    ),
    "low_utilization": _Rule(
        "The {device} is idle for most of the time",
        "No kernel runs for more than half of the selected time. Look for gaps: host work between launches, synchronisation, input. A "
        "larger batch, torch.compile or "
        "device graphs give each launch more to do.",
        "A larger batch may change convergence. Inference servers are idle when nobody asks.",
        (("torch.compile", _DOCS + "torch.compiler.html"),),
    ),
    "matrix_cores_unused": _Rule(
        "{matrix_cores} are not used",
        "Operators that {matrix_cores} could execute ran without them. Run them in a lower precision: bfloat16 or float16 through automatic "
        "mixed precision, or TF32 for float32 matrix products.",
        "Lower precision changes results; check the loss. Shapes that are no multiple of 8 may keep a kernel off {matrix_cores}.",
        (_AMP, ("TF32", _DOCS + "notes/cuda.html#tf32-on-ampere")),
    ),
    "memory_near_capacity": _Rule(
        "Memory is nearly full",
        "The allocator's peak comes close to the memory of the {device}: a slightly larger input ends in an out-of-memory error. Recompute "
        "activations instead of keeping them, "
        "or use a smaller data type.",
        "Activation checkpointing trades memory for a second forward computation.",
        (_CHECKPOINT, _AMP),
    ),
}

_LABELS: dict[tuple[str, str], tuple[str, str]] = {
    ("dataloader", "share"): ("Share of the step in the DataLoader", "share"),
    ("communication", "share"): ("Share of the step in communication alone", "share"),
    ("communication_on_host", "share"): ("Share of the step in communication", "share"),
    ("data_parallel", "devices"): ("Devices in use", "count"),
    ("not_nccl", "devices"): ("Devices in use", "count"),
    ("matrix_cores_unused", "share"): ("Kernel time of operators that could use them", "share"),
    ("memory_near_capacity", "device"): ("Device", ""),
    ("memory_near_capacity", "peak"): ("Peak allocated", "bytes"),
    ("memory_near_capacity", "memory"): ("Memory of the device", "bytes"),
    ("memory_near_capacity", "share"): ("Share of the memory", "share"),
}
"""(rule, key of the analysis) → (label, unit); ``low_utilization`` has one key per device."""


def recommendations(facts: Facts, selection: Selection) -> list[Recommendation]:
    """The rules that apply to the selected steps, in the order of the analysis."""
    words = vocabulary(facts)
    return [_recommendation(advice, words, _text_of(advice, facts)) for advice in advise(facts, selection)]


def _text_of(advice: Advice, facts: Facts) -> str:
    """Key of the texts that are true for this trace."""
    return "communication_on_host" if advice.rule == "communication" and not facts.summary["has_device"] else advice.rule


def _recommendation(advice: Advice, words: Vocabulary, key: str) -> Recommendation:
    rule = RULES[key]
    fill = _filler(words)
    return Recommendation(
        rule=advice.rule,
        title=_capitalised(fill(rule.title)),
        text=fill(rule.text),
        caveat=fill(rule.caveat),
        numbers=[_number(key, name, value, words) for name, value in advice.numbers.items()],
        links=[Link(text=text, url=url) for text, url in rule.links],
    )


def _filler(words: Vocabulary) -> Callable[[str], str]:
    def fill(text: str) -> str:
        return text.replace("{device}", words.device).replace("{matrix_cores}", words.matrix_cores)

    return fill


def _number(rule: str, key: str, value: float, words: Vocabulary) -> Number:
    if rule == "low_utilization":
        return Number(label=f"Utilization of {key.replace('device', words.device)}", value=value, unit="share")
    label, unit = _LABELS[rule, key]
    return Number(label=label, value=value, unit=unit)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
