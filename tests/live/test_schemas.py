"""The places at which models read the arguments of PyTorch's operators are those of the schemas of
the installed PyTorch.
"""

from __future__ import annotations

from typing import Any

import pytest

from torch_tb_profiler.hardware.families.attention import _BACKWARDS, _FORWARD, _QUANTIZED
from torch_tb_profiler.hardware.families.convolution import _SCHEMAS
from torch_tb_profiler.hardware.families.reduction import _REDUCTIONS

ATTENTION = {
    "causal": {"is_causal", "custom_mask_type"},
    "first": {"query"},
    "mask": {"attn_mask", "attn_bias", "bias"},
    "out": {"out"},
    "lengths": {"cum_seq_q", "cu_seqlens_q"},
    "longest": {"max_q", "max_seqlen_q"},
    "window": {"window_size_left"},
    "local": {"window_size"},
}
SECRET = {"seqused_k", "seqlen_k", "block_table"}
CONVOLUTION = {
    "bias": {"bias"},
    "stride": {"stride"},
    "padding": {"padding"},
    "dilation": {"dilation"},
    "groups": {"groups"},
    "transposed": {"transposed"},
    "output_padding": {"output_padding"},
}


@pytest.fixture(scope="module")
def schemas(torch: Any) -> dict[str, list[list[str]]]:
    """Operator → the names of the arguments of each of its overloads that has no ``out``."""
    found: dict[str, list[list[str]]] = {}
    for schema in torch._C._jit_get_all_schemas():
        if not any(argument.is_out for argument in schema.arguments):
            found.setdefault(schema.name, []).append(
                [argument.name for argument in schema.arguments]
            )
    return found


def _wrong(
    name: str, places: Any, expected: dict[str, set[str]], arguments: list[str]
) -> list[str]:
    found = {key: getattr(places, key) for key in expected}
    return [
        f"{name}: {key} at {place} of {arguments}"
        for key, place in found.items()
        if place >= 0 and (place >= len(arguments) or arguments[place] not in expected[key])
    ]


def test_attention(schemas: dict[str, list[list[str]]]) -> None:
    wrong, compared = [], 0
    for name, places in {**_FORWARD, **_BACKWARDS}.items():
        for arguments in schemas.get(name, []):
            arity, scaled = _QUANTIZED.get(name, (-1, places))
            of = scaled if len(arguments) == arity else places
            wrong += _wrong(name, of, ATTENTION, arguments)
            secret = {place for place, argument in enumerate(arguments) if argument in SECRET}
            wrong += (
                [f"{name}: {set(of.secret)} are not {secret}"] if set(of.secret) != secret else []
            )
            compared += 1
    assert wrong == []
    assert compared >= 20


def test_convolutions(schemas: dict[str, list[list[str]]]) -> None:
    # Of two overloads of conv2d one takes the padding as a word; thnn_conv2d has no dilation and is
    # told by its length.
    wrong = [
        each
        for name, places in _SCHEMAS.items()
        if name.startswith("aten::")
        for arguments in schemas.get(name, [])
        for each in _wrong(name, places, CONVOLUTION, arguments)
    ]
    assert all("dilation" in each for each in wrong), wrong
    assert {each.split(": ")[0] for each in wrong} == {
        "aten::thnn_conv2d",
        "aten::_slow_conv2d_forward",
        "aten::slow_conv3d",
        "aten::slow_conv3d_forward",
    }


def test_reductions(schemas: dict[str, list[list[str]]]) -> None:
    wrong = []
    for name, rule in _REDUCTIONS.items():
        for arguments in schemas[name]:
            if "dim" in arguments and "keepdim" in arguments:
                places = {"dim": rule.dims, "keepdim": rule.keepdim} | (
                    {"dtype": rule.dtype} if rule.dtype >= 0 and "dtype" in arguments else {}
                )
                wrong += [
                    (name, key, arguments)
                    for key, place in places.items()
                    if place >= 0 and arguments.index(key) != place
                ]
    assert wrong == []
