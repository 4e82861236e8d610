"""Asks jobs that listen to record the same steps, and inference servers by their own routes.

::

    rank 0  ── step 41 ──▶ ┐
    rank 1  ── step 42 ──▶ ┘ at step 42 + ahead      ahead: what one second takes, three steps at least
    rank 0, rank 1 ◀── record 5 steps from step 47
"""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from torch_tb_profiler.errors import BadRequest, SourceError
from torch_tb_profiler.live.listener import (
    FOLDER,
    HEADER,
    MOST_BODY,
    TOKEN_VARIABLE,
    kept_token,
    members_of,
)

SECONDS = 5.0
"""For each answer."""
CLOSED = (ConnectionResetError, BrokenPipeError)
AHEAD_SECONDS, AHEAD_STEPS = 1.0, 3
TRIES = 3
FINISH_SECONDS = 120.0
"""For the traces to be written, beyond what the steps take."""


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
        BadRequest: the token is wrong, the job is busy, or no such rank listens.
        SourceError: the job does not answer.
    """
    if target.startswith(("http://", "https://")):
        return _server(target, steps, seconds, progress)
    members = _members(target, token)
    wanted = None if ranks is None else set(ranks)
    chosen = [m for m in members if wanted is None or m["rank"] in wanted]
    if not chosen:
        listed = ", ".join(str(m["rank"]) for m in members) or "none"
        raise BadRequest("No such rank listens.", f"Ranks that do: {listed}.")
    for attempt in range(TRIES):
        report = _ask_all(chosen, steps, AHEAD_STEPS * 4**attempt, progress)
        if report is not None:
            return _finished(report, chosen, progress) if wait else report
    raise BadRequest(
        "The ranks went on before all of them were asked.", "Try again; the job may be too fast."
    )


def _members(target: str, token: str | None) -> list[dict[str, Any]]:
    """Rank, address and token of each rank."""
    token = token or os.environ.get(TOKEN_VARIABLE)
    folder = Path(target).expanduser()
    if ":" not in target or folder.is_dir():
        members = members_of(folder)
        token = token or kept_token(folder)
        if not members:
            raise BadRequest(
                f"Nothing listens for {target}.",
                f"A job that calls torch_tb_profiler.listen(directory={target!r}) leaves a file in {FOLDER} there.",
            )
    else:
        told = _asked(target, token or "", "GET", "/members")
        listed = told.get("members")
        members = [dict(m) for m in listed] if isinstance(listed, list) and listed else []
        members = members or [{"rank": 0, "address": target}]
    return [{**member, "token": token or ""} for member in members]


def _ask_all(
    members: list[dict[str, Any]], steps: int, ahead: int, progress: Callable[[str], object]
) -> LiveReport | None:
    """Plan on all ranks; None where one of them was late and nobody else has begun."""
    states: dict[int, dict[str, Any]] = {}
    problems: dict[int, str] = {}
    for place, member in enumerate(members):
        try:
            states[place] = _asked(member["address"], member["token"], "GET", "/status")
        except SourceError as error:
            problems[place] = error.message
    if not states:
        raise SourceError(
            f"No rank answers: {next(iter(problems.values()))}", "Is the job running?"
        )
    pace = max((s.get("seconds_per_step") or 0.0) for s in states.values())
    now = max(int(s.get("step", 0)) for s in states.values())
    at = now + max(ahead, math.ceil(AHEAD_SECONDS / pace) if pace else 0)
    late, refusal = False, None
    for place in states:
        member = members[place]
        try:
            _asked(
                member["address"],
                member["token"],
                "POST",
                "/record",
                {"at_step": at, "steps": steps},
            )
        except _Late as error:
            problems[place], late = error.message, True
        except (BadRequest, SourceError) as error:
            problems[place], refusal = error.message, error
    planned = [place for place in states if place not in problems]
    if late and not planned:
        return None
    if refusal is not None and not planned:
        raise refusal
    progress(
        f"steps {at} to {at + steps - 1} are recorded on {len(planned)} of {len(members)} ranks"
    )
    reports = tuple(
        RankReport(m["rank"], m["address"], problem=problems.get(place, ""))
        for place, m in enumerate(members)
    )
    directory = str(next(iter(states.values())).get("directory", ""))
    return LiveReport(directory, at, steps, reports)


def _finished(
    report: LiveReport, members: list[dict[str, Any]], progress: Callable[[str], object]
) -> LiveReport:
    """Wait until every rank has written its trace, or says nothing more."""
    done: list[RankReport] = []
    until = time.monotonic() + FINISH_SECONDS
    for member, rank in zip(members, report.ranks, strict=True):
        if rank.problem:
            done.append(rank)
            continue
        traces, problem = _traces_of(member, until)
        progress(f"rank {rank.rank}: {problem or ', '.join(traces)}")
        done.append(RankReport(rank.rank, rank.address, traces, problem))
    return LiveReport(report.directory, report.at_step, report.steps, tuple(done))


def _traces_of(member: dict[str, Any], until: float) -> tuple[tuple[str, ...], str]:
    seen: tuple[str, ...] = ()
    while True:
        try:
            state = _asked(member["address"], member["token"], "GET", "/status")
        except SourceError as error:
            return seen, error.message
        listed = state.get("traces")
        seen = tuple(str(name) for name in listed[-1:]) if isinstance(listed, list) else ()
        if not state.get("busy"):
            return seen, "" if seen else "it ended without a trace; its output says why"
        pace = state.get("seconds_per_step") or 0.0
        if time.monotonic() > until + 50 * pace:
            return seen, "its trace was not written in time"
        time.sleep(0.1)


class _Late(BadRequest):
    """A rank has passed the step."""


def _asked(
    address: str, token: str, method: str, path: str, body: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What a listener answers.

    Raises:
        BadRequest: it refuses.
        SourceError: it does not answer.
    """
    until = time.monotonic() + SECONDS
    while True:
        try:
            status, told = _reply(address, token, method, path, body)
            break
        except (OSError, http.client.HTTPException, ValueError) as error:
            # A listener with too many connections closes further ones without a word.
            if isinstance(error, CLOSED) and time.monotonic() < until:
                time.sleep(0.1)
                continue
            raise SourceError(
                f"{address} does not answer: {error}.", "Is the job running?"
            ) from error
    if not isinstance(told, dict):
        raise SourceError(f"{address} answers in another way.", "Is it a job that listens?")
    if status != 200:
        refusal = str(told.get("error", status))
        if told.get("late"):
            raise _Late(refusal)
        hint = f"Pass --token, or set {TOKEN_VARIABLE}." if status == 403 else "Try again later."
        raise BadRequest(f"{address} refuses: {refusal}", hint)
    return told


