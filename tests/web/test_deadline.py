"""Each request ends in time, whatever its answer waits for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from urllib.parse import urlencode

import pytest
from werkzeug.test import Client, TestResponse
from werkzeug.wrappers import Response

from tests.web.served import WHERE, WrittenCatalogue
from torch_tb_profiler.errors import Busy, NotReady, SidecarError
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import mapped_files
from torch_tb_profiler.web import deadline
from torch_tb_profiler.web.application import Application
from torch_tb_profiler.web.deadline import Deadline, timely
from torch_tb_profiler.web.downloads import Pieces
from torch_tb_profiler.web.route_table import ROUTES

PATIENCE = 20.0


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Until it is set nothing is answered; requests wait for a moment only."""
    monkeypatch.setattr(deadline, "SECONDS", 0.05)
    event = threading.Event()
    yield event
    event.set()


def code_of(reply: TestResponse) -> str:
    code: str = reply.get_json()["error"]["code"]
    return code


def test_a_late_answer_is_made_once_and_goes_to_whoever_asks_next(ended: threading.Event) -> None:
    made: list[int] = []
    answers = Deadline[int]()

    def make() -> int:
        ended.wait(PATIENCE)
        made.append(1)
        return len(made)

    for _ in range(3):
        with pytest.raises(NotReady):
            answers.answer("question", make)
    ended.set()
    deadline.SECONDS = PATIENCE
    assert answers.answer("question", make) == 1
    assert answers.answer("question", make) == 2


def test_a_late_failure_is_raised_where_it_is_asked_for(ended: threading.Event) -> None:
    answers = Deadline[int]()

    def fail() -> int:
        ended.wait(PATIENCE)
        raise KeyError("x")

    with pytest.raises(NotReady):
        answers.answer("question", fail)
    ended.set()
    with pytest.raises(KeyError):
        answers.answer("question", fail)


def test_what_nobody_may_ask_again_is_refused(ended: threading.Event) -> None:
    with pytest.raises(Busy):
        Deadline[bool]().answer(None, lambda: ended.wait(PATIENCE))


def test_answers_that_nobody_fetches_are_closed(
    ended: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "MOST_LATE", 2)
    closed, answers = list[int](), Deadline[Response]()

    def response(number: int) -> Response:
        ended.wait(PATIENCE)
        made = Response()
        made.call_on_close(lambda: closed.append(number))
        return made

    for number in (0, 1):
        with pytest.raises(NotReady):
            answers.answer(number, partial(response, number))
    ended.set()
    for late in answers._late.values():
        assert late.ends_within(PATIENCE)
    monkeypatch.setattr(deadline, "LATE_SECONDS", -1.0)
    still = threading.Event()
    with pytest.raises(NotReady):
        answers.answer(2, lambda: Response(str(still.wait(PATIENCE))))
    still.set()
    assert closed == [0, 1]


def test_no_more_threads_than_allowed(
    ended: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "_free", threading.Semaphore(1))
    answers = Deadline[bool]()
    with pytest.raises(NotReady):
        answers.answer("first", lambda: ended.wait(PATIENCE))
    with pytest.raises(Busy, match="Too many"):
        answers.answer("second", lambda: ended.wait(PATIENCE))


def test_a_download_whose_next_piece_does_not_come_ends(ended: threading.Event) -> None:
    def source() -> Iterator[bytes]:
        yield b"first"
        yield b"second"
        ended.wait(PATIENCE)
        yield b"late"

    pieces = Pieces(source())
    received = iter(pieces)
    assert (next(received), next(received)) == (b"first", b"second")
    with pytest.raises(Busy):
        next(received)
    pieces.close()


def test_the_pieces_and_their_failure_are_the_same() -> None:
    def source() -> Iterator[int]:
        yield from range(3)
        raise ValueError("x")

    received = timely(source())
    assert [next(received) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="x"):
        next(received)


class _Stuck(WrittenCatalogue):
    """Opens nothing until told to."""

    def __init__(self, ended: threading.Event) -> None:
        super().__init__()
        self.ended = ended

    def open(self, run: str, worker: str, span: str) -> Opened:
        self.ended.wait(PATIENCE)
        return super().open(run, worker, span)


@pytest.mark.parametrize("path", [path for path, route in ROUTES.items() if route.opens])
def test_every_route_answers_while_a_trace_cannot_be_opened(
    path: str, ended: threading.Event
) -> None:
    client = Client(Application(_Stuck(ended), Settings()))  # type: ignore[arg-type]
    place = dict(part.split("=") for part in WHERE.split("&"))
    names = {name: place.get(name.rstrip("2"), "x") for name in ROUTES[path].places}
    reply = client.get(f"{path}?{urlencode(names)}")
    assert code_of(reply) in ("not_ready", "bad_request")
    assert reply.status_code in (202, 400)


def test_a_thread_that_never_ends_over_a_changed_table_is_ended(ended: threading.Event) -> None:
    answers, turns = Deadline[None](), [0]

    def turn_for_ever() -> None:
        while True:
            turns[0] += 1

    with pytest.raises(NotReady):
        answers.answer("question", turn_for_ever)
    (work,) = answers._late.values()
    assert not work.ends_within(0.1)
    mapped_files.report("/nowhere/x", "was written to", remove=False)
    mapped_files.take("/nowhere/x")
    with pytest.raises(NotReady):
        answers.answer("question", turn_for_ever)
    assert work.ends_within(PATIENCE)
    with pytest.raises(SidecarError):
        answers.answer("question", turn_for_ever)
