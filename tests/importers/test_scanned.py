"""The compiled scanner: what it accepts it reads as Python does, number for number; what it refuses Python reads."""

from __future__ import annotations

import itertools
import json
import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import public
from tests.examples import examples
from tests.importers.reading import Stream, lines, span, trace
from tests.importers.test_chunks import EVENTS, FIXED
from tests.importers.test_real_traces import FILES
from torch_tb_profiler.errors import ProfilerError
from torch_tb_profiler.importers import chrome_trace, gather, read_trace, scanned
from torch_tb_profiler.importers.events import Args
from torch_tb_profiler.importers.scanned import Scanned, Scanners, scanners_for
from torch_tb_profiler.native import scanner
from torch_tb_profiler.native.library import library, why_not
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_text
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace

pytestmark = pytest.mark.skipif(library() is None, reason=f"nothing compiled: {why_not()}")

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "samples").glob("*/*trace.json*"))
ARGUMENTS = [field.encode_name for field in msgspec.structs.fields(Args)]
VALUES = [
    *("0", "-0", "7", "-1", "1.0", "1.5", "1e3", "1e999", "00", "1.", "-", "1e"),
    *("123456789012345678", "9223372036854775807", "9223372036854775808", "-9223372036854775808"),
    *("18446744073709551615", "18446744073709551616", "99999999999999999999", "9" * 400),
    *(
        "0.0005",
        "0.00049999999",
        "-5.5",
        "3000000000000000",
        "3000000000000000.001",
        "1" * 17 + ".1",
    ),
    *("null", "true", "false", "NaN", "N/A", "[]", "[1,[2]]", "{}", '{"a": 1}', "[1,]", '{"a" 1}'),
    *(
        '""',
        '"7"',
        '"0x1f"',
        '"1.5"',
        '"abc"',
        '"a\\/b"',
        '"\\u00e9"',
        '"\\ud83d\\ude00"',
        '"\\ud800"',
    ),
    *('"é"', '"😀"', '"\t"', '"\\x"', '"', '"a":', "[" * 70 + "]" * 70, "[" * 40 + "]" * 40),
]
PHASES = [*"XXXXXXiIRCstfMBEN", "", "XX", "é"]
CATEGORIES = [
    *("cpu_op", "user_annotation", "python_function", "cuda_runtime", "kernel", "gpu_memcpy"),
    *(
        "cuda_sync",
        "cuda_profiler_range",
        "cpu_instant_event",
        "ac2g",
        "fwdbwd",
        "Trace",
        "strange",
    ),
]
NAMES = [
    "aten::mm",
    "nccl:all_reduce",
    "[memory]",
    "ProfilerStep#3",
    "",
    "Memcpy HtoD (x)",
    'é"\\\n',
]


MANY = [span(i, f'"args": {{"External id": {i}, "Input Dims": [[{i % 7}]]}}') for i in range(400)]
NODES = [
    span(i, f'"args": {{"graph node id": {i % 3}, {named}}}', cat="kernel")
    for i in range(200)
    for named in (
        f'"module_fqn": "layers.{i % 5}"',
        f'"name": "n{i % 4}"',
        '"annotation": ["a", "b"]',
    )
]
"""Kernels of graph nodes, with an annotation or, where the node is 0, without."""


@contextmanager
def switched_off() -> Iterator[None]:
    """Chunks are read in Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chrome_trace, "scanners_for", lambda gathered: None)
        yield


class Asked:
    """How many chunks the scanner was asked for, and refused."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.chunks = self.refused = 0
        scan = Scanners.scan

        def counted(this: Scanners, chunk: memoryview, offset: int) -> Scanned | None:
            found = scan(this, chunk, offset)
            self.chunks += 1
            self.refused += found is None
            return found

        patch.setattr(Scanners, "scan", counted)


def content(trace: Trace) -> dict[Any, Any]:
    """All that a trace holds, numbers of texts as they are."""
    columns: dict[str, Any] = {
        f"{name}.{column.name}": (table[column.name].dtype.str, table[column.name].tobytes())
        for name, table in trace.tables.items()
        for column in table.spec.columns
    }
    texts = trace.strings.many(range(len(trace.strings)))
    header = repr(trace.header)
    return {**columns, "": (texts, header, trace.defects.as_dict(), trace.entries, trace.origin_ns)}


def read(text: bytes, chunk: int, piece: int) -> dict[Any, Any] | str:
    """What a text holds; the error if it is no trace."""
    try:
        return content(read_trace(Stream(text, piece), Settings(chunk_bytes=chunk)))
    except ProfilerError as error:
        return error.message


