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
