"""Texts that payloads share: categories, what is missing and how to record it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from msgspec import structs

from torch_tb_profiler.analysis.figures.missing_data import SETTING, Unplaced
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.summary import SERVERS, Writer
from torch_tb_profiler.units import format_count
from torch_tb_profiler.views.wire import Missing
from torch_tb_profiler.views.words.recipes import recipe

_CATEGORIES = {
    "kernel": ("Kernel", "kernel time"),
    "memcpy": ("Memcpy", "memory copy time"),
    "memset": ("Memset", "memset time"),
    "communication": ("Communication", "communication time"),
    "runtime": ("Runtime", "runtime call time"),
    "dataloader": ("DataLoader", "DataLoader time"),
    "cpu_exec": ("CPU Exec", "host operator time"),
    "other": ("Other", "uncategorised time"),
}
"""Of each category its label and its time."""
CATEGORY_LABELS, CATEGORY_TEXT = (
    {key: words[column] for key, words in _CATEGORIES.items()} for column in range(2)
)


GROUP_LABELS = {
    "compute": "Compute",
    "copies": "Copies",
    "data_loading": "Data loading",
    "communication": "Communication",
    "waiting": "Waiting for a rank",
    "host_code": "Host code",
    "not_recorded": "Not recorded",
}
"""Of the groups of causes of the critical path (``analysis/critical_path/cause_groups.py``)."""


def group_label(group: str, device: str) -> str:
    """What a group is called where it is known what computes: ``GPU compute``, without an accelerator ``CPU compute``."""
    return capitalised(f"{device} compute") if group == "compute" else GROUP_LABELS[group]


_NAME = regex(r"[\d_:./#<>(\[]")


_ONE_TIME = regex(r"(?<![\d.,\u202f])\b1 times\b")
_ONE = regex(r"^1 ([a-z]{3,}?)(?:(?<=ch|sh|ss)e|(i)e)?s\b")


def filled(text: str, words: Mapping[str, str]) -> str:
    """A text with its words filled in, on one line."""
    told = " ".join(text.split()).format_map(words)
    return _ONE.sub(lambda m: f"1 {m[1]}{'y' if m[2] else ''}", _ONE_TIME.sub("once", told))


def capitalised(text: str) -> str:
    """With a capital first letter, unless the text begins with a name such as ``aten::mm`` or ``vm_32674``."""
    first = text.split(" ", 1)[0].rstrip(".,:;")
    return text if _NAME.search(first) else text[:1].upper() + text[1:]


_RECORDED_BY: dict[str, tuple[str, ...]] = {
    "shapes": ("record_shapes=True",),
    "stack": ("with_stack=True",),
    "modules": ("with_stack=True",),
    "memory": ("profile_memory=True",),
    "collectives": ("record_shapes=True",),
}
"""The options that record something, where it takes any."""
_DEVICES = (
    "device",
    "device_work",
    "device_times",
    "device_of_rank",
    "host",
    "operators_of_device",
    "events",
    "collectives",
)
"""What is recorded by activities."""


def profile_call(key: str, writer: Writer = Writer.LOOP) -> str:
    """What records a key of ``MISSING`` in such a program."""
    return recipe(writer, *_RECORDED_BY.get(key, ()), devices=key in _DEVICES)


_MISSING = (
    Missing(
        key="device",
        what="Accelerator activity",
        why=(
            "The trace has no kernel, copy or memset: the accelerator was not used, not recorded, or the"
            " profiler lacked permission."
        ),
        call="",
    ),
    Missing(
        key="device_work",
        what="Device work of launches",
        why=(
            "Launches lack device work: the profiler's library did not report it. Of graphs, record once without them"
            " (vLLM: --enforce-eager, SGLang: --disable-cuda-graph) or update the driver and PyTorch."
        ),
        call="",
    ),
    Missing(
        key="device_times",
        what="Times of kernels",
        why=(
            "The recording measured the hardware counters of each kernel (profiler_metrics), and"
            " CUPTI then records no kernel's time; the Counters view shows what was measured."
            " Record once more without counters for the times."
        ),
        call="",
    ),
    Missing(
        key="device_of_rank",
        what="Device work of this rank",
        why=(
            "The file holds several ranks, and its device work may be of more than one of them: it stands by"
            " itself, without a rank. A file for each rank tells it."
        ),
        call="",
    ),
    Missing(
        key="host",
        what="Host operators",
        why="The CPU activity was not recorded: kernels cannot be followed back to operators.",
        call="",
    ),
    Missing(
        key="operators_of_device",
        what="Device time of operators",
        why="No launch lies within an operator: which operator caused which kernel is unknown.",
        call="",
    ),
    Missing(
        key="shapes",
        what="Input shapes",
        why="The operators carry no input shapes: record_shapes was off.",
        call="",
    ),
    Missing(
        key="stack",
        what="Call stacks",
        why="The trace has neither call stacks nor Python frames: with_stack was off.",
        call="",
    ),
    Missing(
        key="steps",
        what="Steps",
        why="The trace has no ProfilerStep: prof.step() was not called.",
        call="",
    ),
    Missing(
        key="memory",
        what="Memory records",
        why="The trace has no allocator record: profile_memory was off.",
        call="",
    ),
    Missing(
        key="modules",
        what="nn.Modules",
        why=(
            "The trace has no nn.Module: Python frames were not recorded, or nothing ran in a module."
        ),
        call="",
    ),
    Missing(
        key="events",
        what="Events",
        why=(
            "The file is a memory snapshot or a memory timeline: it holds allocations, which the"
            " Memory view shows, and no events. This view needs a trace."
        ),
        call="",
    ),
)
MISSING: dict[str, Missing] = {
    lack.key: structs.replace(lack, call=profile_call(lack.key)) for lack in _MISSING
}
"""As one reads them who records a loop."""
NO_KNOWN_WORK = "No event is known as work of an accelerator"
_NOT_IN_FILE = {
    "device": "The file has no kernel, copy or memset.",
    "host": "The file has no host operators: kernels cannot be followed back to operators.",
    "operators_of_device": "No launch lies within an operator: which operator caused which kernel is unknown.",
    "shapes": "The file has no input shapes of operators.",
    "stack": "The file has neither call stacks nor Python frames.",
    "steps": "No event marks steps, and none repeats over most of the recording.",
    "memory": "The file has no allocator records.",
    "modules": "The file has no nn.Module.",
}
"""Reasons where a profiler recorded that is neither PyTorch's nor one whose options are known."""
_MEMORY_OF_NPU = (
    "torch_npu writes allocations into memory_record.csv beside the trace, which is not read."
)
_STEPS_OF_SERVER = "The trace has no annotation of the server's iterations."


