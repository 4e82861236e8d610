"""Names of functions of Python, as profilers write them."""

from __future__ import annotations

import pytest

from torch_tb_profiler.store.python_frames import PythonFrame


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("torch/serialization.py(12): save", PythonFrame("save", "torch/serialization.py", 12)),
        ("main.py: <lambda>", PythonFrame("<lambda>", "main.py")),
        ("C:\\a (1)\\b.py(3): f: g", PythonFrame("f: g", "C:\\a (1)\\b.py", 3)),
        ("<frozen importlib._bootstrap>(9): _load", PythonFrame("_load", "<frozen importlib._bootstrap>", 9)),
        ("<ipython-input-3-ab>: step", PythonFrame("step", "<ipython-input-3-ab>")),
        ("<string>(2): __init__", PythonFrame("__init__", "<string>", 2)),
        ("<built-in function len>", PythonFrame("len")),
        ("<built-in method sum of Tensor object at 0x7f>", PythonFrame("sum")),
        ("<built-in method sum of", None),
        (f"a.py({'9' * 5000}): f", PythonFrame("f", "a.py")),
        ("aten::add", None),
        ("nn.Module: Linear_0", None),
        ("void gemm<(int)8>(float*)", None),
        ("a.py(12):", None),
    ],
)  # fmt: skip
def test_what_a_name_says(text: str, frame: PythonFrame | None) -> None:
    assert PythonFrame.of(text) == frame


def test_what_somebody_wrote() -> None:
    texts = ("a/b.py(1): f", "a.py: f", "<ipython-input-1>(2): f", "<string>(1): f", "<built-in function f>")  # fmt: skip
    assert [(frame := PythonFrame.of(t)) is not None and frame.is_source for t in texts] == [
        True,
        True,
        True,
        False,
        False,
    ]
