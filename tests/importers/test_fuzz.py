"""A few hundred mutated traces, and the structures that once cost a whole trace.

``python -m benchmarks.fuzz`` tries as many as one likes.
"""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fuzz import __main__ as program
from benchmarks.fuzz.check import Checked, check
from benchmarks.fuzz.mutate import Case, case
from tests.builders.drawn import Event, text_of

pytestmark = pytest.mark.slow
CASES = 200
SEED = 12


def span(number: int, **changed: Any) -> Event:
    """An operator at 100 + 10 · number µs for 5 µs."""
    event = {"ph": "X", "cat": "cpu_op", "name": f"op{number}", "pid": 1, "tid": 2}
    return {**event, "ts": 100 + 10 * number, "dur": 5, "args": {}, **changed}


def record(number: int, kind: int, device: int) -> Event:
    """An allocation of 64 bytes."""
    args = {"Addr": number, "Bytes": 64, "Device Type": kind, "Device Id": device}
    return span(number, ph="i", cat="cpu_instant_event", name="[memory]", args=args)


def kernel(number: int, **args: Any) -> Event:
    return span(number, cat="kernel", pid=0, tid=7, args={"device": 0, "stream": 7, **args})


FAR_US = 2_999_999_999_999_000
ATTACKS: dict[str, list[Event]] = {
    "a figure of 400 digits": [kernel(1, **{"est. achieved occupancy %": "9" * 400})],
    "a figure that is text": [kernel(1, **{"blocks per SM": "1e400", "shared memory": "9" * 999})],
    "flows without spans": [span(n, ph="sf"[n % 2], cat="ac2g", id=n // 2) for n in range(6)],
    "two types of one memory device": [record(1, 1, 0), record(2, 6, 0), record(3, 3, 0)],
    "two hosts": [record(1, 0, 0), record(2, 0, 1), record(3, 0, -1)],
    "memory devices without a number": [record(1, -5, -1), record(2, -7, -1), record(3, -5, -2)],
    "spans that are centuries apart": [span(0, ts=-FAR_US), span(1, ts=FAR_US, dur=FAR_US)],
    "kernels that last for centuries": [
        {**kernel(n, **{"blocks per SM": 1e308}), "dur": FAR_US} for n in range(20)
    ],
}


@pytest.mark.parametrize("name", ATTACKS)
def test_one_odd_value_costs_one_value(name: str, tmp_path: Path) -> None:
    listed = ATTACKS[name]
    data = text_of(listed).encode()
    checked = check(Case("attack", data, len(listed)), tmp_path, views=True)
    assert checked.entries == len(listed)


def test_a_byte_order_mark_does_not_make_folded_stacks_of_a_trace(tmp_path: Path) -> None:
    text = f'\ufeff{{"schemaVersion": 1\n, "traceEvents": [{json.dumps(span(1))}]}}'
    assert check(Case("marked", text.encode(), 1), tmp_path, views=False).entries == 1


def test_time_that_others_took_is_not_held_against_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(*_: object) -> Checked:
        time.sleep(0.2)
        return Checked(False)

    monkeypatch.setattr(program, "check", wait)
    tally = program.run_block(0, SEED, 1, 0)
    assert (tally.cases, tally.faults) == (1, [])
    assert tally.seconds < 0.15


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(20, CASES, 20))]
)
def test_mutated_traces(number: int, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in range(number, number + 20):
            check(case(SEED, each), tmp_path, views=each == number)
