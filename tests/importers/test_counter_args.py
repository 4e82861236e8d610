"""Counters of profiled ranges: every argument under its own name, in any layout."""

from __future__ import annotations

import json

import pytest

from tests.importers.reading import defects, read, span, trace
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role


def _range(number: int, args: str) -> str:
    return span(number, f'"args": {args}', cat="cuda_profiler_range", pid=0, tid=0)


def _counters(trace: Trace) -> list[tuple[str, str, float]]:
    """(name of the range, counter, value)."""
    table, spans = trace["counter_args"], trace["spans"]
    rows = zip(
        table["span"].tolist(), table["counter"].tolist(), table["value"].tolist(), strict=True
    )
    return [
        (trace.strings[int(spans["name"][row])], trace.strings[counter], value)
        for row, counter, value in rows
    ]


def test_every_number_is_a_counter_and_what_is_none_was_not_measured() -> None:
    args = {
        "dram__bytes_read.sum": 4096,
        "a.pct": 12.5,
        "b": "77",
        "c": "n/a",
        "d": None,
        "e": True,
        "f": [1],
        "correlation": 9,
        "g": 2**70,
        "h": "1e999",
    }
    imported = read(trace(span(0), _range(1, json.dumps(args)), span(2)))
    assert _counters(imported) == [
        ("op1", "dram__bytes_read.sum", 4096),
        ("op1", "a.pct", 12.5),
        ("op1", "b", 77),
        ("op1", "g", float(2**70)),
    ]
    assert imported["spans"]["role"].tolist() == [Role.OPERATOR, Role.COUNTER_RANGE, Role.OPERATOR]


@pytest.mark.parametrize("chunk", [1, 7, 100, 1 << 20])
def test_any_chunk_size_and_order(chunk: int) -> None:
    events = [
        _range(n, json.dumps({"x": n, "y": -n})) if n % 3 == 0 else span(n) for n in range(12)
    ]
    imported = read(trace(*events[::-1]), chunk)
    assert _counters(imported) == [
        (f"op{n}", name, value) for n in range(0, 12, 3) for name, value in (("x", n), ("y", -n))
    ]


def test_a_text_that_needs_mending_keeps_the_other_counters() -> None:
    imported = read(trace(_range(0, '{"x": NaN, "y": 2}'), _range(1, '{"x": 3, "bytes": "many"}')))
    assert _counters(imported) == [("op0", "y", 2), ("op1", "x", 3)]
    assert defects(imported)


def test_counters_of_a_repeated_event_go_with_it() -> None:
    imported = read(trace(*[_range(1, '{"x": 3, "correlation": 5}')] * 2))
    assert _counters(imported) == [("op1", "x", 3)]


def test_scopes_of_intels_profiler() -> None:
    around = [
        span(1, cat="kernel", name="gemm", ts=100, dur=5),
        span(2, cat="kernel", name="metrics: gemm", ts=99.999, dur=5.002),
    ]
    sample = (
        '{"ph": "C", "cat": "xpu_scope_profiler", "name": "metrics", "pid": 0, "tid": 1, "ts": 100,'
        ' "args": {"XVE_BUSY": 7.5}}'
    )
    imported = read(trace(*around, sample))
    assert imported["spans"]["role"].tolist() == [Role.DEVICE_ANNOTATION, Role.KERNEL]
    imported = read(
        trace(
            span(
                1,
                '"args": {"kernel id": 7, "queue": 1, "kernel name": "gemm", "XVE_BUSY": 7.5}',
                cat="xpu_scope_profiler",
                name="Scope",
            )
        )
    )
    assert _counters(imported) == [("Scope", "XVE_BUSY", 7.5)]


def test_no_other_event_has_counters() -> None:
    assert (
        _counters(
            read(trace(span(0, '"args": {"x": 1}'), span(1, '"args": {"x": 1}', cat="kernel")))
        )
        == []
    )
