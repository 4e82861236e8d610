"""The clients of ``soak.py``: they ask everything, and check every reply."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import random
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from soak_logdir import CUT, ChangingLogdir
from soak_questions import Known, Place, comparable, fault, learn, question
from soak_server import Server

from torch_tb_profiler.web.downloads import Download
from torch_tb_profiler.web.route_table import ROUTES

PATIENCE_SECONDS = 30.0
"""In which each request is answered."""
SETTLE_SECONDS = 120.0
CONST, LIVE, WEB = "const", "live", "web"
ALLOWED = {
    CONST: {200, 202, 304, 503, 504},
    LIVE: {200, 202, 304, 400, 404, 409, 502, 503, 504},
    WEB: {200, 202, 304, 404, 409, 502, 503, 504},
}
"""Statuses that may come about a trace that stays, that changes, or that lies in the bad store."""
PASSING = ("killed", "full", "space", "tried again", "could not be made", "ended with")
"""What the message of a 409 says about a trace that stays when its import was disturbed."""
SINGLE = ("/operator", "/kernel", "/module", "/memory", "/counters")
"""Replies that depend on nothing but the content of one file."""
MEMORY_SECONDS = 90.0
"""For so long after a change a reply may be of the content before it."""
FAMILIES = (CONST, LIVE, WEB)
SHARES = (0.6, 0.3, 0.1)


@dataclass(frozen=True)
class Wrong:
    """A reply that should not have come."""

    at: float
    path: str
    query: str
    status: int
    why: str


@dataclass
class Ledger:
    """What all clients heard. ``period``: (status, seconds) since it was last read."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    period: list[tuple[int, float]] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    routes: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    wrong: list[Wrong] = field(default_factory=list)
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    slowest: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=20))

    def heard(self, path: str, status: int, seconds: float) -> None:
        """Count one reply."""
        with self.lock:
            self.period.append((status, seconds))
            self.statuses[status] += 1
            self.routes[path] += status == 200
            if seconds > 5:
                self.slowest.append((round(seconds, 1), path))

    def take(self) -> list[tuple[int, float]]:
        """The replies since the last call."""
        with self.lock:
            taken, self.period = self.period, []
            return taken

    def blame(self, path: str, query: dict[str, str], status: int, why: str) -> None:
        """Keep a wrong reply."""
        with self.lock:
            self.wrong.append(Wrong(time.time(), path, urlencode(query), status, why[:400]))

    def same(self, path: str, query: dict[str, str], body: bytes) -> bool:
        """Whether it is the answer that the same question got before, if it was asked before."""
        key = (path, urlencode(sorted(query.items())))
        digest = hashlib.sha256(body).hexdigest()
        with self.lock:
            self.checked["unchanged"] += key in self.digests
            return self.digests.setdefault(key, digest) == digest


class Connection:
    """Asks a server, over one connection or over one for each request."""

    def __init__(self, server: Server, keep: bool) -> None:
        self.server, self.keep = server, keep
        self._open: http.client.HTTPConnection | None = None

    def ask(self, path: str, query: dict[str, str], tag: str = "") -> tuple[int, bytes, str]:
        """(status, body, entity tag).

        Raises:
            OSError, http.client.HTTPException: there was no whole reply.
        """
        again = self._open is not None
        try:
            return self._ask(path, query, tag)
        except TimeoutError:
            self.close()
            self.server.tell_stacks()
            raise
        except (OSError, http.client.HTTPException):
            self.close()
            # A server may close a connection that was idle; a new one must do.
            if not again:
                raise
            return self._ask(path, query, tag)
        finally:
            if not self.keep:
                self.close()

    def _ask(self, path: str, query: dict[str, str], tag: str) -> tuple[int, bytes, str]:
        if self._open is None:
            self._open = http.client.HTTPConnection(
                "127.0.0.1", self.server.port, timeout=PATIENCE_SECONDS
            )
        headers = {"Accept-Encoding": "gzip", **({"If-None-Match": tag} if tag else {})}
        self._open.request("GET", f"{self.server.prefix}{path}?{urlencode(query)}", headers=headers)
        reply = self._open.getresponse()
        body = reply.read()
        if reply.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return reply.status, body, reply.headers.get("ETag", "")

    def close(self) -> None:
        """Let go of the connection."""
        if self._open is not None:
            self._open.close()
            self._open = None


