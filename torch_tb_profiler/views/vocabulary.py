"""The words of each vendor for the same three things, so that no page says "SM" about an AMD
device.
"""

from __future__ import annotations

from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.wire import Vocabulary

_NEUTRAL = Vocabulary(
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
}


def vocabulary(facts: Facts) -> Vocabulary:
    """The words of the vendor whose devices the trace shows; neutral ones where it shows none or an
    unknown one.
    """
    return _WORDS.get(facts.summary["vendor"], _NEUTRAL)
