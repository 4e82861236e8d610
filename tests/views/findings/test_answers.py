"""The answers as an engineer would say them: the first finding, in twelve words and two quantities, without what a
trace does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import public
from tests.analysis.findings.cases import NVIDIA, launched, span, steps
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from tests.views.findings.test_payload import page
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.runs.loading import insight_of, load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_about
from torch_tb_profiler.views.findings.headline import the_step
from torch_tb_profiler.views.findings.path import Path as CriticalPath
from torch_tb_profiler.views.findings.path import bare_name, of_line
from torch_tb_profiler.views.findings.payload import Source, findings_payload
from torch_tb_profiler.views.findings.wire import FindingsPayload
from torch_tb_profiler.views.words.texts import capitalised

AMOUNT = re.compile(
    r"[<>−]*\d[\d.\u202f]*(?: to \d[\d.\u202f]*)?(?: (?:ns|µs|ms|s|%|[KMGTP]?i?B))?(?![\w:])"
)
NAMED = re.compile(
    r"\b(?:[Rr]ank|[Ss]tep|ProfilerStep) ?#?\d+|\b\w*[A-Za-z_:]\w*\d\w*|\bfloat\d+\b"
)
WORDS, AMOUNTS = 12, 2
NEVER = re.compile(
    r"\b(\d+) of \1 steps|\d\.\d+ (?!(?:ns|µs|ms|s|min|KiB|MiB|GiB) )\w+ per step|\(\d+ characters\)|\b1 times|[{}]|\bNone\b(?! of the)|\bnan\b"
)
LINE_OF_NOBODY = re.compile(r"torchinductor_|<string>|<frozen|<eval_with_key>")


def faults(headline: str) -> list[str]:
    """What is wrong with a headline."""
    bare = NAMED.sub("name", headline)
    amounts = AMOUNT.findall(bare)
    words = AMOUNT.sub("amount", bare).split()
    found = [f"{len(words)} words"] if len(words) > WORDS else []
    found += [f"{len(amounts)} quantities"] if len(amounts) > AMOUNTS else []
    found += ["no full stop"] if not headline.endswith(".") or headline.endswith("..") else []
    found += [match[0] for match in NEVER.finditer(headline)]
    found += [f"{headline.split()[0]} is a name"] if re.match(r"[A-Z]\w*(?:_|::)", headline) else []
    return found


def said_well(found: FindingsPayload) -> None:
    """Everything that holds of any answer."""
    assert faults(found.headline) == [], found.headline
    assert not found.detail or found.detail.endswith("."), found.detail
    for text in (found.detail, *(item.sentence for item in found.findings)):
        assert not NEVER.search(text), text
        assert not LINE_OF_NOBODY.search(text), text
    assert not ("Nothing to save was found" in found.headline and "Most of" in found.detail)
    gains = [item for item in found.findings if item.recoverable_ns is not None]
    assert all(
        (item.recoverable_ns or 0) <= (found.step_ns or 0) for item in gains if item.step is None
    )
    # What happened once is never first.
    often = [item for item in gains if not item.often.startswith("once")]
    possible = [item.certainty == "theoretical" for item in often if not item.artefact]
    assert possible == sorted(possible)


def answers(runs: Iterable[Path]) -> Iterator[FindingsPayload]:
    for run in runs:
        for opened in load_all(str(run), Settings()):
            if isinstance(opened, Opened):
                insight = insight_of(opened, Settings())
                yield findings_payload(
                    Source(opened.trace, opened.facts, insight, opened.worker.name, "1")
                )


def test_of_the_samples(samples: Path) -> None:
    for found in answers(path for path in samples.iterdir() if path.is_dir()):
        said_well(found)


def test_of_public_traces(real_traces: Path) -> None:
    for found in answers(public.some(public.FOLDERS)):
        said_well(found)


FILLED = {
    "the_step": "each 12.3 ms step",
    "device": "GPU",
    "multiprocessor": "SM",
    "matrix_cores": "Tensor Cores",
    "step": "step",
    "worker": "rank 5",
    "every_takes": "every third step takes",
}


@pytest.mark.parametrize("key", [key for key, rule in RULES.items() if rule.cause])
def test_of_a_rule(key: str) -> None:
    rule = RULES[key]
    named = set(re.findall(r"{(\w+)}", rule.cause))
    words = {name: FILLED.get(name, "collect") for name in named}
    words |= dict.fromkeys(("path", "gain", *rule.numbers), "1.23 ms")
    assert faults(capitalised(" ".join(rule.cause.split()).format_map(words)) + ".") == []
    assert "where" not in named


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rank 5 holds", "Rank 5 holds"),
        ("vm_32674 holds", "vm_32674 holds"),
        ("aten::mm takes", "aten::mm takes"),
        ("loading data", "Loading data"),
        ("", ""),
    ],
)
def test_names_are_not_capitalised(text: str, expected: str) -> None:
    assert capitalised(text) == expected


def test_a_path_of_several_steps_is_their_mean() -> None:
    trace = trace_of([*steps((0, 100), (100, 300)), span("cpu_op", "aten::mm", 0, 400)])
    facts = derive(trace)
    both, *each = (
        CriticalPath.of(facts, build_insight(trace, facts), trace["spans"], rows).total
        for rows in ([0, 1], [0], [1])
    )
    assert both == sum(each) / 2 > 0


def test_places() -> None:
    assert of_line("a/photos.py(31): transform") == "transform at photos.py:31"
    assert of_line("train.py: main") == "main of train.py"
    assert bare_name("<built-in method collect of module object at 0x7f>") == "collect"
    assert [format_about(ns) for ns in (6.41e6, 592e6, 0, 999_600)] == [
        "6.4 ms",
        "590 ms",
        "0.0 ns",
        "1.0 ms",
    ]


def _traced(inner: str, least: int) -> list[Event]:
    """A step of 1,000 µs in functions of the program, one of which calls ``inner`` for ``least`` µs."""
    return [
        span("python_function", "train.py(80): main", 0, 2000),
        span("python_function", "torch/profiler/profiler.py(700): step", 1, 5),
        span("python_function", "<built-in function perf_counter_ns>", 2, 1),
        *steps((100, 1000), (1100, 900)),
        *(
            part
            for at in (100, 1100)
            for part in (
                span("python_function", "train.py(7): load", at + 10, 880),
                span("python_function", inner, at + 20, least),
            )
        ),
    ]


@pytest.mark.parametrize(
    ("inner", "least", "where"),
    [
        ("<built-in method collect of module object at 0x1>", 800, "collect at train.py:7"),
        ("<built-in method collect of module object at 0x1>", 200, "load at train.py:7"),
        ("numpy/core/fromnumeric.py(2): sum", 800, "sum at train.py:7"),
        ("/tmp/torchinductor_u/ab/cab.py(9): call", 800, "call at train.py:7"),
        ("/srv/.cache/vllm/torch_compile_cache/0a/r_0/gen.py(9): call", 800, "call at train.py:7"),
        (f"/srv/kernels/4z/c{'4zyx' * 12}.py(45): call", 800, "call at train.py:7"),
        ("<string>(1): step", 800, "step at train.py:7"),
    ],
)
def test_a_place_is_the_line_and_what_has_its_share(inner: str, least: int, where: str) -> None:
    found = page(_traced(inner, least))
    said_well(found)
    told = f"{found.headline} {found.detail}"
    what, _, line = where.partition(" at ")
    assert what in told
    assert line in told
    assert "profiler.py" not in told


def test_what_is_written_in_c_is_told_with_the_package_that_calls_it() -> None:
    load = "enumerate(DataLoader)#_Iter.__next__"
    loads = [span("user_annotation", load, at, 860) for at in (112, 1112)]
    entries = [*_traced("<built-in function zoom_shift>", 780), *loads]
    around = [
        span("python_function", "scipy/ndimage/_interpolation.py(739): zoom", at, 800)
        for at in (115, 1115)
    ]
    assert "in scipy's zoom_shift at train.py:7." in page([*entries, *around]).detail
    assert "in zoom_shift at train.py:7." in page(entries).detail


def test_a_frame_that_was_open_has_no_line() -> None:
    entries = [
        item for item in _traced("aten", 1) if not str(item["name"]).startswith("train.py(7)")
    ]
    entries += [span("cpu_op", "aten::mm", at, 850) for at in (120, 1120)]
    found = page(entries)
    told = f"{found.headline} {found.detail}"
    assert "main of train.py" in told
    assert "train.py:80" not in told


PARTS = (
    ("user_annotation", "enumerate(DataLoader)#_Iter.__next__"),
    ("python_function", "train.py(7): load"),
    ("python_function", "<built-in method collect of module object at 0x1>"),
    ("cpu_op", "aten::mm"),
    ("cpu_op", "aten::copy_"),
    ("cuda_runtime", "cudaStreamSynchronize"),
    ("cuda_runtime", "cudaMalloc"),
    ("overhead", "Buffer Flush"),
    ("user_annotation", "Optimizer.step#SGD.step"),
    ("kernel", "gemm"),
    ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
    ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"),
)
LENGTH = st.integers(1, 3_000_000)
"""Of a part, µs: from below what is told to seconds."""


@examples(60)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(PARTS), LENGTH), min_size=1, max_size=6), max_size=3
    ),
    st.integers(1, 5),
)
def test_of_drawn_steps(kinds: list[list[tuple[tuple[str, str], int]]], repeats: int) -> None:
    """Steps of parts one after the other, some kinds of them in turn."""
    entries, at = [span("python_function", "train.py(80): main", 0, 10**9)], 10
    bounds: list[tuple[float, float]] = []
    for parts in kinds * repeats:
        begin = at
        for (category, name), length in parts:
            if category in ("kernel", "gpu_memcpy"):
                entries += launched(name, len(entries), at, at + 3, length, category=category)
                at += 2
            else:
                entries.append(span(category, name, at, length))
                at += length + 2
        bounds.append((begin - 1, at + 1))
        at += 5
    said_well(page([*entries, *steps(*bounds)], **NVIDIA))


@pytest.mark.parametrize(
    ("ns", "told"),
    [
        (800_000, "an 800 µs step"),
        (11_300_000, "an 11.3 ms step"),
        (18_000_000, "an 18.0 ms step"),
        (110_000_000, "a 110 ms step"),
        (1_800_000, "a 1.80 ms step"),
        (25_200_000, "a 25.2 ms step"),
    ],
)
def test_a_step_has_the_article_of_its_length_as_it_is_spoken(ns: int, told: str) -> None:
    analysis = {"step_ns": ns, "steps": 3, "alike": False}
    assert the_step(analysis, {"step": "step"}) == told