@dataclass
class World:
    """What the clients share: the traces that are there, and what is known of each."""

    server: Server
    live: ChangingLogdir
    ledger: Ledger = field(default_factory=Ledger)
    places: dict[str, list[Place]] = field(default_factory=dict)
    paths: dict[Place, str] = field(default_factory=dict)
    sizes: Counter[str] = field(default_factory=Counter)
    known: dict[Place, Known] = field(default_factory=dict)
    tags: dict[tuple[str, str], str] = field(default_factory=dict)
    references: dict[tuple[str, str], str] = field(default_factory=dict)
    """Digest of a route's reply about a content of the pool, by route and content."""
    asked: dict[Place, list[tuple[str, dict[str, str]]]] = field(default_factory=dict)
    """Questions that were answered before anything was disturbed."""

    def look(self, connection: Connection) -> dict[str, Any] | None:
        """Read which traces are there; the payload of /diagnosis."""
        status, body, _ = connection.ask("/diagnosis", {})
        if status != 200:
            return None
        payload: dict[str, Any] = msgspec.json.decode(body)
        files = payload["files"]
        places: dict[str, list[Place]] = {family: [] for family in FAMILIES}
        sizes: Counter[str] = Counter()
        for path, state, run, worker, span in zip(
            *(files[key] for key in ("path", "state", "run", "worker", "span")), strict=True
        ):
            family, place = run.partition("/")[0], (run, worker, span)
            if run and family in places and state != "rejected":
                places[family].append(place)
                self.paths[place] = path
                sizes[path.rpartition("/")[0]] += 1
        self.places, self.sizes = places, sizes
        return payload


class Client:
    """One of the clients, in a thread of its own."""

    def __init__(self, number: int, world: World, pause: float) -> None:
        self.chance = random.Random(number)
        self.world, self.pause = world, pause
        self.connection = Connection(world.server, keep=number % 2 == 0)

    def run(self, stopped: threading.Event) -> None:
        """Ask until told to stop."""
        while not stopped.wait(self.chance.expovariate(1 / self.pause)):
            family = self.chance.choices(FAMILIES, SHARES)[0]
            places = self.world.places.get(family)
            if not places:
                continue
            try:
                self.turn(family, self.chance.choice(places), self.chance.choice(places))
            except (OSError, http.client.HTTPException, EOFError) as error:
                if not stopped.is_set():
                    self.world.ledger.heard("", 0, PATIENCE_SECONDS)
                    self.world.ledger.blame("", {}, 0, f"no reply: {error!r}")
        self.connection.close()

    def turn(self, family: str, place: Place, other: Place) -> None:
        """Ask one question about a trace, or get to know it first."""
        route = self.chance.choice(list(ROUTES.values()))
        known = self.world.known.get(place)
        if known is None and route.opens is not None:
            known = learn(lambda path, query: self.ask(family, path, query, None), place)
            if known is not None:
                self.world.known[place] = known
            return
        if known is None:
            self.ask(family, route.path, {}, None)
            return
        if self.world.asked.get(place) and self.chance.random() < 0.5:
            self.ask(family, *self.chance.choice(self.world.asked[place]), known)
            return
        query = question(self.chance, route, place, other, known)
        if query is not None:
            self.ask(family, route.path, query, known)

    def ask(
        self, family: str, path: str, query: dict[str, str], known: Known | None
    ) -> tuple[int, bytes]:
        """Ask and check."""
        world, key = self.world, (path, urlencode(sorted(query.items())))
        tag = world.tags.get(key, "") if family == CONST and self.chance.random() < 0.3 else ""
        begin = time.perf_counter()
        try:
            status, body, new = self.connection.ask(path, query, tag)
        except http.client.IncompleteRead:
            # A file that changes meanwhile, or that the bad store cuts off: its download has to end before the
            # announced length, so that nobody takes it for whole.
            if family == CONST or ROUTES[path].answers is not Download:
                raise
            world.ledger.heard(path, 0, time.perf_counter() - begin)
            return 0, b""
        seconds = time.perf_counter() - begin
        world.ledger.heard(path, status, seconds)
        late = f"after {seconds:.0f} s" if seconds > PATIENCE_SECONDS else ""
        why = late or self.refusal(family, path, status, body, bool(tag))
        if not why and status == 200:
            if new and family == CONST:
                world.tags[key] = new
            trusted = known if family == CONST else None
            why = fault(path, body, query, trusted) or self.change(family, path, query, body)
        if why:
            world.ledger.blame(path, query, status, why)
        place = (query.get("run", ""), query.get("worker", ""), query.get("span", ""))
        if status in (400, 404, 409) and family != CONST:
            world.known.pop(place, None)
        return status, body

    def refusal(self, family: str, path: str, status: int, body: bytes, tagged: bool) -> str:
        """Why a status may not come here; empty when it may."""
        if status == 200 or (status == 304 and tagged):
            return ""
        try:
            error = msgspec.json.decode(body)["error"]
            message = f"{error['code']}: {error['message']}"
        except (msgspec.DecodeError, KeyError, TypeError):
            return f"not the shape of an error: {body[:200]!r}"
        if status == 202 and "takes long" in message:
            self.world.ledger.checked["late answers"] += 1
            self.world.server.tell_stacks()
        if status in ALLOWED[family]:
            return ""
        # It has no allocator records, or the chosen steps have no call of that operator.
        if status == 404 and path.startswith(("/memory/", "/callers")):
            return ""
        if status == 409 and any(word in message for word in PASSING):
            return ""
        return message

    def change(self, family: str, path: str, query: dict[str, str], body: bytes) -> str:
        """Whether a reply tells of another content than the file has had; "" if not."""
        world, ledger = self.world, self.world.ledger
        place = (query.get("run", ""), query.get("worker", ""), query.get("span", ""))
        file = world.paths.get(place, "")
        if family == CONST and file:
            alone = world.sizes[file.rpartition("/")[0]] == 1
            if comparable(path, alone, body) and not ledger.same(path, query, body):
                return "another answer than before about a file that did not change"
        elif family == LIVE and path in SINGLE and len(query) == 3 and file:
            local = world.live.folder / file.partition("/")[2]
            held = world.live.contents(local, MEMORY_SECONDS)
            digests = {world.references.get((path, content)) for content in held}
            if CUT not in held and None not in digests and held:
                ledger.checked["of the content"] += 1
                if hashlib.sha256(body).hexdigest() not in digests:
                    return f"about none of the contents of the last {MEMORY_SECONDS:g} s"
        return ""


