"""Asks jobs that listen to record the same steps, and inference servers by their own routes.

::

    rank 0  ── step 41 ──▶ ┐
    rank 1  ── step 42 ──▶ ┘ at step 42 + ahead      ahead: what one second takes, three steps at least
    rank 0, rank 1 ◀── record 5 steps from step 47

Whoever answers is not trusted: what a reply says has its type and bounds, and nothing is waited for without an end.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from torch_tb_profiler.errors import BadRequest, ProfilerError, SourceError
from torch_tb_profiler.live.exchange import FAILURES, connection_by, connection_to, exchange
from torch_tb_profiler.live.job_files import FOLDER, kept_token, members_of
from torch_tb_profiler.live.listener import HEADER, TOKEN_VARIABLE
from torch_tb_profiler.untrusted import decoded, said

T = TypeVar("T")
SECONDS = 5.0
"""For each answer."""
ALL_SECONDS = 60.0
"""For all ranks to be asked; which were not by then, are not."""
CLOSED = (ConnectionResetError, BrokenPipeError)
AHEAD_SECONDS, AHEAD_STEPS = 1.0, 3
TRIES = 3
FINISH_SECONDS = 120.0
"""For the traces to be written, beyond what the steps take."""
MOST_STEP_SECONDS = 3600.0
"""What the steps may take at most, whatever a job says of its pace."""
MOST_SECONDS = 86_400.0
MOST_STEP = 1 << 62
_PASS = f"Pass --token, or set {TOKEN_VARIABLE}."


class Member(msgspec.Struct, frozen=True):
    """A rank that listens."""

    address: Annotated[str, msgspec.Meta(max_length=1024)]
    rank: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] = 0


class _Members(msgspec.Struct):
    members: Annotated[list[Member], msgspec.Meta(max_length=1 << 14)]


class _Status(msgspec.Struct):
    """What ``Listener.status`` tells."""

    step: Annotated[int, msgspec.Meta(ge=0, le=MOST_STEP)]
    busy: bool
    traces: list[str]
    directory: str = ""
    seconds_per_step: Annotated[float, msgspec.Meta(ge=0)] | None = None


class _Planned(msgspec.Struct):
    at_step: Annotated[int, msgspec.Meta(ge=0, le=MOST_STEP)]


class _Refusal(msgspec.Struct):
    error: str = ""
    late: bool = False


@dataclass(frozen=True)
class RankReport:
    """What became of one rank: ``traces`` that it wrote, or ``problem``."""

    rank: int
    address: str
    traces: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class LiveReport:
    """What became of a recording. ``at_step``: its first step, −1 of a server without steps."""

    directory: str
    at_step: int
    steps: int
    ranks: tuple[RankReport, ...]


def record_live(
    target: str,
    *,
    steps: int = 5,
    seconds: float | None = None,
    ranks: Iterable[int] | None = None,
    token: str | None = None,
    wait: bool = True,
    progress: Callable[[str], object] = lambda _: None,
) -> LiveReport:
    """Have a running job record.

    Args:
        target: ``HOST:PORT`` or ``unix:PATH`` of any rank, the folder of its traces, or the URL of a vLLM or SGLang
            server.
        steps: how many; of a vLLM server, which records until it is told to stop, see ``seconds``.
        seconds: how long a vLLM server records; None: 5.
        ranks: which ranks record; None: all that listen.
        token: what the job asks for; None: ``TORCH_TB_PROFILER_TOKEN``, else what the folder keeps.
        wait: whether to wait until the traces are written.

    Raises:
        BadRequest: the token or the time is wrong, the job is busy, no such rank listens, or the folder names an address that
            somebody else wrote.
        SourceError: the job does not answer, or not as one does.
    """
    if seconds is not None and not 0 <= seconds <= MOST_SECONDS:
        raise BadRequest(f"{seconds} s is no time to record.", f"Take 0 to {MOST_SECONDS:g} s.")
    if target.startswith(("http://", "https://")):
        return _server(target, steps, seconds, progress)
    members, token = _members(target, token)
    wanted = None if ranks is None else set(ranks)
    chosen = [m for m in members if wanted is None or m.rank in wanted]
    if not chosen:
        listed = ", ".join(str(m.rank) for m in members) or "none"
        raise BadRequest("No such rank listens.", f"Ranks that do: {said(listed)}.")
    for attempt in range(TRIES):
        planned = _Planning(chosen, token).plan(steps, AHEAD_STEPS * 4**attempt, progress)
        if planned is not None:
            report, step_seconds = planned
            return _finished(report, token, step_seconds, progress) if wait else report
    raise BadRequest(
        "The ranks went on before all of them were asked.", "Try again; the job may be too fast."
    )


def _members(target: str, token: str | None) -> tuple[list[Member], str]:
    """The ranks, and the token for them."""
    token = token or os.environ.get(TOKEN_VARIABLE)
    if token and not (token.isascii() and token.isprintable()):
        raise BadRequest("The token holds what no header does.", _PASS)
    folder = Path(target).expanduser()
    if ":" in target and not folder.is_dir():
        told = _asked(target, token or "", "GET", "/members", _Members)
        return told.members or [Member(target)], token or ""
    found = members_of(folder)
    if found.refused:
        # The token would be sent to an address of whoever wrote that.
        raise BadRequest(
            found.refused[0], "If you trust the job, give its HOST:PORT and its token."
        )
    if not found.ranks:
        raise BadRequest(
            f"Nothing listens for {target}.",
            f"A job that calls torch_tb_profiler.listen(directory={target!r}) leaves a file in {FOLDER} there.",
        )
    members = [Member(**member) for member in found.ranks]
    return members, token or kept_token(folder) or ""


class _Planning:
    """Asks all ranks to record the same steps. ``problems``: place → why a rank does not."""

    def __init__(self, members: list[Member], token: str) -> None:
        self._members = members
        self._token = token
        self._problems: dict[int, ProfilerError] = {}

    def plan(
        self, steps: int, ahead: int, progress: Callable[[str], object]
    ) -> tuple[LiveReport, float] | None:
        """What was planned, and the seconds that the steps take; None where a rank was late and nobody else has begun."""
        states = dict(self._each(range(len(self._members)), "GET", "/status", _Status))
        if not states:
            problem = next(iter(self._problems.values()))
            if isinstance(problem, BadRequest):
                raise problem
            raise SourceError(f"No rank answers: {problem.message}", "Is the job running?")
        pace = max(s.seconds_per_step or 0.0 for s in states.values())
        pace = min(pace, MOST_STEP_SECONDS)
        now = max(s.step for s in states.values())
        at = now + max(ahead, math.ceil(AHEAD_SECONDS / pace) if pace > 1e-9 else 0)
        body = {"at_step": at, "steps": steps}
        planned = dict(self._each(list(states), "POST", "/record", _Planned, body))
        if not planned:
            refused = [self._problems[place] for place in states]
            late = any(isinstance(problem, _Late) for problem in refused)
            if late:
                return None
            raise refused[-1]
        progress(
            f"steps {at} to {at + steps - 1} are recorded on {len(planned)} of {len(self._members)} ranks"
        )
        reports = tuple(
            RankReport(m.rank, m.address, problem=_message(self._problems.get(place)))
            for place, m in enumerate(self._members)
        )
        step_seconds = min(2 * pace * (at - now + steps), MOST_STEP_SECONDS)
        directory = next(iter(states.values())).directory
        return LiveReport(directory, at, steps, reports), step_seconds

    def _each(
        self,
        places: Iterable[int],
        method: str,
        path: str,
        kind: type[T],
        body: dict[str, Any] | None = None,
    ) -> Iterator[tuple[int, T]]:
        """Place and answer of each rank that gives one, one after another; of the others the problem is kept."""
        until = time.monotonic() + ALL_SECONDS
        for place in places:
            address = self._members[place].address
            try:
                if time.monotonic() > until:
                    raise SourceError(f"{said(address)} was not asked: other ranks take too long.")
                yield place, _asked(address, self._token, method, path, kind, body)
            except (BadRequest, SourceError) as error:
                self._problems[place] = error


def _message(problem: ProfilerError | None) -> str:
    return "" if problem is None else problem.message


def _finished(
    report: LiveReport, token: str, step_seconds: float, progress: Callable[[str], object]
) -> LiveReport:
    """Wait until every rank has written its trace, or says nothing more."""
    done: list[RankReport] = []
    until = time.monotonic() + FINISH_SECONDS + step_seconds
    for rank in report.ranks:
        if not rank.problem:
            traces, problem = _traces_of(rank.address, token, until)
            rank = replace(rank, traces=traces, problem=problem)
            progress(f"rank {rank.rank}: {problem or ', '.join(traces)}")
        done.append(rank)
    return replace(report, ranks=tuple(done))


def _traces_of(address: str, token: str, until: float) -> tuple[tuple[str, ...], str]:
    seen: tuple[str, ...] = ()
    while time.monotonic() < until:
        try:
            state = _asked(address, token, "GET", "/status", _Status)
        except (BadRequest, SourceError) as error:
            return seen, error.message
        seen = tuple(state.traces[-1:])
        if not state.busy:
            return seen, "" if seen else "it ended without a trace; its output says why"
        time.sleep(0.1)
    return seen, "its trace was not written in time"


class _Late(BadRequest):
    """A rank has passed the step."""


def _asked(
    address: str,
    token: str,
    method: str,
    path: str,
    kind: type[T],
    body: dict[str, Any] | None = None,
) -> T:
    """What a listener answers.

    Raises:
        BadRequest: it refuses.
        SourceError: it does not answer, or not as a listener does.
    """
    until = time.monotonic() + SECONDS
    text = None if body is None else json.dumps(body)
    while True:
        connection = connection_to(address, SECONDS)
        try:
            status, content = exchange(
                connection, method, path, body=text, headers={HEADER: token}, seconds=SECONDS
            )
            break
        except FAILURES as error:
            # A listener with too many connections closes further ones without a word.
            if isinstance(error, CLOSED) and time.monotonic() < until:
                time.sleep(0.1)
                continue
            raise SourceError(
                f"{said(address)} does not answer: {said(error)}.", "Is the job running?"
            ) from error
    try:
        if status == 200:
            return decoded(content, kind)  # type: ignore[no-any-return]
        refusal = decoded(content, _Refusal)
    except ValueError as error:
        raise SourceError(
            f"{said(address)} does not answer as a job that listens does (status {status}): {said(error)}.",
            "Is it the address of one?",
        ) from error
    message = said(refusal.error) or str(status)
    if refusal.late:
        raise _Late(message)
    hint = _PASS if status == 403 else "Try again later."
    raise BadRequest(f"{said(address)} refuses: {message}", hint)


def _server(
    url: str, steps: int, seconds: float | None, progress: Callable[[str], object]
) -> LiveReport:
    """A server's own ``/start_profile``: SGLang counts steps, vLLM records until ``/stop_profile``."""
    counts = _post(url, "/get_server_info", None) == 200 or _post(url, "/server_info", None) == 200
    body = {"num_steps": steps} if counts and seconds is None else {}
    status = _post(url, "/start_profile", body)
    if status != 200:
        raise BadRequest(
            f"{url} answers /start_profile with {status}.",
            "Start vLLM with --profiler-config.profiler=torch --profiler-config.torch_profiler_dir=DIR, SGLang with"
            " SGLANG_TORCH_PROFILER_DIR=DIR.",
        )
    if body:
        progress(f"{url} records {steps} steps")
    else:
        length = 5.0 if seconds is None else seconds
        progress(f"{url} records for {length:g} s")
        try:
            time.sleep(length)
        finally:
            status = _post(url, "/stop_profile", {})
        if status != 200:
            raise SourceError(f"{url} answers /stop_profile with {status}.", "Stop it by hand.")
    return LiveReport("", -1, steps, ())


def _post(url: str, path: str, body: dict[str, Any] | None) -> int:
    """The status of a POST, without a body of a GET.

    Raises:
        BadRequest: it is no URL of a server.
        SourceError: nothing answers.
    """
    # A server writes its traces before it answers.
    seconds = SECONDS if body is None else FINISH_SECONDS
    connection, home = connection_by(url, seconds)
    try:
        return exchange(
            connection,
            "GET" if body is None else "POST",
            home + path,
            body=None if body is None else json.dumps(body),
            headers={} if body is None else {"Content-Type": "application/json"},
            seconds=seconds,
            content=False,
        )[0]
    except FAILURES as error:
        raise SourceError(
            f"{url} does not answer: {said(error)}.", "Is the server running?"
        ) from error
