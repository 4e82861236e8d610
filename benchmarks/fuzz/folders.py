"""One folder per number, as a hostile or careless hand might leave it: the same for the same seed and number.

::

    logs/  a few runs ─▶ traces, archives, snapshots, captures, logs of the compiler   under odd names
           .live, tour.json, pipes, links, folders in the place of files               here and there
    outside/secret.json                                                                what nothing may read

What is meant to be read has the form of its kind, with one part of it changed.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.fuzz.mutate import case
from benchmarks.fuzz.values import strange_value
from tests.builders.snapshots import Allocator, pickled, snapshot

SECRET = "canary-4711"
"""Stands in the files outside, and nowhere else."""
MOST_TRACE = 12_000
TRACES, SHARE = 20, 500
_STEMS = (
    *(
        "worker0",
        "rank0",
        "rank_1",
        "host_123.1700000000000000000",
        "w\xff",
        "é",
        "\u202egnp",
        "a b",
        "-rf",
        "~",
    ),
    *(
        "a\x1b[31m",
        "a\nb",
        "a'b",
        'a"b',
        "$(id)",
        "%2e%2e%2f",
        "zip:",
        "a::b",
        "*",
        "?x=1",
        "#",
        "x" * 200,
        "\udcff\udcfe",
    ),
    *(
        "merged-0",
        "dp0_tp1",
        "rank99999999999999999999",
        "rank-1",
        "COM1",
        "capture_traces",
        "memory_snapshot",
        ".",
    ),
)
_ENDINGS = (
    *(
        ".pt.trace.json",
        ".pt.trace.json.gz",
        ".json",
        ".json.gz",
        ".trace.json",
        ".1700000000000.pt.trace.json",
    ),
    *(
        ".pickle",
        ".pkl",
        ".zip",
        ".tar",
        ".tar.gz",
        ".tgz",
        ".sqlite",
        ".nsys-rep",
        ".pftrace",
        ".txt",
        ".zst",
        ".log",
    ),
)
_ODD_TEXTS = (
    *(
        b"",
        b"\x00",
        b"null",
        b"[]",
        b"{}",
        b"[" * 20_000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b"\xff\xfe{\x00}\x00",
    ),
    *(
        b'"' * 999,
        b"1e999",
        b"-" * 99,
        b"9" * 5000,
        b'{"a":1,"a":2}',
        b'"\\ud800"',
        b" " * 100_000,
        b"\xef\xbb\xbf{}",
    ),
)


class Folder:
    """A folder being drawn: ``root`` is the logdir, ``outside`` stands beside it."""

    def __init__(self, home: Path, random: Random, seed: int, number: int) -> None:
        self.root, self.outside, self.linked = home / "logs", home / "outside", home / "linked"
        self.random = random
        self._seed, self._first = seed, number // SHARE * TRACES
        self.root.mkdir()
        self.outside.mkdir()
        self.linked.mkdir()
        secret = {
            "traceEvents": [{"ph": "X", "name": SECRET, "ts": 1, "dur": 1, "pid": 1, "tid": 1}]
        }
        for name in ("secret.json", "rank0.json", "tour.json", "token"):
            text = json.dumps({**secret, "address": SECRET, "sentences": [SECRET]})
            (self.outside / name).write_text(text)
            text = json.dumps({"sentences": [SECRET], "places": [], "address": SECRET})
            (self.linked / name).write_text(text)

    def trace(self) -> bytes:
        """A mutated trace, one of few that neighbouring numbers share: making one takes longer than asking."""
        return _mutated(self._seed, self._first + self.random.randrange(TRACES))

    def folder(self) -> Path:
        """A folder in the logdir, new or known."""
        known = [path for path in self.root.rglob("*") if path.is_dir() and not path.is_symlink()]
        above = self.random.choice([self.root, self.root, *known])
        if self.random.random() < 0.4 and len(known) < 8:
            above = above / self.name("")
            _unless_refused(lambda: above.mkdir(exist_ok=True))
        return above if above.is_dir() else self.root

    def name(self, ending: str | None = None) -> str:
        """A name as somebody or something may have chosen it."""
        parts = [self.random.choice(_STEMS)]
        if self.random.random() < 0.3:
            parts.append(self.random.choice(_STEMS))
        name = self.random.choice("._-").join(parts) + (
            self.random.choice(_ENDINGS) if ending is None else ending
        )
        return os.fsdecode(os.fsencode(name.replace("/", "_"))[:250]) if name.strip(".") else "dots"

    def write(self, path: Path, data: bytes) -> None:
        """A file, unless the system refuses its name or something lies there."""
        if not os.path.lexists(path):
            _unless_refused(lambda: path.write_bytes(data))

    def damaged(self, data: bytes) -> bytes:
        """With some bytes changed, cut off, doubled or left out, or as it is."""
        way, at = self.random.randrange(6), self.random.randrange(len(data) + 1)
        length = self.random.randrange(1, 40)
        if way == 0:
            return data[:at]
        if way == 1:
            return data[:at] + self.random.randbytes(length) + data[at + length :]
        if way == 2:
            return data[:at] + data[at + length :]
        if way == 3:
            return data[:at] + data[at : at + length] * 3 + data[at:]
        return data

    def json(self, value: Any) -> bytes:
        """A value as JSON with one part of it replaced, or something else in its place."""
        if self.random.random() < 0.15:
            return self.random.choice(_ODD_TEXTS)
        value = self.changed(json.loads(json.dumps(value)))
        text = json.dumps(value, default=str).encode("utf-8", "surrogatepass")
        return self.damaged(text) if self.random.random() < 0.3 else text

    def changed(self, value: Any) -> Any:
        """A value with one part of it replaced."""
        if self.random.random() < 0.15:
            return strange_value(self.random)
        if isinstance(value, dict) and value:
            key = self.random.choice(list(value))
            return {**value, key: self.changed(value[key])}
        if isinstance(value, list) and value:
            return [self.changed(value[0]), *value[1:]]
        return value

    def in_place_of(self, path: Path) -> bool:
        """Sometimes a link, a pipe or a folder where a file is expected; whether there is one now."""
        way = self.random.randrange(14)
        if way == 0:
            _unless_refused(lambda: os.mkfifo(path))
        elif way == 1:
            _unless_refused(path.mkdir)
        elif way == 2:
            # The listing follows links to see whether they lead to traces; nothing else does.
            home = self.outside if path.parent.name == ".live" else self.linked
            target = home / (path.name if (home / path.name).exists() else "secret.json")
            _unless_refused(lambda: path.symlink_to(target))
        elif way == 3:
            odd = self.random.choice(["/dev/zero", ".", path.name, "/nowhere", "/dev/stdin"])
            _unless_refused(lambda: path.symlink_to(odd))
        return way < 4


def draw(home: Path, seed: int, number: int) -> Folder:
    """Make the folder of a number in an empty one."""
    random = Random(f"folder {seed}/{number}")
    drawn = Folder(home, random, seed, number)
    for _ in range(random.randrange(1, 6)):
        random.choice(_KINDS)(drawn)
    return drawn


@lru_cache(maxsize=2 * TRACES)
def _mutated(seed: int, number: int) -> bytes:
    data = case(seed, number).data
    return data if len(data) < MOST_TRACE else b'{"traceEvents":[]}'


def _unless_refused(make: Callable[[], object]) -> None:
    with suppress(OSError, ValueError):
        make()


def _trace(drawn: Folder) -> None:
    data = drawn.trace()
    if drawn.random.random() < 0.2:
        data = drawn.damaged(gzip.compress(data, 1))
    path = drawn.folder() / drawn.name()
    # A link to a trace elsewhere is followed: large recordings are kept elsewhere.
    if drawn.random.random() < 0.9:
        drawn.write(path, data)
    else:
        way = drawn.random.randrange(3)
        make = (lambda: os.mkfifo(path), path.mkdir, lambda: path.symlink_to("/dev/zero"))[way]
        _unless_refused(make)


def _archive(drawn: Folder) -> None:
    packed = io.BytesIO()
    (_zip if drawn.random.random() < 0.5 else _tar)(drawn, packed)
    ending = drawn.random.choice([".zip", ".tar", ".tar.gz", ".tgz"])
    data = packed.getvalue()
    if ending in (".tar.gz", ".tgz") and drawn.random.random() < 0.8:
        data = gzip.compress(data, 1)
    if drawn.random.random() < 0.5:
        data = drawn.damaged(data)
    drawn.write(drawn.folder() / drawn.name(ending), data)


def _member(drawn: Folder) -> str:
    start = drawn.random.choice(
        ["", "run/", "../", "../../outside/", "/", "./", "a/../../", "C:\\", "//", "..\\"]
    )
    return start + drawn.random.choice(
        ["secret.json", "tour.json", drawn.name(), drawn.name(".json")]
    )


def _zip(drawn: Folder, target: io.BytesIO) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for _ in range(drawn.random.randrange(4)):
            info = zipfile.ZipInfo(_member(drawn).encode("utf-8", "replace").decode())
            info.compress_type = drawn.random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
            if drawn.random.random() < 0.2:
                info.external_attr = 0o120777 << 16
            data = (
                drawn.trace()
                if drawn.random.random() < 0.8
                else str(drawn.outside / "secret.json").encode()
            )
            archive.writestr(info, data)
            if drawn.random.random() < 0.1:
                info.flag_bits |= 1
            if drawn.random.random() < 0.1:
                info.file_size = drawn.random.choice([0, 1, 1 << 31])


def _tar(drawn: Folder, target: io.BytesIO) -> None:
    with tarfile.open(fileobj=target, mode="w", errors="surrogateescape") as archive:
        for _ in range(drawn.random.randrange(4)):
            info = tarfile.TarInfo(_member(drawn))
            if drawn.random.random() < 0.25:
                info.type = drawn.random.choice(
                    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
                )
                info.linkname = str(drawn.outside / "secret.json")
                archive.addfile(info)
            else:
                data = drawn.trace()
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


class _Runs:
    """A pickle of it runs something when it is read carelessly."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (self._path, "w"))


