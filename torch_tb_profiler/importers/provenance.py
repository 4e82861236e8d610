"""Reads the logs of torch.compile: a ``TORCH_TRACE`` folder, or what tlparse made of one.

::

    dedicated_log_torch_trace_rank_0_x.log        V1122 15:43:45.177000 18350 torch/….py:1404] {"artifact": {"name": …}, "frame_id": 0, …}
    raw.log                                       ⇥payload, each line behind a tab
    -_0_0_0/inductor_output_code_c4cu…_29.html    the payloads alone (tlparse); the last number counts up

The artifacts of one graph follow each other, from its nodes to its key in the cache.
"""

from __future__ import annotations

import html
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO

import msgspec

from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.importers.inductor_code import ERRORS, GraphLog, graph_key, kernels_of
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_bytes
from torch_tb_profiler.store.provenance import CompiledKernel, Provenance
from torch_tb_profiler.untrusted import is_among, kernel_places

MOST_FILES = 4096
MOST_FOLDERS = 256
"""Folders looked into beside a trace."""
MOST_BYTES = 1 << 30
"""Bytes read of one log."""
MOST_PAYLOAD = 64 << 20
"""Bytes of one artifact."""
MOST_KERNELS = 1_000_000
LONGEST_LINE = 1 << 20
_HEADER = re.compile(rb"(?:\[[^\]]{1,40}\]:)?[A-Z]\d{4} [\d:.]+ \d+ \S+\] (?=\{)")
_RANK = re.compile(r"_rank_(\d{1,9})_")
_NUMBERED = re.compile(
    r"(?P<name>\w+?)(?:_(?P<hash>[a-z0-9]{40,}))?_(?P<number>\d{1,9})\.(?:json|txt|html|py)$"
)
_TAG = re.compile(r"<[^>]*>")
_CODE, _GRAPH = "inductor_output_code", "inductor_post_grad_graph"
_MAPPINGS = "inductor_provenance_tracking_node_mappings"
_STACKS = "inductor_provenance_tracking_kernel_stack_traces"
_KEYS = ("fx_graph_cache_hit", "fx_graph_cache_miss", "fx_graph_cache_bypass")
_WANTED = frozenset((_CODE, _GRAPH, _MAPPINGS, _STACKS, *_KEYS))
LONG, CUT = "artifacts that are too long", "logs that were not read to their end"
BAD_HEADER, UNREADABLE = "entries that are damaged", "files that cannot be read"


class _Artifact(msgspec.Struct, frozen=True):
    """``of``: what was compiled (frame and attempt)."""

    of: str
    name: str
    payload: bytes


def logs_at(folder: str) -> list[str]:
    """Logs of torch.compile in a folder, and the folder itself if it holds tlparse's artifacts."""
    logs, artifacts = list[str](), False
    try:
        if is_among(os.stat(folder), kernel_places()):
            return []
        with os.scandir(folder) as entries:
            for _, entry in zip(range(MOST_FILES), entries, strict=False):
                if entry.name.endswith(".log") and entry.is_file() and _is_log(entry.path):
                    logs.append(entry.path)
                elif entry.name == "compile_directory.json":
                    artifacts = True
    except OSError:
        return []
    return sorted(logs) or ([folder] if artifacts else [])