def unlike(text: bytes, chunk: int, piece: int = 1 << 30) -> list[Any]:
    """What is not as Python reads it."""
    found = read(text, chunk, piece)
    with switched_off():
        right = read(text, chunk, piece)
    if isinstance(found, str) or isinstance(right, str):
        return [] if found == right else [found, right]
    return [key for key in found.keys() | right.keys() if found.get(key) != right.get(key)]


def test_the_layouts_agree() -> None:
    assert len(ARGUMENTS) <= scanner.MOST_ARGS


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.parent.name)
def test_samples(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    with open_text(Place(str(path))) as stream:
        text = b"".join(iter(lambda: stream.read(1 << 24), b""))
    assert unlike(text, 1 << 20) == []
    assert asked.chunks > 0
    assert asked.refused == 0


@pytest.mark.slow
def test_public_traces(real_traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are equal, and so few chunks are refused that reading is as fast as it can be."""
    asked = Asked(monkeypatch)
    for path in public.some(FILES):
        with open_text(Place(str(path))) as stream:
            text = b"".join(iter(lambda: stream.read(1 << 24), b""))
        assert (path, unlike(text, 2 << 20)) == (path, [])
    assert asked.refused <= asked.chunks / 100


SCALARS = st.sampled_from(VALUES)


def texts(values: list[str]) -> st.SearchStrategy[str]:
    """One of some as JSON; at times another value."""
    usual = st.sampled_from(values).map(lambda value: json.dumps(value, ensure_ascii=False))
    return st.one_of(usual, usual, usual, usual, SCALARS)


@st.composite
def events(draw: st.DrawFn) -> str:
    """An entry, mostly as profilers write it, with fields and arguments in any order."""
    numbers = st.one_of(
        st.integers(0, 3000).map(str), st.decimals(0, 9, places=4).map(str), SCALARS
    )
    keys = st.one_of(
        st.sampled_from(ARGUMENTS), st.sampled_from(["Ev Idx", "op_name", "a\\u0062", ""])
    )
    arguments = draw(st.lists(st.tuples(keys, st.one_of(numbers, SCALARS)), max_size=5))
    fields = {
        "ph": draw(texts(PHASES)),
        "cat": draw(texts(CATEGORIES)),
        "name": draw(texts(NAMES)),
        "pid": draw(st.one_of(st.sampled_from(["1", '"GPU 0"']), SCALARS)),
        "tid": draw(st.one_of(st.sampled_from(["7", '"stream 7"']), SCALARS)),
        "ts": draw(numbers),
        "dur": draw(numbers),
        "id": draw(numbers),
        "args": "{" + ", ".join(f'"{key}": {value}' for key, value in arguments) + "}",
        "else": draw(SCALARS),
    }
    for key in draw(st.sets(st.sampled_from(sorted(fields)), max_size=3)):
        fields.pop(key)
    return "{" + ", ".join(f'"{key}": {value}' for key, value in fields.items()) + "}"


@examples(400)
@given(listed=st.lists(events(), min_size=1, max_size=6), chunk=st.sampled_from([200, 1 << 20]))
@example(listed=['{"ph": "X", "name": "aten::mm", "ts": 0, "args": {"external id": 0}}'], chunk=200)
def test_drawn_events(listed: list[str], chunk: int) -> None:
    text = lines([span(0), span(1), *listed, span(2)]).encode("utf-8", "surrogatepass")
    assert unlike(text, chunk) == []


@examples(60)
@given(
    listed=st.lists(EVENTS, max_size=12),
    chunk=st.integers(1, 400),
    piece=st.integers(1, 50),
)
def test_any_events(listed: list[dict[str, object]], chunk: int, piece: int) -> None:
    text = trace(span(0), *(json.dumps(event) for event in listed))
    assert unlike(text.encode(), chunk, piece) == []


def test_every_chunk_size_of_a_trace_with_damage() -> None:
    for chunk in range(1, len(FIXED) + 2, 7):
        assert unlike(FIXED.encode(), chunk, 40) == []


BEGIN = '"name": "op", "cat": "cpu_op", "pid": 1, "tid": 2'


@pytest.mark.parametrize(
    "text",
    [
        lines(MANY),
        trace(*MANY, before="", after="")[:-40],
        "[" + ",".join([*MANY, "[1, {}]", "3", *MANY]) + "]",
        trace(*MANY[:9], '{"ph": "X", "name": 3, "ts": "a"}', *MANY[9:], '{"ph": "B", "ts": NaN}'),
        trace(*MANY[:9], "  ,  \n ,", *MANY[9:50], "\x00\x00", '{"ph": "E", "ts": 1}', *MANY[50:]),
        trace(*MANY) + trace(*MANY[:3]),
        trace(
            *MANY[:30], '{"ph": "X", "name": "' + "x" * 3000 + '", "ts": 4, "dur": 1}', *MANY[30:]
        ),
        '{"traceEvents": [' + ",".join(MANY) + '], "traceEvents": [' + ",".join(MANY[:40]) + "]}",
        lines([*NODES, *MANY, *NODES]),
        trace(
            *(f'{{"ph": "{p}", {BEGIN}, "ts": {t}}}' for p, t in ("B1", "B3", "E4", "E7")), *MANY
        ),
    ],
    ids=["kineto", "cut", "array", "odd types", "gaps", "two", "long", "twice", "nodes", "begins"],
)
@pytest.mark.parametrize(("chunk", "piece"), [(300, 300), (1500, 700), (5000, 64)])
@pytest.mark.slow
def test_odd_texts(text: str, chunk: int, piece: int) -> None:
    assert unlike(text.encode(), chunk, piece) == []


TOKEN = re.compile(rb'-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|null|true|[][{},:]')


def mutated(text: bytes, rng: random.Random) -> bytes:
    """With a value replaced, a byte changed, or a piece left out or copied."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        match = TOKEN.search(text, rng.randrange(len(text)))
        if match is None:
            continue
        (begin, end), kind = match.span(), rng.random()
        if kind < 0.5:
            text = text[:begin] + rng.choice(VALUES).encode() + text[end:]
        elif kind < 0.65:
            at = rng.randrange(begin, end)
            text = (
                text[:at]
                + bytes([rng.choice(b'0a"\\{}[],:-.eE\n\x00\x7f\x80\xc3\xff ')])
                + text[at + 1 :]
            )
        elif kind < 0.75:
            text = text[:begin] + text[end:]
        elif kind < 0.9 and (other := TOKEN.search(text, rng.randrange(len(text)))):
            text = text[:begin] + other.group() + text[end:]
        else:
            text = text[:begin] + text[begin + rng.randrange(40) :]
    return text


@pytest.mark.parametrize("path", SAMPLES[:4], ids=lambda p: p.parent.name)
def test_mutated_chunks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_mutated(path, 30, monkeypatch)


@pytest.mark.nightly
@pytest.mark.parametrize("path", [*SAMPLES, *FILES], ids=lambda p: p.parent.name)
def test_many_mutated_chunks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_mutated(path, 300, monkeypatch)


def check_mutated(path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    with open_text(Place(str(path))) as stream:
        text = stream.read(1 << 16)
    rng = random.Random(path.name)
    for _ in range(count):
        damaged = mutated(text, rng)
        assert unlike(damaged, 1 << 20) == [], damaged
    assert 0 < asked.refused < asked.chunks


@pytest.mark.parametrize("most", [0, 5_000])
def test_numbers_given_anew(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a scanner remembers has a limit; the numbers of the trace do not tell."""
    monkeypatch.setattr(scanner, "MOST_BYTES", most)
    made = [
        span(
            i,
            f'"args": {{"Input Dims": [[{i % 7}]], "External id": "{i}"}}',
            name=f"op{i % 11}",
            tid=i % 3,
        )
        for i in range(1500)
    ]
    assert unlike(lines(made).encode(), 2_000) == []


def test_a_refused_chunk_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is left over, though half of it was scanned."""
    asked = Asked(monkeypatch)
    odd = '{"ph": "X", "cat": "cpu_op", "name": "mid", "name": "twice", "ts": 5, "dur": 1}'
    text = lines([*map(span, range(300)), odd, *map(span, range(300, 2000))]).encode()
    assert unlike(text, 1_000) == []
    assert asked.refused == 1 < asked.chunks


@pytest.mark.parametrize("lacking", ["memory", "threads"])
def test_what_a_process_may_lack(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No chunk is then read twice, or not at all."""

    def fail(*_: object) -> None:
        raise RuntimeError if lacking == "threads" else MemoryError

    text = lines(map(span, range(2000))).encode()
    if lacking == "threads":
        monkeypatch.setattr(threading.Thread, "start", fail)
    else:
        scan, calls = scanner.Scanner.scan, itertools.count()
        monkeypatch.setattr(
            scanner.Scanner, "scan", lambda *given: fail() if next(calls) % 3 else scan(*given)
        )
    assert unlike(text, 1_000) == []


def test_without_a_library_there_is_no_scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scanners_for(gather.Gatherer(DefectCounts())) is not None
    monkeypatch.setattr(scanned, "library", lambda: None)
    assert scanners_for(gather.Gatherer(DefectCounts())) is None
