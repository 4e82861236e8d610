"""No answer about a sample or a public trace says what is not so; and the laws tell of what is not."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import public
from tests.analysis.findings.cases import of_some_program, span, steps
from tests.builders.drawn import Event, trace_of
from tests.conftest import REAL_TRACES, REPOSITORY
from tests.examples import examples
from tests.views.findings.claims import Answered, answers_of, broken, broken_alone, broken_words
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.views.findings.payload import Source, findings_payload

pytestmark = pytest.mark.slow

SAMPLES = sorted(path.parent.name for path in (REPOSITORY / "samples").glob("*/*.pt.trace.json.gz"))
FOLDERS = sorted(path for path in REAL_TRACES.glob("*") if path.is_dir())
SMALL = 150_000
"""Bytes of traces that are read between two edits."""


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


QUICK = [folder.name for folder in FOLDERS if _bytes(folder) <= SMALL]
LARGE: list[Path] = [folder for folder in FOLDERS if _bytes(folder) > SMALL]

UNREADABLE = ("git_lfs_pointer", "live_address_with_a_nul", "memory_timeline_as_html")
CASES = [
    path
    for path in sorted((REAL_TRACES.parent / "cases").glob("*"))
    if path.is_dir() and path.name not in UNREADABLE
]


@cache
def _sample(name: str) -> list[Answered]:
    return answers_of(REPOSITORY / "samples" / name)


def _check(answers: list[Answered]) -> None:
    assert answers
    assert not [text for told in answers for text in broken(told)]


@pytest.mark.parametrize("name", sorted(set(SAMPLES)))
def test_of_a_sample_nothing_is_said_that_is_not_so(name: str) -> None:
    _check(_sample(name))


@pytest.mark.parametrize("name", QUICK or [None])
def test_of_a_small_public_trace_nothing_is_said_that_is_not_so(name: str | None) -> None:
    if name is None:
        pytest.skip("the public traces (../shared/traces) are not on this machine")
    _check(answers_of(REAL_TRACES / name))


@pytest.mark.parametrize("folder", public.asked(LARGE))
def test_of_a_public_trace_nothing_is_said_that_is_not_so(folder: Path, real_traces: Path) -> None:
    _check(answers_of(folder))


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(path, id=path.name, marks=[] if number % 4 == 0 else [pytest.mark.nightly])
        for number, path in enumerate(CASES)
    ]
    or [public.ABSENT],
)
def test_of_a_case_nothing_is_said_that_is_not_so(folder: Path | None) -> None:
    """What each case is for is asked in ``tests/cases``; here a fourth of them each time, at night all."""
    if folder is None:
        pytest.skip("the small inputs (../shared/cases) are not on this machine")
    _check(answers_of(folder))


_HOST = (
    "aten::mm",
    "aten::copy_",
    "aten::to",
    "aten::nonzero",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "gloo:all_reduce",
    "train.py(7): log",
    "copy.py(118): deepcopy",
    "Optimizer.step#SGD.step",
    "",
)
_ON_DEVICE = {
    "": (),
    "cuda": ("gemm_f32", "volta_sgemm_128x64_nn", "ncclDevKernel_AllReduce", "Memcpy HtoD (Pageable -> Device)"),
    "hip": ("gemm_f32", "Cijk_Alik_Bljk_SB", "ncclDevKernel_Generic", "CopyHostToDevice"),
}  # fmt: skip
PIECE = st.tuples(
    st.integers(0, 13),
    st.floats(1, 900),
    st.sampled_from((1.0, 1.0, 1.0, 0.25, 4.0)),
    st.booleans(),
)
"""What happens, for how long, µs, how many times as long it takes in every third step, and whether the host waits for it then."""


def _entries(
    pieces: list[tuple[int, float, float, bool]], count: int, api: str, rest: float
) -> list[Event]:
    """Steps in which the same happens, one after the other; device work follows its launch on one stream."""
    entries: list[Event] = []
    bounds, now, free, number = [], 1000.0, 0.0, 0
    names = (*_HOST, *_ON_DEVICE[api])
    for step in range(count):
        begin = now
        entries.append(span("cpu_op", "aten::add", now, 5))
        now += 6
        for at, length, times, waits in pieces:
            name = names[at % len(names)]
            took = length * (times if step % 3 == 1 else 1.0)
            if name in _ON_DEVICE[api]:
                number += 1
                copies = "emcpy" in name or name.startswith("Copy")
                category = "gpu_memcpy" if copies else "kernel"
                free = max(free, now + 3) + took
                call = f"{api}{'MemcpyAsync' if copies else 'LaunchKernel'}"
                args = {"correlation": number}
                entries.append(span("cuda_runtime", call, now, 2, **args))
                entries.append(span(category, name, free - took, took, 7, **args))
                now += 3
                if waits:
                    ends = max(free - now, 1)
                    entries.append(span("cuda_runtime", f"{api}StreamSynchronize", now, ends))
                    now += ends + 1
                continue
            kind = "python_function" if "): " in name else "user_annotation"
            if name:
                entries.append(span("cpu_op" if "aten" in name else kind, name, now, took))
            now += took + 1
        now = max(now, free if rest > 50 else now) + rest
        bounds.append((begin, now))
    return [*entries, *(steps(*bounds) if count > 1 else [])]


@examples(250)
@example(
    [
        *((0, took, 1.0, False) for took in (42.0, 118.0, 183.0, 644.0)),
        (10, 168.0, 4.0, False),
        (12, 342.0, 1.0, False),
    ],
    4,
    "cuda",
    1.0,
)
@given(
    st.lists(PIECE, min_size=2, max_size=25),
    st.integers(1, 9),
    st.sampled_from(("", "cuda", "hip")),
    st.floats(1, 300),
)
def test_of_a_generated_trace_nothing_is_said_that_is_not_so(
    pieces: list[tuple[int, float, float, bool]], count: int, api: str, rest: float
) -> None:
    trace = trace_of(_entries(pieces, count, api, rest))
    facts = of_some_program(derive(trace))
    answer = msgspec.to_builtins(
        findings_payload(Source(trace, facts, build_insight(trace, facts), "worker", "1"))
    )
    on_device = bool((trace["spans"]["role"] == Role.RUNTIME).any())
    assert not [*broken_alone(answer), *broken_words(answer, {facts.summary.vendor}, on_device)]


def _lie(**changed: Any) -> list[str]:
    """What is told of the answer about a sample once a claim is another."""
    (about,) = _sample("cnn_workers_0")
    told = copy.deepcopy(dict(about.answer))
    for part in (told["findings"][0], told["told"], told):
        part |= {key: value for key, value in changed.items() if key in part}
    return broken(replace(about, answer=told))


STEP = 58_734_259
"""Of the sample, ns."""


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"part_ns": 2 * STEP}, "a part above its whole"),
        ({"whole_ns": 557_000_000}, "no step takes 557 ms"),
        ({"step_ns": 3 * STEP}, "no step takes"),
        ({"group": "host_code"}, "on the strip"),
        ({"place_ns": STEP}, "a place above its part"),
        ({"place_ns": 1_000_000, "detail": "Most of it is in aten::relu at cnn.py:24."}, "most is"),
        ({"detail": "Most of it is in aten::relu at cnn.py:24."}, "Most of it is in aten::relu"),
        ({"detail": "Most of it is in <module> at cnn.py:1."}, "Most of it is in <module>"),
        ({"left_ns": 10_000_000}, "saves more than its part"),
        ({"headline": "No cause was found that costs 2 % or more."}, "no cause, and yet one of"),
        ({"sentence": "The GPU waits for the DataLoader."}, "a word of accelerators on a host"),
        ({"recoverable_ns": STEP + 1}, "input_bound saves"),
        ({"recoverable_ns": STEP // 2, "acted_ns": STEP}, "of a DataLoader of"),
        ({"recoverable_low_ns": STEP // 2}, "is not within"),
        ({"recoverable_high_ns": 2 * STEP}, "is not within"),
        ({"recoverable_mean_ns": 2 * STEP}, "of the mean step"),
        ({"certainty": "certain", "recoverable_low_ns": 1_000_000}, "is certain: 1000000 to"),
        ({"share": 0.5}, "is said to be 0.5"),
        ({"holds": 0}, "stands before"),
    ],
)
def test_a_false_claim_is_told(changed: dict[str, Any], told: str) -> None:
    assert [text for text in _lie(**changed) if told in text]


def test_sums_that_cannot_be_are_told() -> None:
    totals = copy.deepcopy(_sample("cnn_workers_0")[0].answer["totals"])
    totals[-1]["recoverable_ns"] //= 4
    assert [text for text in _lie(totals=totals) if "one of it" in text or "are left" in text]
