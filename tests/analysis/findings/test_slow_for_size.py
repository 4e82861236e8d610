"""Calls that are slow for their size: planted in operators of any kind, size and place, on a host and on devices of any vendor; and programs
in which nothing is.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import Findings, item, made, rules, span
from tests.builders.drawn import Event
from tests.builders.shaped import Shaped
from tests.examples import examples

VENDORS: list[Any] = [{}] + [
    {"deviceProperties": [{"id": 0, "name": name}]}
    for name in ("NVIDIA H100", "AMD Instinct MI300X", "Some NPU")
]
OPERATORS = {
    "aten::mul": lambda n, m: [[n, m], [n, m]],
    "aten::exp": lambda n, m: [[n, m]],
    "aten::bmm": lambda n, m: [[2, n, 64], [2, 64, m]],
    "aten::mm": lambda n, m: [[n, 64], [64, m]],
    "aten::sum": lambda n, m: [[n, m], []],
}


def _found(
    name: str,
    dims: list[Any],
    slow: dict[str, Any],
    times: float,
    vendor: Any,
    calls: int = 4,
    steps: int = 3,
) -> Findings:
    """What is found in a program in which one line calls an operator as others do, and it takes so many times as long."""
    program, device = Shaped(), 0.0
    for _ in range(steps):
        with program.step():
            for _ in range(calls):
                for line, length, more in ((5, 200.0, {}), (9, 200.0 * times, slow)):
                    with program.frame(f"model.py({line}): f{line}"):
                        begin = program.now
                        call = {"name": name, "dims": dims} | more
                        program.call(length=length if vendor is None else 10.0, **call)
                    device = max(device, begin + 7) + length
                    if vendor is not None:
                        program.listed += _launch(begin + 1, device - length, length)
            if vendor is not None:
                wait = device + 1 - program.now
                program.listed.append(
                    span("cuda_runtime", "cudaDeviceSynchronize", program.now, wait)
                )
                program.now = device + 1
    return made(program.listed, **(vendor or {}))


def _launch(called: float, begin: float, length: float) -> list[Event]:
    number = round(called * 10)
    return [
        span("cuda_runtime", "cudaLaunchKernel", called, 5, correlation=number),
        span("kernel", "some_kernel", begin, length, 7, correlation=number),
    ]


@examples(12)
@given(
    st.sampled_from(sorted(OPERATORS)),
    st.integers(3, 300),
    st.integers(3, 300),
    st.integers(4, 50),
    st.sampled_from(["strides", "type", "nothing"]),
    st.sampled_from([None, *VENDORS]),
)
def test_what_takes_longer_than_the_like_is_found_with_what_differs(
    name: str, rows: int, width: int, times: int, why: str, vendor: Any
) -> None:
    dims = OPERATORS[name](10 * rows, 10 * width)
    others: dict[str, dict[str, Any]] = {
        "strides": {"strides": [[1, *one[:-1]] if one else [] for one in dims]},
        "type": {"types": ["c10::BFloat16" if one else "Scalar" for one in dims]},
        "nothing": {},
    }
    one = item(_found(name, dims, others[why], times, vendor), "slow_for_size")
    assert one["numbers"]["times"] >= times / 2.5
    assert one["words"]["what"] == name
    told = {"strides": "the order in memory", "type": "the type: bf16", "nothing": "nothing that"}
    assert one["words"]["differs"].startswith(told[why])
    assert one["line"] == "model.py(9): f9"
    assert one["recoverable_ns"] == pytest.approx(
        800e3 * (times - 1), rel=0.25 if why == "type" else 0.03
    )


@examples(10)
@given(
    st.sampled_from(sorted(OPERATORS)),
    st.integers(3, 300),
    st.sampled_from(["nearly as fast", "larger", "shorter", "of another operator"]),
    st.sampled_from([None, *VENDORS]),
)
def test_what_its_size_explains_is_not_slow(name: str, rows: int, why: str, vendor: Any) -> None:
    dims = OPERATORS[name](10 * rows, 770)
    slow: dict[str, dict[str, Any]] = {
        "larger": {"dims": OPERATORS[name](90 * rows, 770)},
        "of another operator": {"name": "aten::tanh", "dims": [dims[0]]},
    }
    times = {"nearly as fast": 2.5, "shorter": 0.4}.get(why, 9)
    assert "slow_for_size" not in rules(_found(name, dims, slow.get(why, {}), times, vendor))


def test_few_calls_show_nothing() -> None:
    found = _found("aten::exp", [[500, 770]], {}, 9, None, calls=1, steps=2)
    assert "slow_for_size" not in rules(found)