def _reply(
    address: str, token: str, method: str, path: str, body: dict[str, Any] | None
) -> tuple[int, Any]:
    """Status and JSON of one request."""
    with contextlib.closing(_connection(address)) as connection:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, body=text, headers={HEADER: token})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read(MOST_BODY * 16))


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        """To the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self._path)


def _connection(address: str) -> http.client.HTTPConnection:
    if address.startswith("unix:"):
        return _UnixConnection(address.removeprefix("unix:"))
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit():
        raise BadRequest(
            f"{address} is no address.",
            "Use HOST:PORT, unix:PATH, a folder, or the URL of a server.",
        )
    return http.client.HTTPConnection(host.strip("[]") or "127.0.0.1", int(port), timeout=SECONDS)


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
        SourceError: nothing answers.
    """
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    # A server writes its traces before it answers.
    connection = kind(parts.hostname or "", parts.port, timeout=FINISH_SECONDS)
    try:
        text = None if body is None else json.dumps(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        connection.request(
            "GET" if body is None else "POST",
            parts.path.rstrip("/") + path,
            body=text,
            headers=headers,
        )
        reply = connection.getresponse()
        reply.read(MOST_BODY)
        return reply.status
    except (OSError, http.client.HTTPException) as error:
        raise SourceError(f"{url} does not answer: {error}.", "Is the server running?") from error
    finally:
        connection.close()
