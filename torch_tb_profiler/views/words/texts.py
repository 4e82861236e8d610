"""Texts that payloads share: categories, what is missing and how to record it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from msgspec import structs

from torch_tb_profiler.analysis.figures.missing_data import SETTING, Unplaced
from torch_tb_profiler.data_rows import rows_beside
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


_ONLY = regex(r"<(\w+)>(.*?)</\1>", re.DOTALL)
_ONE_TIME = regex(r"(?<![\d.,\u202f])\b1 times\b")
_ONE = regex(r"^1 ([a-z]{3,}?)(?:(?<=ch|sh|ss)e|(i)e)?s\b")


def filled(text: str, words: Mapping[str, str]) -> str:
    """A text with its words filled in, on one line; of ``<device>…</device>`` and its like what is among ``words["recorded"]`` stays."""
    own = _ONLY.sub(lambda m: m[2] if m[1] in words["recorded"].split() else "", text)
    told = " ".join(own.split()).format_map(words)
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


_MISSING = {row["key"][0]: row for row in rows_beside(__file__)}
MISSING: dict[str, Missing] = {
    key: Missing(key=key, what=row["what"][0], why=row["why"][0], call=profile_call(key))
    for key, row in _MISSING.items()
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


_BY_NVTX = ("host", "shapes", "steps")
"""What PyTorch passes to such profilers on request."""
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
_OTHER_PROFILERS = MISSING | {
    key: structs.replace(
        MISSING[key],
        why=row["by_nvtx"][0],
        call=_NVTX_CALL if key in _BY_NVTX else profile_call(key),
    )
    for key, row in _MISSING.items()
    if "by_nvtx" in row
}
"""As one reads them who had another profiler record."""
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
