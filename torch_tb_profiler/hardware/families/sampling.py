"""Sampling of inference servers: from logits or probabilities to tokens."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.work import Work, model, named, per_element

_FROM_PROBS = "top_k_top_p_sampling_from_probs top_p_sampling_from_probs min_p_sampling_from_probs"
_RENORM = "top_k_renorm_probs top_p_renorm_probs top_k_mask_logits"


@model(
    "sampling",
    *named("sgl_kernel", _FROM_PROBS),
    *named("flashinfer", f"{_FROM_PROBS} top_k_sampling_from_probs sampling_from_probs"),
    *named("flashinfer", "sampling_from_logits"),
    source=(
        "1 FLOP per probability, the least: one running sum (each round of rejection is another);"
        " probabilities read, a token per row written (FlashInfer, SGLang)"
    ),
)
def sampled(call: Call) -> Work | None:
    """``top_p_sampling_from_probs(probs[requests, words], output, …)``; FlashInfer returns the
    tokens.
    """
    probs, out = call.need(0), call.tensor(1)
    if len(probs.shape) != 2:
        return None
    rows = probs.shape[0]
    if call.name.startswith("flashinfer"):
        # Its second argument, if any, says which row of probabilities a request has.
        rows, out = (rows, None) if out is None else (out.elements, None)
    tokens = out or Tensor((rows,), "int32")
    return per_element(1, probs, [probs], [tokens])


@model(
    "sampling",
    *named("sgl_kernel", _RENORM),
    *named("flashinfer", _RENORM),
    source=(
        "2 FLOPs per element, the least: one comparison or sum, one scale; input read, result"
        " written once (FlashInfer, SGLang)"
    ),
)
def renormalized(call: Call) -> Work | None:
    """``top_p_renorm_probs(probs, result, …)``; FlashInfer returns the result."""
    probs = call.need(0)
    return per_element(2, probs, [probs], [probs.dense])


@model(
    "sampling",
    "flashinfer::softmax",
    source="6 FLOPs per logit (5 of softmax, the temperature); logits read, probabilities written",
)
def softmax(call: Call) -> Work | None:
    """``softmax(workspace, logits, temperatures, temperature, …)`` of FlashInfer."""
    logits = call.need(1)
    return per_element(6, logits, [logits], [Tensor(logits.shape, "float32")])


@model(
    "sampling",
    "_C::apply_repetition_penalties_",
    source="1 FLOP per logit; logits, both masks and penalties read, logits written (vLLM)",
)
def penalties(call: Call) -> Work | None:
    """``apply_repetition_penalties_(logits, prompt mask, output mask, penalties)``, in place."""
    logits = call.need(0)
    return per_element(1, logits, [logits, *(call.tensor(i) for i in (1, 2, 3))], [logits])
