"""Chunks that other processes decode: the trace is the same, number for number."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.importers.reading import Stream, lines, span, trace
from tests.importers.test_chunks import EVENTS, FIXED
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.child_process import OWN_PROCESSES
from torch_tb_profiler.errors import ProfilerError
from torch_tb_profiler.importers import chrome_trace, decoders, read_trace
from torch_tb_profiler.importers.chunk_parts import Part
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import sidecar
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import own_roles

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


class DecodedHere(decoders.Decoders):
    """Three processes that are up at once, played by this one: parts travel as pickles."""

    sent = 0

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._answers: deque[bytes] = deque()
        self._roles = own_roles(settings.categories)

    @property
    def most_sent(self) -> int:
        return 6

    @property
    def answered(self) -> bool:
        return False

    def ready(self, text_to_come: int) -> bool:
        return True

    def send(self, chunk: memoryview, offset: int) -> bool:
        type(self).sent += 1
        part = decoders.decoded(b"[" + bytes(chunk) + b"]", offset, self._roles)
        self._answers.append(pickle.dumps(part))
        return True

    def receive(self) -> Part | None:
        part: Part | None = pickle.loads(self._answers.popleft())
        return part

    def drop(self) -> None:
        self._answers.clear()


def kept(text: bytes, chunk: int, piece: int, folder: Path, **given: Any) -> bytes:
    """The sidecar of a text's trace; the error if it is none."""
    try:
        imported = read_trace(Stream(text, piece), Settings(chunk_bytes=chunk, **given))
    except ProfilerError as error:
        return error.message.encode()
    return written(imported, folder)


def written(imported: Trace, folder: Path) -> bytes:
    path = folder / "kept"
    sidecar.write(path, imported, derive(imported))
    return path.read_bytes()


def equal(text: bytes, chunk: int, piece: int, folder: Path) -> None:
    """Assert that the sidecar does not tell who decoded."""
    alone = kept(text, chunk, piece, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chrome_trace, "Decoders", DecodedHere)
        assert kept(text, chunk, piece, folder) == alone


@pytest.mark.slow
def test_every_chunk_size_of_a_trace_with_damage(tmp_path: Path) -> None:
    before = DecodedHere.sent
    for chunk in range(1, len(FIXED) + 2, 7):
        equal(FIXED.encode(), chunk, 1 << 30, tmp_path)
    assert DecodedHere.sent > before


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
    ],
    ids=["kineto", "cut", "array", "odd types", "gaps", "two", "long", "twice", "nodes"],
)
@pytest.mark.parametrize(("chunk", "piece"), [(300, 1 << 30), (1500, 700), (5000, 64)])
@pytest.mark.slow
def test_odd_texts(text: str, chunk: int, piece: int, tmp_path: Path) -> None:
    equal(text.encode(), chunk, piece, tmp_path)


@examples(60)
@given(st.lists(EVENTS, max_size=12), st.integers(1, 400), st.integers(1, 50))
def test_any_events(
    tmp_path_factory: pytest.TempPathFactory,
    events: list[dict[str, object]],
    chunk: int,
    piece: int,
) -> None:
    text = trace(span(0), *(json.dumps(e) for e in events))
    equal(text.encode(), chunk, piece, tmp_path_factory.mktemp("kept"))


