"""Chains of memory-bound calls, by shapes and order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.fusion import (
    Inner,
    Step,
    chains_of,
    inner_tensors,
    step_of,
    title_of,
)

Q, HALF, COS = (
    Tensor((8, 64), "c10::BFloat16"),
    Tensor((8, 32), "c10::BFloat16"),
    Tensor((64,), "c10::BFloat16"),
)
UNTYPED = (Tensor((8, 32)), Tensor((8, 32)))


def step(name: str, *inputs: Tensor | tuple[Tensor, ...], values: tuple[str, ...] = ()) -> Step:
    found = step_of(Call(f"aten::{name}", inputs, values))
    assert found is not None, name
    return found


def test_rope_in_five() -> None:
    run = [
        step("mul", Q, COS),
        step("neg", HALF),
        step("cat", UNTYPED, values=("", "-1")),
        step("mul", Q, COS),
        step("add", Q, Q),
    ]
    assert inner_tensors(run) == [
        Inner(1, 2, 8 * 32 * 2),
        Inner(2, 3, 8 * 64 * 2),
        Inner(3, 4, 8 * 64 * 2),
        Inner(0, 4, 8 * 64 * 2),
    ]
    assert chains_of(inner_tensors(run)) == [(0, 1, 2, 3, 4)]


def test_another_type_or_shape_is_another_tensor() -> None:
    wide = Tensor(Q.shape, "float")
    assert inner_tensors([step("relu", Q), step("relu", wide)]) == []
    assert inner_tensors([step("relu", Q), step("relu", HALF)]) == []
    assert inner_tensors([step("eq", Q, Q), step("relu", Q)]) == []


def test_a_result_is_read_once() -> None:
    run = [step("relu", Q), step("exp", Q), step("neg", Q)]
    assert inner_tensors(run) == [Inner(0, 1, 1024), Inner(1, 2, 1024)]
    two = [step("relu", Q), step("relu", HALF), step("exp", Q), step("exp", HALF)]
    assert chains_of(inner_tensors(two)) == [(0, 2), (1, 3)]


@pytest.mark.parametrize("name", ["mul_", "mm", "relu_", "_foreach_add_", "index"])
def test_calls_of_no_chain(name: str) -> None:
    assert step_of(Call(f"aten::{name}", (Q, Q))) is None


def test_conversions_and_reductions() -> None:
    copied = step("copy_", Tensor(Q.shape, "float"), Q)
    assert (copied.reads, copied.result.dtype) == ((Q,), "float")
    mean = step("mean", Q, Q, Q, values=("", "[-1]", "True"))
    assert mean.result.shape == (8, 1)
    assert step_of(Call("aten::mean", (Q,), ("", "[5]", "True"))) is None


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (("aten::mul", "aten::neg", "aten::cat", "aten::mul", "aten::add"), "RoPE"),
        (("aten::silu", "aten::mul"), "SwiGLU"),
        (("aten::relu", "aten::exp", "aten::relu"), "relu, exp"),
    ],
)
def test_titles(names: tuple[str, ...], title: str) -> None:
    assert title_of(names) == title


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from([Q, HALF, COS]), max_size=3), st.sampled_from([Q, HALF])
        ),
        max_size=12,
    )
)
def test_every_chain_is_one_of_its_own(calls: list[tuple[list[Tensor], Tensor]]) -> None:
    inner = inner_tensors([Step(tuple(reads), result) for reads, result in calls])
    assert all(tensor.writer < tensor.reader for tensor in inner)
    writers = [tensor.writer for tensor in inner]
    assert len(set(writers)) == len(writers)
    chains = chains_of(inner)
    members = [call for chain in chains for call in chain]
    assert len(set(members)) == len(members)
    for tensor in inner:
        assert sum(tensor.writer in chain and tensor.reader in chain for chain in chains) == 1
