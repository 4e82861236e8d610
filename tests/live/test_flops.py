"""Live CPU runs: the FLOPs of every product, convolution and attention equal
``torch.utils.flop_counter``'s of the same run, forward and backward.

What differs, and why:

- A bias: the counter leaves its additions out; ``Work.bias_flops`` tells them.
- Groups: the counter's weight gradient of a grouped convolution is ``groups`` times too large (it
  multiplies all channels of the input with all of the
  output). Forward, input gradient and weight gradient multiply the same triples of elements, so
  each has the forward's FLOPs, and ours do.
- A causal mask: the counter counts the hidden pairs, too.
- ``_scaled_dot_product_flash_attention_for_cpu``: the counter does not know it; its formula for
  attention is applied to it here.
"""

from __future__ import annotations

import importlib
import json
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.test_key_averages import record
from torch_tb_profiler.hardware.call import Call, read_call
from torch_tb_profiler.hardware.work import Work, work_of

Layer = tuple[Any, Any]
"""A module (or a function with parameters) and the tensor that it takes."""
COUNTED = ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward")


def train(torch: Any, layer: Layer) -> None:
    """Forward and backward, with attention made of products, which the counter knows."""
    module, x = layer
    backends = torch.nn.attention
    with backends.sdpa_kernel(backends.SDPBackend.MATH):
        module.forward(x).sum().backward()


def recorded(torch: Any, path: Path, work: Callable[[], object]) -> list[tuple[Call, Work | None]]:
    """The calls of a live run with their work, by our model."""
    record(torch, path, work, record_shapes=True)
    found = []
    for event in json.loads(path.read_bytes())["traceEvents"]:
        arguments = event.get("args", {})
        if event.get("cat") == "cpu_op" and "Input Dims" in arguments:
            texts = (
                json.dumps(arguments.get(key, []))
                for key in ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
            )
            call = read_call(event["name"], *texts)
            assert call is not None
            found.append((call, work_of(call)))
    return found


def counted(torch: Any, work: Callable[[], object]) -> Counter[str]:
    """FLOPs by operator, by the counter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with importlib.import_module("torch.utils.flop_counter").FlopCounterMode(
            display=False
        ) as mode:
            work()
    return Counter(
        {
            str(operator).removeprefix("aten."): flops
            for operator, flops in mode.get_flop_counts().get("Global", {}).items()
        }
    )


def surplus(call: Call, work: Work) -> int:
    """By how much the counter's weight gradient of a grouped convolution is too large."""
    groups, wanted = call.value(9), call.flags(10, 3)
    assert wanted is not None
    return (
        (groups - 1) * (work.flops - work.bias_flops) // (wanted[0] + wanted[1]) if wanted[1] else 0
    )


def ours(calls: list[tuple[Call, Work | None]]) -> Counter[str]:
    """FLOPs by our models; every call must be modelled."""
    sums: Counter[str] = Counter()
    for call, work in calls:
        name = call.name.removeprefix("aten::")
        if name in COUNTED:
            assert work is not None, call
            sums[name] += (
                work.flops
                - work.bias_flops
                + (surplus(call, work) if name == "convolution_backward" else 0)
            )
    return sums


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("keys", [13, 21, 5])
def test_attention_of_the_cpu_by_the_formula_of_the_counter(
    torch: Any, tmp_path: Path, keys: int, causal: bool
) -> None:
    counter = importlib.import_module("torch.utils.flop_counter")
    q, k, v = (torch.randn(2, 4, n, 8, requires_grad=True) for n in (13, keys, keys))

    def attend() -> None:
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=causal
            ).sum().backward()

    found = {call.name: work for call, work in recorded(torch, tmp_path / "trace.json", attend)}
    pairs = sum(min(i + 1, keys) for i in range(13)) if causal else 13 * keys
    forward = counter.sdpa_flop_count(q.shape, k.shape, v.shape)
    backward = counter.sdpa_backward_flop_count(q.shape, q.shape, k.shape, v.shape)
    for name, whole in (("", forward), ("_backward", backward)):
        work = found[f"aten::_scaled_dot_product_flash_attention_for_cpu{name}"]
        assert work is not None
        assert work.flops * 13 * keys == whole * pairs
    assert not counted(torch, attend)


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("_scaled_dot_product_flash_attention", ()),
        ("_scaled_dot_product_efficient_attention", (None, True)),
        ("_scaled_dot_product_cudnn_attention", (None, True)),
    ],
)
def test_attention_of_accelerators_without_one(
    torch: Any, tmp_path: Path, name: str, after: tuple[object, ...]
) -> None:
    """On tensors without data, which the profiler records and the counter counts all the same."""
    q, k, v = (torch.empty(2, 4, n, 16, device="meta", dtype=torch.bfloat16) for n in (13, 21, 21))

    def attend() -> None:
        getattr(torch.ops.aten, name)(q, k, v, *after)

    found = {call.name: work for call, work in recorded(torch, tmp_path / "trace.json", attend)}[
        f"aten::{name}"
    ]
    assert found is not None
    assert {name: found.flops} == dict(counted(torch, attend))
