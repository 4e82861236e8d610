"""Processes that decode chunks of a large trace, beside the one that reads it.

A chunk goes there and its columns come back through memory that all of them map; pipes only say
that they are there::

    reader     chunk ─▶ ┌ slot: text │ columns ┐ ─▶ merged, in the order of the text
    process               decode ─▶ gather

Each of n processes has one chunk to decode and the next two: the k-th that is sent goes to process k mod n
in slot k mod 3 n. While all slots are taken the reader decodes a chunk itself instead of waiting.

On Linux these are forks of the reader: they are there in 3 ms and share its memory. In a process with
threads that are not ours, which may hold locks, they are new interpreters.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import select
import signal
import struct
import sys
import threading
import warnings
from collections import deque
from collections.abc import Mapping
from typing import IO, Protocol

from torch_tb_profiler.child_process import start
from torch_tb_profiler.importers.chunk_parts import Part, part_of
from torch_tb_profiler.importers.chunks import bracketed, decode_chunk
from torch_tb_profiler.importers.gather import Gatherer
from torch_tb_profiler.importers.walk import Ledger
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.roles import Role, own_roles

PAYS_BYTES = 64 << 20
"""Text still to come for each interpreter that is started: one takes as long to start as to decode 20 MB
(measured), and needs 40 MB of memory.
"""
FORK_PAYS_BYTES = 8 << 20
"""Text still to come for each fork that is started."""
OUR_THREADS = "profiler-"
"""What the names of our threads begin with. None holds a lock that decoding needs."""
MOST_REFUSED = 16
"""Chunks that no process could decode, before all are decoded here: each costs what was sent after it."""
_TASK = struct.Struct("=qqq")
"""Slot, bytes of text, offset of the text."""
_COUNT = struct.Struct("=q")
"""How many sizes follow: of the pickled part and of its columns. None: it could not be decoded."""
_NONE = _COUNT.pack(0)
_ALIGN = 64
COLUMNS_PER_TEXT = 2
"""Room for the columns of a chunk, per room for its text."""
CHUNKS_EACH = 3
"""With two, 400 MB of text take 8 % longer (measured)."""


class Process(Protocol):
    """A process that decodes: what ``subprocess.Popen`` and ``Fork`` have in common."""

    @property
    def stdin(self) -> IO[bytes] | None: ...

    @property
    def stdout(self) -> IO[bytes] | None: ...

    def kill(self) -> None:
        """End it at once."""

    def wait(self) -> int:
        """Wait for its end; its exit status."""


class Fork:
    """A copy of this process that decodes until its standard input ends; see ``Process``."""

    def __init__(self, memory: mmap.mmap, text_bytes: int, roles: Mapping[str, Role]) -> None:
        """``memory``: the slots.

        Raises:
            OSError: there is no room for another process.
        """
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as its:
            asked, self.stdin = _pipe(its, ours)
            self.stdout, answers = _pipe(ours, its)
            with warnings.catch_warnings():
                # Python warns of threads whatever they do; see OUR_THREADS.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._pid = os.fork()
            if self._pid == 0:
                try:
                    signal.signal(signal.SIGINT, signal.SIG_IGN)
                    _close_all_but(2, asked.fileno(), answers.fileno())
                    _serve(asked, answers, memory, text_bytes, roles)
                finally:
                    os._exit(0)
            ours.pop_all()

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for its end; its exit status."""
        return os.waitpid(self._pid, 0)[1]


def can_fork() -> bool:
    """Whether a copy of this process can decode: no thread is there but this one and ours."""
    if sys.platform != "linux":
        return False
    with contextlib.suppress(OSError):
        threads = threading.enumerate()
        others = set(threads) - {threading.current_thread()}
        # Libraries have threads that Python does not know.
        return len(os.listdir("/proc/self/task")) == len(threads) and all(
            other.name.startswith(OUR_THREADS) for other in others
        )
    return False


