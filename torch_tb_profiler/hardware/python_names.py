"""Maps Python's names of operators, as in PyProf and PyTorch before 1.8, to those of the
dispatcher.

``torch.nn.functional.linear``, ``Tensor.__matmul__``, ``mm`` → ``aten::linear``, ``aten::matmul``,
``aten::mm``
"""

from __future__ import annotations

import re

_PYTHON = re.compile(r"(?:(?:torch(?:\.\w+)*|Tensor)\.)?([A-Za-z_]\w*)", re.ASCII)
_SPECIAL = {
    "__matmul__": "matmul",
    "__add__": "add",
    "__radd__": "add",
    "__iadd__": "add_",
    "__sub__": "sub",
    "__isub__": "sub_",
    "__mul__": "mul",
    "__rmul__": "mul",
    "__imul__": "mul_",
    "__truediv__": "div",
    "__itruediv__": "div_",
    "__pow__": "pow",
    "__neg__": "neg",
    "__eq__": "eq",
    "__ne__": "ne",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
    "cross_entropy": "cross_entropy_loss",
}
_OTHER_ORDER = frozenset(("torch.nn.functional.embedding",))
"""Functions whose tensors are in another order than the operator's."""


def operator_of(name: str) -> str:
    """The dispatcher's name of an operator; other names are returned unchanged."""
    match = _PYTHON.fullmatch(name)
    if match is None or name in _OTHER_ORDER:
        return name
    return f"aten::{_SPECIAL.get(match[1], match[1])}"
