"""Sampling of inference servers: from logits or probabilities to tokens."""

from __future__ import annotations

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.work import Work, models_beside, per_element

modelled = models_beside(__file__)


@modelled
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


@modelled
def renormalized(call: Call) -> Work | None:
    """``top_p_renorm_probs(probs, result, …)``; FlashInfer returns the result."""
    probs = call.need(0)
    return per_element(2, probs, [probs], [probs.dense])


@modelled
def softmax(call: Call) -> Work | None:
    """``softmax(workspace, logits, temperatures, temperature, …)`` of FlashInfer."""
    logits = call.need(1)
    return per_element(6, logits, [logits], [Tensor(logits.shape, "float32")])


@modelled
def penalties(call: Call) -> Work | None:
    """``apply_repetition_penalties_(logits, prompt mask, output mask, penalties)``, in place."""
    logits = call.need(0)
    return per_element(1, logits, [logits, *(call.tensor(i) for i in (1, 2, 3))], [logits])