class Decoders:
    """Processes that are started when they pay. A context manager that ends them; one thread uses it."""

    def __init__(self, settings: Settings) -> None:
        """``settings.import_processes``: how many at most, with this one; with one, none is ever started."""
        self._most = settings.import_processes or settings.workers
        if sys.platform == "win32":
            self._most = 1
        self._categories = settings.categories
        self._roles = own_roles(settings.categories)
        self._text_bytes = 2 * settings.chunk_bytes
        self._processes: list[Process] = []
        self._waiting: list[Process] = []
        """Those that have not said yet that they are there."""
        self._memory: mmap.mmap | None = None
        self._out: deque[int | Part | None] = deque()
        """Of each chunk that is out, the first that was sent first: which one the processes got it as, or what was decoded
        of it here.
        """
        self._begun = self._refused = 0

    def __enter__(self) -> Decoders:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def most_sent(self) -> int:
        """How many chunks may be out at once, those included that are decoded here."""
        return 2 * self._slots

    @property
    def answered(self) -> bool:
        """Whether the chunk that was sent first is decoded, so that ``receive`` does not wait."""
        first = self._out[0] if self._out else None
        return not isinstance(first, int) or _has_answer(self._process_of(first))

    def ready(self, text_to_come: int) -> bool:
        """Whether chunks can be sent; starts the processes if that pays for so much text, bytes."""
        if self._most < 2:
            return False
        if not self._processes:
            forks = can_fork()
            pays = FORK_PAYS_BYTES if forks else PAYS_BYTES
            processes = min(self._most - 1, text_to_come // pays)
            if processes <= 0:
                return False
            self._start(processes, forks)
        while self._waiting and _has_answer(self._waiting[-1]):
            if not _read(self._waiting.pop(), 1):
                self._end()
        return bool(self._processes) and not self._waiting

    def send(self, chunk: memoryview, offset: int) -> bool:
        """Have a chunk decoded that is at an offset of the text; False if it cannot be."""
        if len(chunk) + 2 > self._text_bytes or self._memory is None:
            return False
        if sum(isinstance(out, int) for out in self._out) == self._slots:
            self._out.append(decoded(bracketed(chunk), offset, self._roles))
            return True
        slot = self._begun % self._slots
        start, n = slot * _slot_bytes(self._text_bytes), len(chunk)
        self._memory[start : start + 1] = b"["
        self._memory[start + 1 : start + 1 + n] = chunk
        self._memory[start + 1 + n : start + 2 + n] = b"]"
        pipe = self._process_of(self._begun).stdin
        assert pipe is not None
        try:
            pipe.write(_TASK.pack(slot, n + 2, offset))
            pipe.flush()
        except OSError:
            self._end()
            return False
        self._out.append(self._begun)
        self._begun += 1
        return True

    def receive(self) -> Part | None:
        """What was decoded of the chunk that was sent first; None if it must be decoded here. Its
        columns are valid until the next chunk is sent.
        """
        if self._memory is None:
            return None
        first = self._out.popleft()
        if not isinstance(first, int):
            self._refused += first is None
            return first
        slot, process = first % self._slots, self._process_of(first)
        count = _read(process, _COUNT.size)
        if count == _NONE:
            self._refused += 1
            return None
        sizes = _read(process, 8 * _COUNT.unpack(count)[0]) if count else b""
        if not sizes:
            self._end()
            return None
        start = slot * _slot_bytes(self._text_bytes) + _aligned(self._text_bytes)
        pieces = []
        for size in struct.unpack(f"={len(sizes) // 8}q", sizes):
            pieces.append(memoryview(self._memory)[start : start + size])
            start += _aligned(size)
        part: Part = pickle.loads(pieces[0], buffers=pieces[1:])
        return part

    def drop(self) -> None:
        """Forget the chunks that are out; all later ones are decoded here if too many were refused."""
        while self._out:
            self.receive()
        if self._refused > MOST_REFUSED:
            self._end()

    def _start(self, processes: int, forks: bool) -> None:
        size = CHUNKS_EACH * processes * _slot_bytes(self._text_bytes)
        with contextlib.suppress(OSError), _memory_file() as file:
            file.truncate(size)
            self._memory = mmap.mmap(file.fileno(), size)
            for _ in range(processes):
                self._processes.append(
                    Fork(self._memory, self._text_bytes, self._roles)
                    if forks
                    else self._interpreter(file.fileno(), size)
                )
        if len(self._processes) < processes:
            self._end()
        # A fork is there before its first task is.
        self._waiting = [] if forks else list(self._processes)

    @property
    def _slots(self) -> int:
        return CHUNKS_EACH * len(self._processes)

    def _process_of(self, number: int) -> Process:
        return self._processes[number % len(self._processes)]

    def _interpreter(self, descriptor: int, size: int) -> Process:
        import subprocess

        arguments = (descriptor, size, self._text_bytes, self._categories)
        return start(
            "importers.decoders:main",
            *arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(descriptor,),
        )

    def _end(self) -> None:
        self._most = 1
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        self._processes, self._waiting, self._memory = [], [], None
        self._out.clear()


def main(descriptor: int, size: int, text_bytes: int, categories: str) -> None:
    """Decode chunks until standard input ends; see ``Decoders``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory = mmap.mmap(descriptor, size)
    os.close(descriptor)
    answers = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not end up between the answers.
    os.dup2(2, 1)
    answers.write(b"+")
    answers.flush()
    _serve(sys.stdin.buffer, answers, memory, text_bytes, own_roles(categories))


def _serve(
    tasks: IO[bytes],
    answers: IO[bytes],
    memory: mmap.mmap,
    text_bytes: int,
    roles: Mapping[str, Role],
) -> None:
    while task := tasks.read(_TASK.size):
        slot, length, offset = _TASK.unpack(task)
        start = slot * _slot_bytes(text_bytes)
        part = decoded(memory[start : start + length], offset, roles)
        start += _aligned(text_bytes)
        sizes = _laid(part, memory, start, (slot + 1) * _slot_bytes(text_bytes)) if part else []
        answers.write(_COUNT.pack(len(sizes)) + struct.pack(f"={len(sizes)}q", *sizes))
        answers.flush()


def decoded(text: bytes, offset: int, roles: Mapping[str, Role]) -> Part | None:
    """What a chunk, as ``bracketed`` makes it, holds; None if it must be decoded where it was cut."""
    counts = DefectCounts()
    ledger, gathered = Ledger(counts), Gatherer(counts, roles)
    try:
        batch = decode_chunk(text, offset, ledger)
        if batch is None or batch.size < len(text) - 2:
            return None
        gathered.add(batch, 0)
    except Exception:
        # The reader does the same again, and fails where it would have without us.
        return None
    return part_of(gathered, ledger.entries + len(batch.events))


def _laid(part: Part, memory: mmap.mmap, start: int, end: int) -> list[int]:
    """Put a part into memory; the sizes of its pieces, none if they do not fit."""
    columns: list[pickle.PickleBuffer] = []
    head = pickle.dumps(part, 5, buffer_callback=columns.append)
    pieces = [memoryview(head), *(column.raw() for column in columns)]
    if start + sum(_aligned(len(piece)) for piece in pieces) > end:
        return []
    for piece in pieces:
        memory[start : start + len(piece)] = piece
        start += _aligned(len(piece))
    return [len(piece) for piece in pieces]


def _has_answer(process: Process) -> bool:
    """Whether a process has said something, or ended."""
    return bool(select.select([process.stdout.fileno() if process.stdout else -1], [], [], 0)[0])


def _read(process: Process, n: int) -> bytes:
    """The next bytes of a process; ``b""`` if it ended."""
    assert process.stdout is not None
    data = process.stdout.read(n)
    return data if len(data) == n else b""


def _slot_bytes(text_bytes: int) -> int:
    return (1 + COLUMNS_PER_TEXT) * _aligned(text_bytes)


def _aligned(n: int) -> int:
    return -(-n // _ALIGN) * _ALIGN


def _pipe(reads: contextlib.ExitStack, writes: contextlib.ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    """Both ends of a pipe, closed with these."""
    reader, writer = os.pipe()
    return reads.enter_context(open(reader, "rb")), writes.enter_context(open(writer, "wb"))


def _close_all_but(*descriptors: int) -> None:
    """What is open in a fork is the reader's; the pipes of other forks, too, end with it alone."""
    kept = sorted(descriptors)
    for below, above in zip([-1, *kept], [*kept, os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(below + 1, above)


def _memory_file() -> IO[bytes]:
    """A file that is only in memory, where there is such a thing."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("chunks"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()