def logs_within(folder: str) -> list[str]:
    """Logs in a folder of this machine, and in the folders in it."""
    logs = logs_at(folder)
    try:
        with os.scandir(folder) as entries:
            inner = [entry.path for entry in entries if _is_folder(entry)]
    except OSError:
        return logs
    return logs + [log for path in sorted(inner)[:MOST_FOLDERS] for log in logs_at(path)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir() and not entry.name.startswith(".")
    except OSError:
        return False


def _is_log(path: str) -> bool:
    try:
        file, _ = open_bytes(Place(path))
        with file:
            return _HEADER.match(file.readline(LONGEST_LINE)) is not None
    except (SourceError, OSError):
        return False


def of_rank(logs: list[str], rank: int | None) -> list[str]:
    """The logs of a rank, and those that name none; all if none is of that rank."""
    ranks = {
        log: match and int(match[1])
        for log in logs
        for match in [_RANK.search(os.path.basename(log))]
    }
    if rank is None or rank not in ranks.values():
        return logs
    return [log for log in logs if ranks[log] in (None, rank)]


def read_provenance(logs: Iterable[str]) -> Provenance:
    """What some logs (of ``logs_at``) tell; what cannot be used is counted."""
    problems: Counter[str] = Counter()
    kernels: dict[CompiledKernel, None] = {}
    for log in logs:
        artifacts = _of_folder(log, problems) if os.path.isdir(log) else _of_log(log, problems)
        for graph in _graphs(artifacts, problems):
            for kernel in kernels_of(graph, problems):
                if len(kernels) < MOST_KERNELS:
                    kernels[kernel] = None
    return Provenance(tuple(kernels), dict(problems))


def _graphs(artifacts: Iterable[_Artifact], problems: Counter[str]) -> Iterator[GraphLog]:
    """The graphs of a log, each with its artifacts."""
    open_: dict[str, GraphLog] = {}
    for artifact in artifacts:
        graph = open_.setdefault(artifact.of, GraphLog())
        text = (
            artifact.payload.decode("utf-8", "replace") if artifact.name in (_CODE, _GRAPH) else ""
        )
        begins = (artifact.name == _GRAPH and (graph.graph or graph.code)) or (
            artifact.name == _CODE and graph.code
        )
        if begins:
            yield graph
            graph = open_[artifact.of] = GraphLog()
        if artifact.name == _GRAPH:
            graph.graph = text
        elif artifact.name == _CODE:
            graph.code = text
        elif artifact.name == _MAPPINGS:
            graph.mappings = artifact.payload
        elif artifact.name == _STACKS:
            graph.stacks = artifact.payload
        else:
            graph.key = graph_key(artifact.payload, problems)
            yield open_.pop(artifact.of)
    yield from open_.values()


def _of_log(path: str, problems: Counter[str]) -> Iterator[_Artifact]:
    try:
        file, _ = open_bytes(Place(path))
        with file:
            yield from _entries(file, problems)
    except (SourceError, OSError):
        problems[UNREADABLE] += 1


def _entries(file: IO[bytes], problems: Counter[str]) -> Iterator[_Artifact]:
    """The wanted artifacts of a log, in order."""
    wanted: tuple[str, str] | None = None
    payload, size, read, begins = list[bytes](), 0, 0, True
    while (line := file.readline(LONGEST_LINE)) and read < MOST_BYTES:
        read += len(line)
        whole, begins = begins, line.endswith(b"\n")
        if not whole or line[:1] == b"\t":
            if wanted is not None and size <= MOST_PAYLOAD:
                payload.append(line[1:] if whole else line)
                size += len(line)
            continue
        if wanted is not None:
            yield from _finished(wanted, payload, size, problems)
        payload, size, wanted = [], 0, None
        match = _HEADER.match(line)
        if match is not None and (b"inductor_" in line or b"fx_graph_cache_" in line):
            wanted = _wanted(line[match.end() :], problems)
    if wanted is not None:
        yield from _finished(wanted, payload, size, problems)
    if line:
        problems[CUT] += 1


def _finished(
    wanted: tuple[str, str], payload: list[bytes], size: int, problems: Counter[str]
) -> Iterator[_Artifact]:
    if size > MOST_PAYLOAD:
        problems[LONG] += 1
    else:
        yield _Artifact(*wanted, b"".join(payload))


def _wanted(text: bytes, problems: Counter[str]) -> tuple[str, str] | None:
    """(what was compiled, name) of the artifact that an entry announces; None of another one."""
    try:
        entry = msgspec.json.decode(text)
    except ERRORS:
        problems[BAD_HEADER] += 1
        return None
    if not isinstance(entry, dict) or "has_payload" not in entry:
        return None
    artifact = entry.get("artifact")
    name = artifact.get("name") if isinstance(artifact, dict) else None
    name = name if isinstance(name, str) else next((key for key in entry if key in _WANTED), "")
    if name not in _WANTED:
        return None
    compiled = ("compiled_autograd_id", "frame_id", "frame_compile_id", "attempt")
    return "/".join(str(entry.get(key))[:40] for key in compiled), name


def _of_folder(folder: str, problems: Counter[str]) -> Iterator[_Artifact]:
    """The artifacts that tlparse wrote, a folder per compilation, in the order of their numbers."""
    for inner in sorted(entry.path for entry in os.scandir(folder) if _is_folder(entry)):
        found = []
        for name in os.listdir(inner)[:MOST_FILES]:
            match = _NUMBERED.match(name)
            if match is not None and match["name"] in _WANTED:
                found.append((int(match["number"]), match["name"], os.path.join(inner, name)))
        for _, name, path in sorted(found):
            text = _whole(path, problems)
            if text is not None:
                yield _Artifact(os.path.basename(inner), name, text)


def _whole(path: str, problems: Counter[str]) -> bytes | None:
    try:
        file, _ = open_bytes(Place(path))
        with file:
            text = file.read(MOST_PAYLOAD + 1)
    except (SourceError, OSError):
        problems[UNREADABLE] += 1
        return None
    if len(text) > MOST_PAYLOAD:
        problems[LONG] += 1
        return None
    if path.endswith(".html"):
        return html.unescape(_TAG.sub("", text.decode("utf-8", "replace"))).encode(
            "utf-8", "replace"
        )
    return text
