"""The runs of the original plugin's distributed cases (``tb_plugin/test/test_profiler.py``,
``TestDistributed``), event by event; two workers each.
"""

from __future__ import annotations

from tests.builders.listed import trace_listed
from torch_tb_profiler.store.model import Trace

FLOAT = '{{"Input Dims": [[{0}]], "Input type": ["float"]}}'
SMALL, LARGE = FLOAT.format(53120), FLOAT.format(2049000)

NCCL = (
    f"""
    23803    op     nccl:broadcast@0+75 e146 {SMALL}
    gpu 0:16 kernel ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)@16+16 e146 c28506
    23803    op     aten::add_@100+20 e24504
    gpu 0:7  kernel void at::native::vectorized_elementwise_kernel@130+161 e24504 c99765
    25166    op     nccl:all_reduce@160+75 e2513 {LARGE}
    gpu 0:16 kernel ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)@162+1556 e2513 c33218
    """,
    f"""
    23803    op     nccl:broadcast@0+20 e146 {SMALL}
    gpu 0:16 kernel ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)@8+31 e146 c28506
    23803    op     aten::add_@25+20 e24504
    gpu 0:7  kernel void at::native::vectorized_elementwise_kernel@30+161 e24504 c99765
    25166    op     nccl:all_reduce@160+75 e2513 {LARGE}
    gpu 0:16 kernel ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)@562+1058 e2513 c33218
    """,
)

_GLOO = (
    f"""
    23803 op gloo:broadcast@16+38 e165 {SMALL}
    23805 op gloo:broadcast@25+36 e166 {SMALL}
    23803 op gloo:broadcast@66+18 e167 {SMALL}
    23800 op aten::add_@0+20 e24504
    23805 op gloo:all_reduce@110+18 e2513 {LARGE}
    23803 op gloo:all_reduce@120+36 e2516 {LARGE}
    """,
    f"""
    23803 op gloo:broadcast@20+28 e256 {SMALL}
    23805 op gloo:broadcast@28+30 e257 {SMALL}
    23803 op gloo:broadcast@77+6 e258 {SMALL}
    23800 op aten::add_@0+30 e24504
    23805 op gloo:all_reduce@88+38 e2513 {LARGE}
    23803 op gloo:all_reduce@130+16 e2516 {LARGE}
    """,
)
_KERNEL = "gpu 0:7 kernel void at::native::vectorized_elementwise_kernel@{} e24504 c99765"

GLOO_GPU = tuple(
    listed + _KERNEL.format(at) for listed, at in zip(_GLOO, ("30+101", "70+70"), strict=True)
)
GLOO_CPU = tuple(
    listed + f"23800 op aten::mul@{at} e24505"
    for listed, at in zip(_GLOO, ("30+101", "70+70"), strict=True)
)


def traces(case: tuple[str, ...]) -> dict[str, Trace]:
    """Worker → trace."""
    return {f"worker{place}": trace_listed(text) for place, text in enumerate(case)}
