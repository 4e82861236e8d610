"""Mixture of experts in inference servers: fused, and the routing and summation around it."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor, moved, required
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.hardware.families.grouped_gemm import experts_hit
from torch_tb_profiler.hardware.work import (
    Work,
    model,
    models_beside,
    operators,
    vector_work,
)

modelled = models_beside(__file__)

_NAMES = (
    *(
        f"{library}::{word}fused_experts"
        for library in ("vllm", "sglang")
        for word in ("inplace_", "outplace_")
    ),
    "vllm::rocm_aiter_fused_moe",
    "aiter::fused_moe_",
)
_ONE_STAGE = operators(
    "aiter: fmoe fmoe_g1u1 fmoe_g1u1_tkw1 fmoe_int8_g1u0 fmoe_fp8_blockscale_g1u1"
)
SOURCE = (
    "2·M·topk·K·N₁ FLOPs up and 2·M·topk·N₂·K down, M·topk·N₂·2 for the gate, M·K·(2·topk − 1) for"
    " the weighted sum (TraceLens); weights read of the experts hit with even routing:"
    " E·(1 − (1 − topk/E)^M)"
)


@modelled
def choice(call: Call) -> Work | None:
    """``topk_softmax(weights, ids, token_expert_indices, logits, …)``; SGLang omits the third."""
    weights, ids, third, fourth = call.need(0), call.need(1), call.tensor(2), call.tensor(3)
    written: list[Tensor | None] = [weights, ids]
    if fourth is None or (third is not None and third.shape != weights.shape):
        logits = required(third)
    else:
        logits = fourth
        written.append(third)
    tokens, experts = logits.shape
    parameters = {"tokens": tokens, "E": experts, "topk": weights.shape[-1]}
    flops = (5 if "softmax" in call.name else 1) * logits.elements
    return vector_work(flops, logits.dtype, [logits, call.tensor(5)], written, parameters)


_GATED = {
    "_moe_C::grouped_topk": (6, -1, 3),
    "sgl_kernel::moe_fused_gate": (1, -1, 4),
    "aiter::grouped_topk": (-1, 1, -1),
    "aiter::biased_grouped_topk": (1, 2, -1),
    "aiter::biased_grouped_topk_hip": (1, 2, -1),
    "aiter::moe_fused_gate": (1, 2, -1),
}
"""Operator → index of the bias, of the weights (-1: returned; ids follow), and of the number of
experts per token.
"""


@model(
    "moe",
    *_GATED,
    source=(
        "2 FLOPs per logit: the score and its bias (5 of softmax); logits and bias read, a float32"
        " and an int32 per chosen expert written (vLLM, SGLang, AITER)"
    ),
)
def grouped_choice(call: Call) -> Work | None:
    """``grouped_topk(scores[tokens, E], …)``, ``moe_fused_gate(logits, bias, …)``."""
    bias_at, weights_at, count_at = _GATED[call.name]
    logits = call.need(0)
    if call.name == "_moe_C::grouped_topk" and call.tensor(1) is not None:
        # Scores with their bias used to come second.
        bias_at, count_at = 1, 4
    if weights_at >= 0:
        chosen = [call.need(weights_at), call.need(weights_at + 1)]
    else:
        shape = (logits.shape[0], call.integer(count_at))
        chosen = [Tensor(shape, "float32"), Tensor(shape, "int32")]
    tokens, experts = logits.shape
    parameters = {"tokens": tokens, "E": experts, "topk": chosen[0].shape[-1]}
    softmax = call.name == "aiter::grouped_topk" and call.value(6) is not False
    flops = (5 if softmax else 2) * logits.elements
    return vector_work(flops, logits.dtype, [logits, call.tensor(bias_at)], chosen, parameters)


@modelled
def combined(call: Call) -> Work | None:
    """``moe_sum(x[tokens, topk, K], out[tokens, K])``, ``moe_sum_reduce(x, out, factor)``."""
    x, out = call.need(0), call.need(1)
    if len(x.shape) != 3 or x.elements != out.elements * x.shape[1]:
        return None
    flops = x.elements - out.elements + (out.elements if call.name.endswith("_reduce") else 0)
    return vector_work(flops, x.dtype, [x], [out], {"shape": x.shape})


@modelled
def shuffled(call: Call) -> Work | None:
    """``apply_shuffle_mul_sum(x[tokens·topk, K], out[tokens, K], permutation, factors)``."""
    x, out, order, factors = call.need(0), call.need(1), call.tensor(2), call.tensor(3)
    flops = (2 if factors is not None else 1) * x.elements - out.elements
    return vector_work(flops, x.dtype, [x, order, factors], [out], {"shape": x.shape})


@model("moe", *_NAMES, source=SOURCE)
def fused_experts(call: Call) -> Work | None:
    """``inplace_fused_experts(x[M, K], w1[E, N₁, K], w2[E, K, N₂], topk_weights, topk_ids, …)``;
    gated if ``N₁ = 2·N₂``.
    """
    x, up, down, chosen = (call.need(i) for i in (0, 1, 2, 4))
    return _experts(x, up, down, chosen.shape[-1], [x, call.tensor(3), chosen, x.dense])


@model("moe", *_ONE_STAGE, source=SOURCE + " (AITER)")
def one_stage(call: Call) -> Work | None:
    """``fmoe_g1u1(out[M, K], x[M, K], w1[E, N₁, K], w2[E, K, N₂], sorted tokens, weights, experts,
    number, topk, …)``.
    """
    out, x, up, down = (call.need(i) for i in range(4))
    return _experts(x, up, down, call.integer(8), [x, out])


def _experts(
    x: Tensor, up: Tensor, down: Tensor, topk: int, others: list[Tensor | None]
) -> Work | None:
    (m, k), (experts, n1, stored), (_, _, n2) = x.shape, up.shape, down.shape
    if not 0 < topk <= experts or not stored or k % stored:
        return None
    # Several weights of four bits or fewer are one element.
    n2 *= k // stored
    vector = (2 * m * topk * n2 if n1 == 2 * n2 else m * topk * n1) + m * k * (2 * topk - 1)
    flops = 2 * m * topk * k * n1 + 2 * m * topk * n2 * k + vector
    data = moved(*others)
    per_expert = moved(Tensor(up.shape[1:], up.dtype), Tensor(down.shape[1:], down.dtype))
    hit = experts_hit(experts, topk, m)
    parameters: dict[str, object] = {"M": m, "K": k, "N": n2, "E": experts, "topk": topk}
    return Work(
        flops,
        None if data is None or per_expert is None else data + round(hit * per_expert),
        "matrix",
        precision(up.dtype if k == stored else x.dtype),
        parameters,
        vector,
    )