def refer(world: World, connection: Connection, folder: Path, pool: list[Path]) -> None:
    """Take the answers about the traces that never change as what is true of their copies."""
    places = {path: place for place, path in world.paths.items()}
    for content in pool:
        place = places.get(f"{CONST}/{content.relative_to(folder)}")
        if place is None:
            continue  # What was captured of a graph belongs to a trace and is none.
        query = dict(zip(("run", "worker", "span"), place, strict=True))
        for path in SINGLE:
            body = settled(connection, path, query)
            world.references[path, str(content)] = hashlib.sha256(body).hexdigest()


def answer_quietly(world: World, connection: Connection, seed: int) -> None:
    """Ask each route about each trace that never changes while nothing is disturbed: what it answers is true from now on."""
    chance = random.Random(seed)
    for place in world.places[CONST]:
        known = None
        while known is None:
            known = learn(lambda path, query: connection.ask(path, query)[:2], place)
        world.known[place] = known
        questions = world.asked[place] = []
        for route in ROUTES.values():
            query = question(chance, route, place, place, known) if route.opens else None
            if query is None:
                continue
            status, body = _answered(connection, route.path, query)
            if status == 200:
                questions.append((route.path, query))
                file = world.paths[place]
                if comparable(route.path, world.sizes[file.rpartition("/")[0]] == 1, body):
                    world.ledger.same(route.path, query, body)


def _answered(connection: Connection, path: str, query: dict[str, str]) -> tuple[int, bytes]:
    """The last reply, which is no 202 unless that takes too long."""
    end = time.monotonic() + SETTLE_SECONDS
    while True:
        status, body, _ = connection.ask(path, query)
        if status not in (202, 503, 504) or time.monotonic() > end:
            return status, body
        time.sleep(0.3)


def settled(connection: Connection, path: str, query: dict[str, str]) -> bytes:
    """The body once it is there.

    Raises:
        SystemExit: it does not come.
    """
    status, body = _answered(connection, path, query)
    if status == 200 or (status == 404 and path.startswith("/memory/")):
        return body
    raise SystemExit(f"{path} {query}: {status} {body[:300]!r}")
