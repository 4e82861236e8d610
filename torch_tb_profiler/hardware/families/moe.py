"""Mixture of experts in vLLM and SGLang: fused, and the routing and summation around it."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor, known, moved
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.hardware.work import Work, model, named, vector_work

_NAMES = tuple(
    f"{library}::{word}fused_experts"
    for library in ("vllm", "sglang")
    for word in ("inplace_", "outplace_")
)
SOURCE = (
    "2·M·topk·K·N₁ FLOPs up and 2·M·topk·N₂·K down, M·topk·N₂·2 for the gate, M·K·(2·topk − 1) for"
    " the weighted sum (TraceLens); weights read of the experts hit with even routing:"
    " E·(1 − (1 − topk/E)^M)"
)


@model(
    "moe",
    *named("_moe_C", "topk_softmax topk_sigmoid"),
    *named("sgl_kernel", "topk_softmax topk_sigmoid"),
    source=(
        "5 FLOPs per logit of softmax, 1 of sigmoid; logits and bias read, weights and ids of the"
        " chosen experts written once (vLLM, SGLang)"
    ),
)
def choice(call: Call) -> Work | None:
    """``topk_softmax(weights, ids, token_expert_indices, logits, …)``; SGLang omits the third."""
    weights, ids, third, fourth = call.need(0), call.need(1), call.tensor(2), call.tensor(3)
    written: list[Tensor | None] = [weights, ids]
    if fourth is None or (third is not None and third.shape != weights.shape):
        logits = known(third)
    else:
        logits = fourth
        written.append(third)
    tokens, experts = logits.shape
    parameters = {"tokens": tokens, "E": experts, "topk": weights.shape[-1]}
    flops = (5 if "softmax" in call.name else 1) * logits.elements
    return vector_work(flops, logits.dtype, [logits], written, parameters)


@model(
    "moe",
    "_moe_C::moe_sum",
    *named("sgl_kernel", "moe_sum moe_sum_reduce"),
    source=(
        "topk - 1 FLOPs per element of the result, one more for a factor; all read, the result"
        " written once (vLLM, SGLang)"
    ),
)
def combined(call: Call) -> Work | None:
    """``moe_sum(x[tokens, topk, K], out[tokens, K])``, ``moe_sum_reduce(x, out, factor)``."""
    x, out = call.need(0), call.need(1)
    if len(x.shape) != 3 or x.elements != out.elements * x.shape[1]:
        return None
    flops = x.elements - out.elements + (out.elements if call.name.endswith("_reduce") else 0)
    return vector_work(flops, x.dtype, [x], [out], {"shape": x.shape})


@model("moe", *_NAMES, source=SOURCE)
def fused_experts(call: Call) -> Work | None:
    """``inplace_fused_experts(x[M, K], w1[E, N₁, K], w2[E, K, N₂], topk_weights, topk_ids, …)``;
    gated if ``N₁ = 2·N₂``.
    """
    x, up, down, chosen = (call.need(i) for i in (0, 1, 2, 4))
    (m, k), (experts, n1, _), (_, _, n2), (_, topk) = x.shape, up.shape, down.shape, chosen.shape
    if not 0 < topk <= experts:
        return None
    vector = (2 * m * topk * n2 if n1 == 2 * n2 else m * topk * n1) + m * k * (2 * topk - 1)
    flops = 2 * m * topk * k * n1 + 2 * m * topk * n2 * k + vector
    data = moved(x, call.tensor(3), chosen, x.dense)
    per_expert = moved(Tensor(up.shape[1:], up.dtype), Tensor(down.shape[1:], down.dtype))
    hit = experts * (1 - (1 - topk / experts) ** m)
    parameters: dict[str, object] = {"M": m, "K": k, "N": n2, "E": experts, "topk": topk}
    return Work(
        flops,
        None if data is None or per_expert is None else data + round(hit * per_expert),
        "matrix",
        precision(up.dtype),
        parameters,
        vector,
    )