_NVTX_CALL = "\n".join(
    (
        "import torch",
        "",
        "# nsys profile --trace=cuda,nvtx python train.py",
        "with torch.autograd.profiler.emit_nvtx(record_shapes=True):",
        "    for step, batch in enumerate(loader):",
        '        with torch.cuda.nvtx.range(f"ProfilerStep#{step}"):',
        "            train_step(batch)",
    )
)
_BY_NVTX: dict[str, tuple[str, str]] = {
    "host": (
        (
            "The file has no operators: PyTorch passes them to nvprof and Nsight Systems through NVTX"
            " only on request."
        ),
        _NVTX_CALL,
    ),
    "shapes": (
        "The operators carry no input shapes: record_shapes of emit_nvtx was off.",
        _NVTX_CALL,
    ),
    "steps": (
        "No range is named ProfilerStep#N, and none repeats over most of the recording.",
        _NVTX_CALL,
    ),
    "stack": (
        (
            "nvprof and Nsight Systems record no Python lines, except through PyProf. PyTorch's own"
            " profiler does."
        ),
        profile_call("stack"),
    ),
    "memory": (
        "nvprof and Nsight Systems do not see PyTorch's allocator. PyTorch's own profiler does.",
        profile_call("memory"),
    ),
}
"""Reason and code where another profiler recorded."""
_OTHER_PROFILERS = MISSING | {
    key: structs.replace(MISSING[key], why=why, call=call) for key, (why, call) in _BY_NVTX.items()
}
_INSTEAD = {"device": ("device_work", "device_times", "device_of_rank")}
"""Other reasons for the same gap."""


def missing(keys_absent: Iterable[str], wanted: Iterable[str]) -> list[Missing]:
    """Texts for the ``wanted`` keys of ``MISSING`` that are absent (see ``figures.missing_data``); without
    any events that is the only reason.
    """
    absent = set(keys_absent)
    if "events" in absent:
        return [MISSING["events"]] if absent.intersection(wanted) else []
    keys = dict.fromkeys(key for lack in wanted for key in (lack, *_INSTEAD.get(lack, ())))
    found = [key for key in keys if key in absent]
    writer = next((one for one in Writer if one in absent), Writer.LOOP)
    unplaced = next((key for key in absent if isinstance(key, Unplaced)), None)
    return [
        _unplaced(MISSING[key], unplaced)
        if unplaced and key == "device"
        else _OTHER_PROFILERS[key]
        if "pytorch_profiler" in absent
        else _of_writer(MISSING[key], writer)
        for key in found
    ]


def _of_writer(lack: Missing, writer: Writer) -> Missing:
    why, call = lack.why, profile_call(lack.key, writer)
    if writer in SERVERS and lack.key == "steps":
        why = _STEPS_OF_SERVER
    elif writer == Writer.OTHER:
        why, call = _NOT_IN_FILE.get(lack.key, why), ""
    elif writer == Writer.TORCH_NPU and lack.key == "memory":
        why, call = _MEMORY_OF_NPU, ""
    return structs.replace(lack, why=why, call=call)


def _unplaced(lack: Missing, unplaced: Unplaced) -> Missing:
    return structs.replace(
        lack,
        what=f"The role of {unplaced}",
        why=f"{NO_KNOWN_WORK}. {SETTING} tells the roles of categories and processes.",
        call=f"# the role of each: kernel, memcpy, memset, runtime, operator, annotation, other\n"
        f"export {SETTING}={shlex.quote(unplaced.setting)}"
        if unplaced.setting
        else "",
    )


def cut(text: str, longest: int) -> str:
    """A text of bounded length and valid Unicode."""
    # Lone surrogates cannot be sent.
    whole = text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
    if len(whole) <= longest:
        return whole
    return f"{whole[:longest]}… ({format_count(len(whole))} characters)"