def _snapshot(drawn: Folder) -> None:
    device = Allocator()
    held = [device.alloc(drawn.random.choice([512, 1 << 20, 5 << 20])) for _ in range(3)]
    for address in held[: drawn.random.randrange(3)]:
        _unless_refused(lambda address=address: device.free(address))  # type: ignore[misc]
    value: Any = snapshot(device)
    if drawn.random.random() < 0.6:
        value = drawn.changed(value)
    data = pickled(value, drawn.random.randrange(2, 6))
    if drawn.random.random() < 0.15:
        data = pickle.dumps(
            {"segments": [], "device_traces": [[_Runs(str(drawn.outside / "made"))]]}
        )
    drawn.write(drawn.folder() / drawn.name(".pickle"), drawn.damaged(data))


def _live(drawn: Folder) -> None:
    live = drawn.folder() / ".live"
    if drawn.random.random() < 0.1:
        _unless_refused(lambda: live.symlink_to(drawn.outside))
        return
    _unless_refused(live.mkdir)
    if live.is_symlink():
        return
    for rank in range(drawn.random.randrange(3)):
        path = live / f"rank{rank}.json"
        if live.is_dir() and not drawn.in_place_of(path):
            address = drawn.random.choice(
                ["127.0.0.1:9", "unix:/nowhere", "x", ":99999", "127.0.0.1:", "\ud800"]
            )
            drawn.write(path, drawn.json({"rank": rank, "address": address, "process": 1}))
            mode = drawn.random.choice([0o600, 0o600, 0o644, 0o666])
            _unless_refused(lambda path=path, mode=mode: path.chmod(mode))  # type: ignore[misc]
    if live.is_dir() and drawn.random.random() < 0.5 and not drawn.in_place_of(live / "token"):
        drawn.write(live / "token", drawn.damaged(b"k" * 32))


