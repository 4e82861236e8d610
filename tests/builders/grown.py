"""Traces that are large in one respect, as no model is: what replies and figures must survive."""

from __future__ import annotations

from collections.abc import Callable

from tests.builders.drawn import Event


def _span(number: int, **changed: object) -> Event:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1}
    return {**event, "ts": 10 * number, "dur": 8, "args": {}, **changed}


def _launched(number: int, device: int = 0, kernel: str = "gemm") -> list[Event]:
    """A runtime call and its kernel."""
    correlation = {"correlation": number + 1}
    place = {"pid": device, "tid": 7, "cat": "kernel", "name": kernel}
    return [
        _span(number, cat="cuda_runtime", name="cudaLaunchKernel", dur=2, args=correlation),
        _span(
            number,
            **place,
            ts=10 * number + 3,
            dur=4,
            args={**correlation, "device": device, "stream": 7},
        ),
    ]


def steps(n: int) -> list[Event]:
    """Steps of 10 µs, each with an operator and its kernel."""
    listed = []
    for number in range(n):
        listed.append(_span(number, cat="user_annotation", name=f"ProfilerStep#{number}", dur=10))
        listed.append(_span(number))
        listed += _launched(number)
    return listed


def threads(n: int) -> list[Event]:
    """An operator on each thread."""
    return [_span(number, tid=number, ts=10 * (number % 1000)) for number in range(n)]


def devices(n: int) -> list[Event]:
    """A kernel on each device, its launch, and an allocation there."""
    listed = []
    for number in range(n):
        listed += _launched(number, device=number)
        record = {"Addr": number + 1, "Bytes": 64, "Device Type": 1, "Device Id": number}
        listed.append(_span(number, ph="i", cat="cpu_instant_event", name="[memory]", args=record))
    return listed


def modules(n: int) -> list[Event]:
    """Modules one after another below one, each with an operator and its kernel."""
    module = {"cat": "python_function", "args": {"Python module id": 0}}
    listed = [_span(0, **module, name="nn.Module: Net_0", dur=10 * n)]
    for number in range(n):
        name = f"nn.Module: Layer_{number}"
        listed.append(
            _span(number, **{**module, "args": {"Python module id": number + 1}}, name=name)
        )
        listed.append(_span(number, ts=10 * number + 1, dur=6))
        listed += _launched(number)
    return listed


def names(n: int) -> list[Event]:
    """Operators, kernels, counters and annotations, no two of one name."""
    listed = []
    for number in range(n):
        listed.append(_span(number, name=f"aten::op_{number}", args={"Input Dims": [[number]]}))
        listed += _launched(number, kernel=f"kernel_{number}")
        if number % 10 == 0:
            listed.append(_span(number, ph="C", name=f"counter {number}", args={"value": number}))
            note = {"cat": "user_annotation", "name": f"note {number}"}
            listed.append(_span(number, **note, tid=2))
    return listed


def deep(n: int) -> list[Event]:
    """Python frames within one another, 500 deep, and an operator in the innermost."""
    listed, depth = [], 500
    for turn in range(n // depth):
        begin = 10 * depth * turn
        for level in range(depth):
            frame = {"cat": "python_function", "name": f"file{level % 7}.py({turn}): f{level}"}
            listed.append(
                _span(0, **frame, ts=begin + level, dur=2 * (depth - level) + 10, args={})
            )
        listed.append(_span(0, ts=begin + depth, dur=5))
        listed += [
            {**event, "ts": begin + depth + 1 + at} for at, event in enumerate(_launched(turn))
        ]
    return listed


def collectives(n: int) -> list[Event]:
    """A step with many all-reduces."""
    listed = [_span(0, cat="user_annotation", name="ProfilerStep#1", dur=10 * n)]
    named = {"Collective name": "allreduce", "Process Group Name": "0", "Group size": 2}
    for number in range(n):
        for event in _launched(number, kernel="ncclDevKernel_AllReduce_Sum_f32_RING_LL"):
            event["args"] |= named if event["cat"] == "kernel" else {}
            listed.append(event)
    return listed


def lines(n: int) -> list[Event]:
    """Steps in which every operator is called from a line of its own."""
    return [
        _span(number, args={"Call stack": f"model.py({number}): forward;train.py(1): main"})
        for number in range(n)
    ]


def flows(n: int) -> list[Event]:
    """Operators that each lead to the next one, of many categories."""
    listed = []
    for number in range(n):
        listed.append(_span(number))
        for phase, at in (("s", 10 * number + 1), ("f", 10 * number + 11)):
            arrow = {"ph": phase, "cat": f"kind {number}", "id": number, "ts": at}
            listed.append(_span(0, **arrow))
    return listed


GROWN: dict[str, tuple[Callable[[int], list[Event]], int]] = {
    "steps": (steps, 10_000),
    "threads": (threads, 6_000),
    "devices": (devices, 1_000),
    "modules": (modules, 11_000),
    "names": (names, 11_000),
    "deep": (deep, 10_000),
    "collectives": (collectives, 10_000),
    "lines": (lines, 11_000),
    "flows": (flows, 10_000),
}
"""What grows, and how far a test lets it: beyond the most rows that a reply has."""
