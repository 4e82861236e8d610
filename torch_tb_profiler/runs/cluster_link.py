"""The connection to a Dask scheduler: who works there, for which version of the program, and with
how much memory. It is looked after by a thread, and made anew when it breaks.

A worker is only given what fits its memory: each offers it as a resource of Dask, under a name that
contains the version of the program. ``distributed`` is imported by that thread, so that a server
starts without waiting for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torch_tb_profiler.errors import install
from torch_tb_profiler.runs.cluster_task import TOPIC, carry_out, offer, resource
from torch_tb_profiler.runs.code_version import program_version
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.units import format_bytes

CONNECT_SECONDS = 5.0
"""How long a scheduler may take to answer."""
RETRY_SECONDS = 10.0
"""Between two attempts to reach it."""
LOOK_SECONDS = 2.0
"""Between two looks at its workers."""
PATIENCE_SECONDS = 60.0
"""How long tasks wait for a scheduler that was lost before processes of this machine do them."""


@dataclass(frozen=True)
class Offer:
    """What a Dask worker may do for us; ``version`` is empty where it could not tell, at ``failed_at``:
    it has not this package.
    """

    version: str
    memory: float = 0.0
    threads: int = 0
    failed_at: float = float("inf")


@dataclass(frozen=True)
class ClusterState:
    """A cluster as it is now. ``workers``, ``threads`` and ``memory`` (bytes, all together) are of
    the workers that have this program's version; ``others`` have not. ``dashboard``: its URL, or empty.
    """

    address: str
    connected: bool
    workers: int
    others: int
    threads: int
    memory: float
    dashboard: str
    note: str


@dataclass(eq=False)
class Session:
    """One connection. ``offers``: what each worker offers, by its address."""

    client: Any
    offers: dict[str, Offer] = field(default_factory=dict)
    dashboard: str = ""
    news: dict[str, queue.Queue[Any]] = field(default_factory=dict)

    @property
    def alive(self) -> bool:
        return bool(self.client.status == "running")


class ClusterLink:
    """The connection to a cluster, which is looked after by a thread of its own. Thread-safe."""

    def __init__(self, settings: Settings, alone: bool = False) -> None:
        """``alone``: nothing is done on this machine, whatever happens to the cluster."""
        self._settings = settings
        self.alone = alone
        self._version = program_version()
        self._changed = threading.Condition()
        self._session: Session | None = None
        self._thread: threading.Thread | None = None
        self._attempted = self._closed = False
        self._lost_at = float("-inf")
        self.problem = self._note = ""
        self._tries: Counter[str] = Counter()

    def connect(self) -> None:
        """Begin to look for the scheduler; returns at once. ``problem`` says why it is not found."""
        with self._changed:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(
                    target=self._keep, name="profiler-cluster", daemon=True
                )
                self._thread.start()

    def close(self) -> None:
        """Let go of the connection; what runs there ends by itself."""
        with self._changed:
            self._closed = True
            session, self._session = self._session, None
            self._changed.notify_all()
        if session is not None:
            _end(session)

    @property
    def note(self) -> str:
        """What is wrong with the cluster, in words; else empty."""
        return self._note

    def state(self) -> ClusterState:
        """The cluster as it is now."""
        self.connect()
        with self._changed:
            session = self._session
        ours, dashboard = self._ours(session), session.dashboard if session else ""
        return ClusterState(
            self._address,
            session is not None,
            len(ours),
            len(session.offers) - len(ours) if session else 0,
            self.threads(session),
            sum(each.memory for each in ours),
            dashboard,
            self._note,
        )

    def usable(self) -> Session | None:
        """The connection, if tasks can be submitted."""
        with self._changed:
            session = self._session
        if session is None or not session.alive:
            return None
        return session if self._ours(session) or not session.offers else None

    def await_attempt(self) -> None:
        """Return when it is known whether the scheduler answers."""
        self.connect()
        with self._changed:
            self._changed.wait_for(lambda: self._attempted or self._closed)

    def await_session(self) -> Iterator[Session | None]:
        """None while the cluster may come (back) in a moment, then it, or nothing where it does not."""
        self.connect()
        while not self._closed:
            if (session := self.usable()) is not None:
                yield session
                return
            with self._changed:
                if self._attempted and self._lost_long_ago():
                    return
                self._changed.wait(timeout=1.0)
            yield None

    def lost(self, session: Session) -> None:
        """A task found the connection broken."""
        with self._changed:
            if self._session is not session:
                return
            self._session, self._lost_at = None, time.monotonic()
            self._say(f"The connection to the Dask scheduler {self._address} was lost")
            self._changed.notify_all()
        _end(session)

    def misfit(self, session: Session, memory: float) -> str:
        """Why a task that may need so many bytes fits nowhere, in words; else empty."""
        most = self.most_memory(session)
        if not most or memory <= most or memory == float("inf"):
            return ""
        return (
            f"The trace may need {format_bytes(int(memory))} of memory, and no worker of the cluster may use"
            f" more than {format_bytes(int(most))}. Start one with more (--memory-limit)."
        )

    def most_memory(self, session: Session) -> float:
        """Bytes of the worker with the most memory; 0 while there is none."""
        return max((each.memory for each in self._ours(session)), default=0.0)

    def addressed(self, task: dict[str, Any]) -> dict[str, Any]:
        """A task as a Dask worker gets it: ``id`` is the same for all who want the same product of the
        same cache, so that it is made once for them.
        """
        name = os.path.basename(task["sidecar"])
        wanted = f"{task['maker']}\0{task['settings']['cache_dir'] or task['sidecar']}\0{name}"
        number = hashlib.sha256(f"{wanted}\0{task['memory']}".encode()).hexdigest()[:24]
        with self._changed:
            self._tries[number] += 1
            # The result of an earlier try may not be forgotten yet.
            again = f"-{self._tries[number]}" if self._tries[number] > 1 else ""
        return {
            **task,
            # Its threads share out the cores.
            "settings": {**task["settings"], "workers": 1, "scheduler": ""},
            "elsewhere": True,
            "id": f"torch_tb_profiler-{number}{again}",
        }

    def submit(self, session: Session, task: dict[str, Any]) -> Any:
        """A Dask future of a task; others that want the same have it done once."""
        most = self.most_memory(session)
        memory = min(task["memory"], most) if most else task["memory"]
        memory = 0.0 if memory == float("inf") else memory
        return session.client.submit(
            carry_out,
            task,
            key=task["id"],
            pure=False,
            resources={resource(self._version): memory},
        )

    @property
    def _address(self) -> str:
        return Place(self._settings.scheduler).shown

    def _ours(self, session: Session | None) -> list[Offer]:
        offers = list(session.offers.values()) if session else []
        return [each for each in offers if each.version == self._version]

    def threads(self, session: Session | None) -> int:
        """Threads of all workers that take our tasks."""
        return sum(each.threads for each in self._ours(session))

    def _keep(self) -> None:
        """Connect, look at the workers again and again, and connect anew."""
        while not self._closed:
            session = self._session
            try:
                if session is None:
                    session = self._begin()
                if not session.alive:
                    raise OSError("the connection was closed")
                self._look(session)
                pause = LOOK_SECONDS
            except Exception as error:  # drivers raise anything
                self._failed(session, error)
                pause = RETRY_SECONDS if self._lost_long_ago() else 1.0
            with self._changed:
                self._attempted = True
                self._changed.notify_all()
                if not self._closed and (self._session is session or session is None):
                    self._changed.wait(timeout=pause)
        if session is not None:
            _end(session)

    def _lost_long_ago(self) -> bool:
        return time.monotonic() - self._lost_at > PATIENCE_SECONDS

    def _begin(self) -> Session:
        import distributed

        make: Any = distributed.Client
        session = Session(
            make(
                self._settings.scheduler,
                timeout=CONNECT_SECONDS,
                name="torch_tb_profiler",
                set_as_default=False,
            )
        )
        try:
            session.client.subscribe_topic(TOPIC, lambda event: _on_news(session, event[1]))
            with contextlib.suppress(Exception):  # not every scheduler has a dashboard
                if "dashboard" in session.client.scheduler_info(n_workers=0)["services"]:
                    link = session.client.dashboard_link or ""
                    session.dashboard = link if Place(link).is_web else ""
            self._look(session)
        except BaseException:
            _end(session)
            raise
        with self._changed:
            self._session = session
        return session

    def _look(self, session: Session) -> None:
        """Have new workers offer themselves, and forget those that are gone."""
        present = session.client.scheduler_info(n_workers=-1)["workers"]
        session.offers = {a: o for a, o in session.offers.items() if a in present}
        if new := [a for a, each in present.items() if _is_new(session.offers.get(a), each)]:
            replies = session.client.run(offer, workers=new, on_error="return")
            offers = {
                address: Offer(**reply)
                if isinstance(reply, dict)
                else Offer("", failed_at=time.monotonic())
                for address, reply in replies.items()
            }
            session.offers = {**session.offers, **offers}
        self._judge(session)

    def _judge(self, session: Session) -> None:
        """Say what of the workers is wrong."""
        others = {a: o for a, o in session.offers.items() if o.version != self._version}
        ours = len(session.offers) - len(others)
        self.problem = note = ""
        if others:
            address, other = next(iter(others.items()))
            has = f"has {other.version}" if other.version else "cannot run torch_tb_profiler"
            rest = f" and {len(others) - 1} more" if len(others) > 1 else ""
            note = (
                f"The worker {address} of the Dask scheduler {self._address} {has}{rest}, where"
                f" {self._version} is needed: install the same version there."
            )
            self.problem = "" if ours else note
            note += f" The others are used: {ours}." if ours else f" {self._instead}"
        elif not session.offers:
            note = f"The Dask scheduler {self._address} has no workers yet: traces wait for one."
        self._note = note

    @property
    def _instead(self) -> str:
        if self.alone:
            return "Nothing is done."
        return "Processes of this machine do the work meanwhile."

    def _failed(self, session: Session | None, error: Exception) -> None:
        with self._changed:
            if self._session is session and session is not None:
                self._session, self._lost_at = None, time.monotonic()
        if session is not None:
            _end(session)
        if isinstance(error, ImportError):
            self.problem = (
                "A Dask scheduler needs the package distributed, which cannot be imported"
                f" ({words(error)}): {install('distributed')}."
            )
            self._note = f"{self.problem} {self._instead}"
        else:
            self._say(f"The Dask scheduler {self._address} cannot be reached ({words(error)})")

    def _say(self, what: str) -> None:
        self.problem = f"{what}."
        self._note = f"{what}. {self._instead} It is tried again."


def _is_new(known: Offer | None, worker: dict[str, Any]) -> bool:
    """Whether a worker, as the scheduler describes it, has to be asked for its offer."""
    if known is None or not known.version:
        return known is None or time.monotonic() - known.failed_at > RETRY_SECONDS
    # A process that was restarted may have the same address.
    return resource(known.version) not in worker.get("resources", {})


def _on_news(session: Session, message: Any) -> None:
    """Called by the client's thread with what workers report."""
    if isinstance(message, dict) and (news := session.news.get(str(message.get("task")))):
        news.put(message.get("progress"))


def _end(session: Session) -> None:
    with contextlib.suppress(Exception):
        session.client.close(timeout=CONNECT_SECONDS)