def _tour(drawn: Folder) -> None:
    path = drawn.root / "tour.json"
    if drawn.in_place_of(path):
        return
    runs = [p.name for p in drawn.root.iterdir() if p.is_dir()] or ["logs"]
    link = f"view=overview&run={drawn.random.choice(runs)}&worker=rank0"
    drawn.write(
        path, drawn.json({"sentences": ["Look."], "places": [{"text": "Here", "link": link}]})
    )


def _captures(drawn: Folder) -> None:
    home = drawn.folder()
    folder = home / "capture_traces"
    _unless_refused(folder.mkdir)
    if folder.is_dir():
        drawn.write(home / "rank0.pt.trace.json", drawn.trace())
        drawn.write(folder / "bs_32_rank0.json", drawn.trace())
        details = [{"file": "bs_32_rank0.json", "batch_size": 32, "mode": "FULL"}]
        if not drawn.in_place_of(folder / "execution_details.json"):
            drawn.write(folder / "execution_details.json", drawn.json(details))


def _log(drawn: Folder) -> None:
    header = b'V1126 02:15:37.000000 1 torch/_dynamo.py:1] {"artifact": {"name": "inductor_output_code"}, "has_payload": "x"}\n'
    drawn.write(
        drawn.folder() / "dedicated_log_torch_trace_rank_0.log",
        drawn.damaged(header + b"\tcode\n" * 5),
    )


def _odd(drawn: Folder) -> None:
    drawn.write(drawn.folder() / drawn.name(), drawn.random.choice(_ODD_TEXTS))


def _cycle(drawn: Folder) -> None:
    _unless_refused(lambda: (drawn.folder() / drawn.name("")).symlink_to(drawn.root))


_KINDS = (
    _trace,
    _trace,
    _trace,
    _archive,
    _archive,
    _snapshot,
    _live,
    _live,
    _tour,
    _captures,
    _log,
    _odd,
    _cycle,
)