@pytest.fixture(params=[True, False], ids=["forks", "interpreters"])
def forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of processes, whatever threads this one has."""
    chosen: bool = request.param
    if chosen and sys.platform != "linux":
        pytest.skip("only Linux forks")
    monkeypatch.setattr(decoders, "can_fork", lambda: chosen)


@pytest.mark.processes
@pytest.mark.usefixtures("forks")
def test_real_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = lines(MANY * 20).encode()
    alone = kept(text, 20_000, 1 << 30, tmp_path)
    parts = _always_up(monkeypatch)
    assert kept(text, 20_000, 1 << 30, tmp_path, import_processes=3) == alone
    assert len(parts) > 20
    assert None not in parts


@pytest.mark.processes
@pytest.mark.usefixtures("forks")
def test_chunks_that_are_decoded_here_instead_of_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = lines(MANY * 20).encode()
    alone = kept(text, 20_000, 1 << 30, tmp_path)
    parts = _always_up(monkeypatch)
    here: list[Part | None] = []
    decoded = decoders.decoded

    def noted(*chunk: Any) -> Part | None:
        here.append(decoded(*chunk))
        return here[-1]

    monkeypatch.setattr(decoders, "decoded", noted)
    monkeypatch.setattr(decoders.Decoders, "answered", False)
    assert kept(text, 20_000, 1 << 30, tmp_path, import_processes=2) == alone
    assert 10 < len(here) < len(parts)
    assert None not in parts


@pytest.mark.processes
@pytest.mark.usefixtures("forks")
def test_a_process_that_is_killed_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = lines(MANY * 20).encode()
    alone = kept(text, 20_000, 1 << 30, tmp_path)
    parts = _always_up(monkeypatch, kill_at=5)
    assert kept(text, 20_000, 1 << 30, tmp_path, import_processes=2) == alone
    assert None in parts


@pytest.mark.processes
@pytest.mark.usefixtures("forks")
def test_processes_that_are_of_no_use_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "[" + ",".join('{"ph": "X", "ts": 1, "name": "a"b"}, ' + s for s in MANY) + "]"
    ).encode()
    alone = kept(text, 500, 1 << 30, tmp_path)
    parts = _always_up(monkeypatch)
    assert kept(text, 500, 1 << 30, tmp_path, import_processes=2) == alone
    assert parts.count(None) <= 2 * (decoders.MOST_REFUSED + 1) * 2


def test_none_is_started_for_a_small_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders.Decoders, "_start", lambda self, *_: pytest.fail("started"))
    read_trace(Stream(lines(MANY).encode()), Settings(chunk_bytes=3000, import_processes=8))


_THREADS = """
import threading
from torch_tb_profiler.importers.decoders import can_fork
alone = can_fork()
wait = threading.Event()
threading.Thread(target=wait.wait, name="profiler-inflate", daemon=True).start()
with_ours = can_fork()
threading.Thread(target=wait.wait, name="jupyter", daemon=True).start()
print(alone, with_ours, can_fork())
"""
_LEFT = """
import os
from torch_tb_profiler.importers.decoders import Decoders
from torch_tb_profiler.settings import Settings
decoders = Decoders(Settings(import_processes=4))
while not decoders.ready(1 << 30):
    pass
os._exit(7)
"""


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")
def test_a_process_with_threads_of_others_is_not_forked() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _THREADS],
        capture_output=True,
        text=True,
        env={**os.environ, **OWN_PROCESSES},
    )
    assert (done.stdout, done.stderr) == ("True True False\n", "")


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")
def test_forks_end_with_their_reader() -> None:
    # They write to the same pipe of errors, which ends when the last of them does.
    done = subprocess.run([sys.executable, "-c", _LEFT], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (7, b"")


def _always_up(monkeypatch: pytest.MonkeyPatch, kill_at: int = -1) -> list[Part | None]:
    """Start processes for any text, wait until they are up, and note what they answer."""
    parts: list[Part | None] = []
    receive = decoders.Decoders.receive

    def noted(self: decoders.Decoders) -> Part | None:
        if len(parts) == kill_at:
            self._processes[0].kill()
        parts.append(receive(self))
        return parts[-1]

    monkeypatch.setattr(decoders, "PAYS_BYTES", 1)
    monkeypatch.setattr(decoders, "FORK_PAYS_BYTES", 1)
    monkeypatch.setattr(decoders, "_has_answer", lambda process: True)
    monkeypatch.setattr(decoders.Decoders, "receive", noted)
    return parts


def test_begins_and_ends_that_meet_again_after_travelling(tmp_path: Path) -> None:
    place = '"name": "op", "cat": "cpu_op", "pid": 1, "tid": 2'
    marks = [
        f'{{"ph": "{mark[0]}", {place}, "ts": {mark[1]}}}' for mark in ("B1", "B3", "E4", "E7")
    ]
    equal(trace(*MANY[:3], *marks, *MANY[3:]).encode(), 300, 1 << 30, tmp_path)
