"""The recording of an inference server under load, small: ramp-up, steady state, ramp-down."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.builders.drawn import Event
from tests.builders.loop import span
from tests.builders.server_annotations import Batch, Said, random_batch, sglang_plain, vllm_detailed

Write = Callable[[random.Random, Batch], Said]
MOST = 32
KERNELS = 4
PID, THREAD, STREAM = 1, 1, 7


@dataclass(frozen=True)
class Served:
    """An iteration of the drawn server, times in ns after the first event.

    device: its kernels' time; gap: idleness of the device before the first of them, −1 of the first iteration.
    """

    said: Said
    begin: int
    host: int
    device: int
    gap: int
    odd: bool
    part: str


def server_trace(
    iterations: int = 200,
    odd: tuple[int, ...] = (90, 130),
    write: Write = vllm_detailed,
    seed: int = 7,
) -> tuple[list[Event], list[Served]]:
    """``(events, truth)``. A tenth ramps up from one request, a tenth down to one; every eighth iteration computes a
    prompt beside those that generate. Kernels of an odd one take ten times as long.
    """
    draw = random.Random(seed)
    ramp = iterations // 10
    events: list[Event] = []
    truth: list[Served] = []
    now, device = 0, 0
    for number in range(iterations):
        left = iterations - number
        requests = max(1, MOST * min(number + 1, left, ramp) // ramp)
        steady = requests == MOST
        prompts = 1 if number % 8 == 3 and steady else 0
        full = random_batch(draw, bool(prompts), True)
        keys = [(1, draw.randint(100, 5000)) for _ in range(requests - prompts)]
        said = write(draw, Batch(full.prompts[:prompts], keys))
        slow = 10 if number in odd else 1
        each = slow * (4000 if prompts else 1000) + draw.randint(0, 40)
        host = 2000 + draw.randint(0, 200)
        events.append(_span("user_annotation", said.text, now, host, PID, THREAD))
        first = max(device, now + 500)
        gap = first - device if truth else -1
        for kernel in range(KERNELS):
            correlation = number * KERNELS + kernel + 1
            launch = now + 100 + 400 * kernel
            events.append(
                _span("cuda_runtime", "cudaLaunchKernel", launch, 50, PID, THREAD, correlation)
            )
            events.append(_span("kernel", f"layer_{kernel}", first, each, 0, STREAM, correlation))
            first += each
        device = first
        part = "steady" if steady else "ramp-up" if number < iterations // 2 else "ramp-down"
        truth.append(Served(said, now, host, KERNELS * each, gap, slow > 1, part))
        now = max(now + host, device) + 1000 + draw.randint(0, 100)
    return events, truth


def sglang_server_trace(iterations: int = 60) -> tuple[list[Event], list[Served]]:
    """A server trace of SGLang, with vLLM's words within its own."""
    events, truth = server_trace(iterations, (), sglang_plain)
    inner = [
        {**event, "name": _detailed(served), "ts": event["ts"] + 0.05, "dur": event["dur"] - 0.1}
        for event, served in zip(_annotations(events), truth, strict=True)
    ]
    return events + inner, truth


def _annotations(events: list[Event]) -> list[Event]:
    return [event for event in events if event["cat"] == "user_annotation"]


def _detailed(served: Served) -> str:
    requests = max(served.said.generation[0], 0)
    sums = f"sq{requests}sk{1000 * requests}sqsq{requests}sqsk{1000 * requests}"
    return f"execute_{requests}_context_0(sq0sk0sqsq0sqsk0)_generation_{requests}({sums})"


def _span(
    category: str, name: str, begin: int, length: int, pid: int, tid: int, correlation: int = 0
) -> Event:
    arguments: dict[str, int] = {"correlation": correlation} if correlation else {}
    if category == "kernel":
        arguments |= {"device": pid, "stream": tid}
    return span(category, name, pid, tid, begin / 1000, length / 1000, **arguments)
