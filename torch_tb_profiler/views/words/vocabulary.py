"""The words of each vendor for the same three things, so that no page says "SM" about an AMD
device.
"""

from __future__ import annotations

import re

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.views.wire import Vocabulary

NEUTRAL = Vocabulary(
    device="accelerator", multiprocessor="compute unit", matrix_cores="matrix cores"
)

_WORDS = {
    "nvidia": Vocabulary(device="GPU", multiprocessor="SM", matrix_cores="Tensor Cores"),
    "amd": Vocabulary(device="GPU", multiprocessor="compute unit", matrix_cores="Matrix Cores"),
    "intel": Vocabulary(device="GPU", multiprocessor="Xe core", matrix_cores="XMX engines"),
    "mtia": Vocabulary(
        device="MTIA device", multiprocessor="processing element", matrix_cores="matrix engines"
    ),
    "ascend": Vocabulary(device="NPU", multiprocessor="AI core", matrix_cores="Cube units"),
    "ibm": Vocabulary(device="AIU", multiprocessor="core", matrix_cores="matrix engines"),
}


def vocabulary(facts: Facts) -> Vocabulary:
    """The words of the vendor whose devices the trace shows; neutral ones where it shows none or an
    unknown one.
    """
    return vendor_words(facts.summary.vendor)


def vendor_words(vendor: str) -> Vocabulary:
    """The words of a vendor; neutral ones for an unknown one."""
    return _WORDS.get(vendor, NEUTRAL)


_SETTINGS = {"ascend": "NPU", "nvidia": "CUDA", "amd": "CUDA"}


def allocator_setting(vendor: str, backend: str = "") -> str:
    """The environment variable that sets PyTorch's allocator of a vendor's devices, else that of a ``backend`` (``cuda``,
    ``npu``); the one of all devices where neither is known to have its own.
    """
    own = _SETTINGS.get(vendor, backend.upper() if backend in ("cuda", "npu") else "")
    return f"PYTORCH_{own}_ALLOC_CONF" if own else "PYTORCH_ALLOC_CONF"


def device_title(words: Vocabulary, number: int) -> str:
    """How an accelerator is called everywhere: ``GPU 9``."""
    return f"{words.device[:1].upper()}{words.device[1:]} {number}"


_OF_TRACE = regex(r"(?:GPU|XPU|NPU|HPU|TPU|AIU|MTIA|Device)\s*(\d+)\b", re.I)


def named_device(words: Vocabulary, text: str) -> str:
    """The title of the device that a text of a trace begins with, such as
    ``GPU 9 AMD Instinct MI300X``; other texts as they are.
    """
    found = _OF_TRACE.match(text)
    return device_title(words, int(found[1])) if found else text


def device_details(
    words: Vocabulary,
    name: str | None,
    memory: int | None,
    capability: str | None,
    multiprocessors: int | None = None,
) -> str:
    """What an accelerator is, as far as it is known: ``Tesla V100 · 31.7 GiB · 80 SMs``."""
    nvidia = words is _WORDS["nvidia"]
    return " · ".join(
        [
            name or "name unknown",
            *([] if memory is None else [format_bytes(memory)]),
            *([] if multiprocessors is None else [f"{multiprocessors} {words.multiprocessor}s"]),
            # NVIDIA's word: other vendors' numbers under it would be read as NVIDIA generations.
            *([f"compute capability {capability}"] if capability and nvidia else []),
        ]
    )
