"""Python's names of operators."""

from __future__ import annotations

import pytest

from torch_tb_profiler.hardware.call import Call, Tensor
from torch_tb_profiler.hardware.work import model_of, operator_of, work_of


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        ("torch.nn.functional.linear", "aten::linear"),
        ("torch.mm", "aten::mm"),
        ("Tensor.__matmul__", "aten::matmul"),
        ("aten::mm", "aten::mm"),
        ("my_ops::mm", "my_ops::mm"),
        ("optimizer.step.Adam", "optimizer.step.Adam"),
    ],
)
def test_names(name: str, operator: str) -> None:
    assert operator_of(name) == operator


def test_a_call_from_python_is_as_much_work_as_the_operator() -> None:
    inputs = (Tensor((8, 16), "c10::Half"), Tensor((4, 16), "c10::Half"), None)
    assert (
        work_of(Call("torch.nn.functional.linear", inputs))
        == work_of(Call("aten::linear", inputs))
        is not None
    )
    assert model_of("Tensor.__matmul__") == model_of("aten::matmul") is not None


def test_a_function_whose_tensors_stand_in_another_order_is_not_modelled() -> None:
    assert model_of("torch.nn.functional.embedding") is None
