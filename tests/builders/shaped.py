"""A training program drawn call by call, with shapes, frames and backward functions, for what is asked of any place.

::

    program = Shaped()
    with program.step():
        with program.frame("model.py(3): forward"):
            program.call("aten::linear", 400, [[64, 128], [8000, 128]], trains=True)
            program.call("aten::slice", 2, [[64, 8000], [], [], [], []], ["", "1", "0", "5", "1"])
        program.backward()
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.analysis.findings.cases import span
from tests.builders.drawn import Event

ENGINE = "autograd::engine::evaluate_function: "
Dims = Sequence[Any]


class Shaped:
    """Entries one after the other on one thread; times in µs, 1 µs between two of them."""

    def __init__(self) -> None:
        self.now, self.number, self.steps = 0.0, 0, 0
        self.listed: list[Event] = []
        self._open: list[tuple[int, float]] = []

    def call(
        self,
        name: str,
        length: float,
        dims: Dims = (),
        concrete: Sequence[str] = (),
        *,
        types: Sequence[Any] = (),
        strides: Dims = (),
        beneath: Sequence[tuple[str, Dims, Dims]] = (),
        trains: bool = False,
    ) -> None:
        """An operator; ``beneath``: what it calls, (name, shapes, strides), together as long as it. One that ``trains`` has a
        backward function as long as it.
        """
        self.listed.append(
            span("cpu_op", name, self.now, length, **self._args(dims, concrete, types, strides))
        )
        for place, (inner, shapes, steps) in enumerate(beneath):
            each = length / len(beneath)
            args = self._args(shapes, (), (), steps)
            self.listed.append(span("cpu_op", inner, self.now + place * each, each, **args))
        if trains:
            self._open.append((self.number, length))
            self.number += 1
        self.now += length + 1

    def _args(self, dims: Dims, concrete: Dims, types: Dims, strides: Dims) -> dict[str, Any]:
        given = [types[i] if i < len(types) else _type(one) for i, one in enumerate(dims)]
        steps = [strides[i] if i < len(strides) else _dense(one) for i, one in enumerate(dims)]
        values = [concrete[i] if i < len(concrete) else "" for i in range(len(dims))]
        return {
            "Sequence number": self.number,
            "Fwd thread id": 0,
            "Input Dims": list(dims),
            "Input type": given,
            "Input Strides": steps,
            "Concrete Inputs": values,
        }

    def backward(self) -> None:
        """The backward functions of all that trains and had none, the last one first."""
        for number, length in reversed(self._open):
            args = {"Sequence number": number, "Fwd thread id": 1}
            self.listed.append(span("cpu_op", f"{ENGINE}AnyBackward0", self.now, length, **args))
            self.now += length + 1
        self._open = []

    def update(self, *weights: Sequence[int]) -> None:
        """An optimizer's step over weights of some shapes."""
        begin = self.now
        for shape in weights:
            self.call("aten::add_", 2, [shape, shape, []])
        name = "Optimizer.step#SGD.step"
        self.listed.append(span("user_annotation", name, begin - 0.2, self.now - begin))

    @contextmanager
    def frame(self, name: str) -> Iterator[None]:
        """A Python frame, or a module (``nn.Module: Linear_0``), around what is called in it."""
        begin, place = self.now, len(self.listed)
        self.now += 0.5
        yield
        self.listed.insert(place, span("python_function", name, begin, self.now - begin))
        self.now += 0.5

    @contextmanager
    def step(self) -> Iterator[None]:
        """The next step of the profiler."""
        begin, self.steps = self.now, self.steps + 1
        self.now += 1
        yield
        name = f"ProfilerStep#{self.steps}"
        self.listed.append(span("user_annotation", name, begin, self.now - begin))
        self.now += 1


def _type(dims: Any) -> Any:
    if dims and isinstance(dims[0], list):
        return ["float"] * len(dims)
    return "float" if dims else "Scalar"


def _dense(dims: Any) -> Any:
    if dims and isinstance(dims[0], list):
        return [_dense(one) for one in dims]
    steps: list[int] = []
    size = 1
    for one in reversed(dims):
        steps.insert(0, size)
        size *= one
    return steps
