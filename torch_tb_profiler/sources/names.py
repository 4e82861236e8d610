"""What the names of files and folders tell: run, worker, span, rank and place in the job. ``FORMS`` is the table of how
frameworks name them; without one of its forms::

    worker0.1623143089861.pt.trace.json      worker "worker0"   span "1623143089861"   suffix ".pt.trace.json"
    rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz      worker "rank-0.Apr_03_18_51_38"   span "1102"
    rank0.pt.trace.json.gz                   worker "rank0"     span ""
    my_trace.json.zst                        worker "my_trace"  span ""                suffix ".json.zst"
    rank0.pickle                             worker "rank0"     span ""                suffix ".pickle"        a memory snapshot
    rank0.raw.json.gz                        worker "rank0"     span ""                suffix ".raw.json.gz"   a memory timeline
    stacks_cuda.txt                          worker "stacks_cuda"   span ""    suffix ".txt"   folded stacks (.txt needs "stack" or "folded")
    rank0.pftrace.gz                         worker "rank0"     span ""                suffix ".pftrace.gz"    a Perfetto trace
    report1.sqlite                           worker "report1"   span ""                suffix ".sqlite"        a database of Nsight Systems or nvprof
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, Literal

import msgspec

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.units import format_date

RankSource = Literal["distributedInfo", "file name", "order"]
"""What tells a rank: the file itself, its name, or, as a guess, the order of names."""
UNNAMED_SPAN = "trace"
"""Span name for files without one. Named spans are digits, so the two cannot clash."""

_PACKED = r"(?:\.(?:gz|zst|zlib))"
_HANDLER = regex(
    rf"^(?P<worker>.+?)(?:\.(?P<span>\d{{1,40}}))?(?P<suffix>\.pt\.trace\.json{_PACKED}*)$",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_DATABASES = r"\.sqlite3?|\.db|\.sql|\.nvvp|\.nvprof"
_STACKS = r"\.txt|\.folded|\.stacks"
_PERFETTO = r"\.pftrace|\.perfetto-trace|\.pb"
_OTHER_TOOLS = r"\.chrome_trace|\.hatchet"
"""Endings of Triton's Proton."""
_OTHER_TEXT = r"(?!(?!.*(?:stack|folded)).*\.txt$)(?!chromium_events\.json$)(?!index\.html$)"
"""Log folders are full of .txt files; only those named after stacks are traces. tlparse writes the times of the compiler as a trace."""
_OTHER = regex(
    rf"^{_OTHER_TEXT}(?P<worker>.+?)(?P<suffix>(?:(?:\.raw)?\.json|\.pickle|\.pkl|{_DATABASES}|{_STACKS}|{_PERFETTO})?{_PACKED}+"
    rf"|\.json|\.pickle|\.pkl|{_DATABASES}|{_STACKS}|{_PERFETTO}|{_OTHER_TOOLS}|\.nsys-rep|\.qdrep|\.qdstrm|\.ncu-rep|\.html)$",
    re.IGNORECASE | re.DOTALL,
)
_EXTRA = regex(rf"\.raw\.json{_PACKED}+$|(?:\.pickle|\.pkl|{_STACKS}){_PACKED}*$", re.IGNORECASE)
_DUMP = regex(r"(?P<worker>[^.]*(?:trace|rank|dump|nccl|flight)[^.]*\d)(?P<suffix>)", re.IGNORECASE)
"""The Flight Recorder's dumps of each rank have no ending; a prefix before the rank can be chosen."""
_DIMENSIONS = r"d?cp|dp|ep|etp|pp|sp|tp"
_ALONE = r"(?<![a-zA-Z0-9])"
_NO_SIZE = "".join(
    rf"(?<!{before}(?:{words})[-_])"
    for words in ("cp|dp|ep|pp|sp|tp", "dcp|etp", "low|num|max", "lora")
    for before in ("^", "[^a-zA-Z]")
)
"""Not behind one of these: a rank of a dimension (``dp_rank_0``) is none of the job, and ``8gpu``, ``num_worker_8`` and
``lora_rank_8`` are sizes.
"""
_RANK = regex(
    rf"(?:{_ALONE}|(?<=[a-zA-Z]\d)|(?<=[a-zA-Z]\d\d)){_NO_SIZE}(?<!local[-_])rank[-_=. \[]?(\d{{1,7}})(?!\d)",
    re.IGNORECASE | re.ASCII,
)
_BEHIND = regex(r"#(\d{1,7})$", re.ASCII)
_WORLD = regex(r"rank[-_]?\d{1,7}[-_]of[-_](\d{1,7})(?!\d)", re.IGNORECASE | re.ASCII)
_LOCAL_RANK = regex(
    r"(?<![a-zA-Z])(?:local[-_]?)?rank[-_=. \[]?(\d{1,7})(?!\d)", re.IGNORECASE | re.ASCII
)
_NODE = regex(r"(?<![a-zA-Z0-9])(?:node|host|machine)[-_=]?(\d{1,5})(?!\d)", re.I | re.ASCII)
_PROCESS = regex(
    rf"{_ALONE}{_NO_SIZE}(?:worker|trainer|process|proc)[-_=]?(\d{{1,7}})(?![a-zA-Z0-9])",
    re.IGNORECASE | re.ASCII,
)
_DEVICE = regex(
    rf"{_ALONE}{_NO_SIZE}(?:gpu|device)[-_=]?(\d{{1,7}})(?![a-zA-Z0-9])", re.IGNORECASE | re.ASCII
)
"""``gpu4`` may as well be how many there are."""
_ONLY_TP = regex(r"^TP-(\d{1,7})$", re.ASCII)
"""SGLang names other places only where there are several."""
_BARE = regex(r"(?:^|[-_.])(\d{1,7})$|^(?P<first>\d{1,7})_trace$", re.ASCII)
_DIMENSION = regex(
    rf"(?<![a-zA-Z])({_DIMENSIONS})(?:[-_]?rank)?[-_=]?(\d{{1,6}})(?!\d)", re.IGNORECASE | re.ASCII
)
_SLOWEST_FIRST = ("DP", "PP", "CP", "DCP", "TP")
"""The order in which vLLM, SGLang and Megatron count the ranks of a job."""
_TIME = regex(r"(?<!\d)(\d{19}|\d{16}|\d{13}|\d{10})(?:\.\d{1,9})?(?!\d)", re.ASCII)


class Form(msgspec.Struct, frozen=True):
    """How frameworks name what they record: a row of ``names.txt``.

    Attributes:
        frameworks: which do.
        example: a path of theirs.
        folder: matches a last part of the folder's path that is no part of the run's. Its group ``part`` names the recording,
            ``worker`` the worker where the file's own name tells no rank.
        name: matches the whole of a file name before its number and suffix. ``worker`` is what all recordings of a worker
            share, with ``rank`` behind it; ``part`` and ``then`` name the recording.
    """

    frameworks: str
    example: str
    folder: str = ""
    name: str = ""


FORMS = tuple(
    Form(**{key: value for key, (value,) in row.items()}) for row in rows_beside(__file__)
)
"""The first row whose pattern matches is taken, of folders and of names apart. Of other names that tell a rank, the parts that
number or date the recording (``_RECORDING``) are taken out of the worker.
"""
_RECORDING = regex(
    r"(?:^|(?<=[-_.]))(?:(?:global_)?(?:step|iter(?:ation)?|epoch|cycle|batch|stage|request)[-_]?\d{1,20}"
    r"|\d{19}|\d{17}|\d{16}|\d{13}|\d{10})(?:[-_.]|$)",
    re.IGNORECASE | re.ASCII,
)
_FOLDERS = [regex(rf"(?:^|/){row.folder}", re.ASCII) for row in FORMS if row.folder]
_NAMES = [regex(row.name, re.ASCII) for row in FORMS if row.name]
_LONGEST_NAME = 1_000
"""Characters of a name that forms are looked for in; file systems allow 255."""


class TraceName(msgspec.Struct, frozen=True):
    """The parts of a trace's path.

    Attributes:
        worker: the same for all recordings of a worker.
        span: the number in the file's name, often a time; empty if none.
        suffix: the file's ending, from a dot on.
        run: the folder of the run, relative to the logdir.
        recording: what else names the recording, such as ``iteration_10``.
        aside: whether it is what a merged file holds of no rank.
    """

    worker: str
    span: str
    suffix: str
    run: str = ""
    recording: str = ""
    aside: bool = False

    @property
    def by_handler(self) -> bool:
        """Whether ``tensorboard_trace_handler`` gives such names, so the file claims to be a trace."""
        return ".pt.trace.json" in self.suffix.lower()

    @property
    def extra(self) -> bool:
        """Whether this is a snapshot, memory timeline or folded stacks, or of no rank: never a rank of its own."""
        return self.aside or _EXTRA.search(self.suffix) is not None


def parse(file_name: str, folder: str = "") -> TraceName | None:
    """The parts of a file name; None if no trace has its suffix (.json .pickle .gz .txt ...)."""
    match = _HANDLER.match(file_name) or _OTHER.match(file_name) or _DUMP.fullmatch(file_name[:256])
    if match is None:
        return None
    parts = match.groupdict()
    stem, span = parts["worker"], parts.get("span") or ""
    run, above, recording = _in_folder(folder)
    worker, own = _in_name(stem, ranked=bool(above))
    if above and not _tells_apart(worker):
        worker = above
    recording = "-".join(filter(None, (recording, own)))
    return TraceName(worker, span, parts["suffix"], run, recording)


def run_of(folder: str) -> str:
    """The run that a folder's files are of, as ``TraceName.run``: it, or one above it."""
    return _in_folder(folder)[0]


def _in_folder(folder: str) -> tuple[str, str, str]:
    """The run's folder, and the worker and the recording that the last folders name."""
    worker, parts = "", []
    while match := next(filter(None, (pattern.search(folder) for pattern in _FOLDERS)), None):
        folder = (folder[: match.start()] + folder[match.end() :]).strip("/")
        told = match.groupdict()
        worker = worker or told.get("worker") or ""
        parts.append(told.get("part") or "")
    return folder, worker, "-".join(filter(None, reversed(parts)))


def _in_name(stem: str, ranked: bool) -> tuple[str, str]:
    """The worker and the recording that a file name tells; ``ranked``: its folder tells the rank."""
    for pattern in _NAMES if len(stem) <= _LONGEST_NAME else ():
        if (match := pattern.fullmatch(stem)) is not None:
            told = match.groupdict()
            worker = told["worker"] + (told.get("rank") or "")
            return worker, "-".join(filter(None, (told["part"], told.get("then"))))
    if len(stem) > _LONGEST_NAME or not (ranked or _tells_apart(stem)):
        return stem, ""
    found = [match.strip("-_.") for match in _RECORDING.findall(stem)]
    worker = _RECORDING.sub("", stem).strip("-_.")
    return (worker, "-".join(found)) if ranked or _tells_apart(worker) else (stem, "")


@lru_cache(maxsize=1 << 16)
def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts ``rank2`` before ``rank10``; distinct texts have distinct keys."""
    # Python's int() accepts at most 4,300 digits, and a web index may list any name.
    parts = re.split(r"(\d{1,4000})", text, flags=re.ASCII)
    return (
        *((1, int(p), p) if i % 2 else (0, 0, p.casefold()) for i, p in enumerate(parts)),
        (0, 0, text),
    )


def span_order(name: TraceName) -> tuple[Any, ...]:
    """Sort key for one worker's spans: traces first, then by number (unnamed first), recording and suffix."""
    number = int(name.span or 0)
    return (
        name.extra,
        1 if name.span else 0,
        number,
        natural(name.recording),
        name.span + name.suffix,
    )


def span_names(files: Sequence[TraceName]) -> list[str]:
    """Unique names for the spans of one worker; the suffix is added only where two would clash."""
    texts = [".".join(filter(None, (f.recording, f.span))) or UNNAMED_SPAN for f in files]
    return unique(
        t + f.suffix if texts.count(t) > 1 else t for t, f in zip(texts, files, strict=True)
    )


def span_label(position: int, span: str) -> str:
    """Display name of a span: its position from 1, what it is called, and its time where the name holds a timestamp."""
    match = _TIME.search(span)
    written = _timestamp(match.group(1)) if match else None
    if match is None or written is None:
        return f"{position + 1} · {span}" if span else str(position + 1)
    called = " ".join(
        filter(None, (part.strip("-_.") for part in (span[: match.start()], span[match.end() :])))
    )
    time = format_date(int(written.timestamp()) * 10**9, time=True)
    return " · ".join(filter(None, (str(position + 1), called, time)))


def _timestamp(span: str) -> datetime | None:
    # tensorboard_trace_handler wrote milliseconds up to PyTorch 2.1 and nanoseconds since; other
    # lengths are not timestamps.
    factor = {10: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}.get(len(span))
    if factor is None or not span.isdigit():
        return None
    return datetime.fromtimestamp(int(span) // factor, tz=timezone.utc)


def told_ranks(workers: Sequence[str]) -> list[tuple[int | None, RankSource]]:
    """The rank in each worker's name, None if unknown, and what tells it; the workers are those of one run.

    ``rank3 rank-3 rank_3 rank=3`` are explicit, and so are ``worker3 process_3``, and ``gpu_3`` if the names count the devices from
    0 on: a lone ``gpu4``, ``8x`` or ``tp2`` is a size. The rest is a guess by the order of
    the names ("order"): places in the job (``TP-1-PP-0``) and ranks of nodes (``node1_rank0``) counted through, and a bare trailing
    number (``trace_3``), which counts only if the run's numbers are distinct and start at 0, because the
    handler's default name, ``host_4242``, ends with a process id.
    """
    ranks = [_explicit_rank(worker) for worker in workers]
    devices = [int(match[1]) if (match := _DEVICE.search(w)) else None for w in workers]
    if ranks.count(None) == len(ranks) > 1 and set(devices) == set(range(len(devices))):
        ranks = devices
    on_nodes = _on_nodes(workers)
    if on_nodes is not None:
        return [(number, "order") for number in on_nodes]
    if ranks.count(None) == len(ranks) and (places := places_by_name(workers)):
        guess: RankSource = "order" if len(places) > 1 else "file name"
        return [(number, guess) for number in _counted(places)]
    bare = {w: int(m.group(1) or m["first"]) for w in workers if (m := _BARE.search(w))}
    if len(bare) == len(workers) == len(set(bare.values())) and 0 in bare.values():
        return [
            (bare[w], "order") if r is None else (r, "file name")
            for r, w in zip(ranks, workers, strict=True)
        ]
    return [(r, "order" if r is None else "file name") for r in ranks]


def _on_nodes(workers: Sequence[str]) -> list[int | None] | None:
    """Ranks that count anew on every node, counted through; unknown unless all nodes have equally many. None: the names tell no
    nodes, or ranks that differ without them.
    """
    told = [(_NODE.search(w), _LOCAL_RANK.search(w)) for w in workers]
    places = [(int(node[1]), int(rank[1])) for node, rank in told if node and rank]
    if len(places) != len(workers) or len(set(places)) != len(places):
        return None
    locals_ = {rank for _, rank in places}
    if len(locals_) == len(places):
        return None
    nodes = {node for node, _ in places}
    whole = locals_ == set(range(len(locals_))) and nodes == set(range(len(nodes)))
    if whole and len(nodes) * len(locals_) == len(places):
        return [node * len(locals_) + rank for node, rank in places]
    return [None] * len(places)


def ranks_by_name(workers: Sequence[str]) -> list[int | None]:
    """The ranks of ``told_ranks``."""
    return [rank for rank, _ in told_ranks(workers)]


def told_world(worker: str) -> int | None:
    """The number of ranks that a worker's name tells (``rank3-of-8``), None if none."""
    match = _WORLD.search(worker)
    return int(match[1]) if match else None


def is_front_end(worker: str) -> bool:
    """Whether a name is that of a server's process that launches nothing on a device, and so is no rank (vLLM's)."""
    return worker.endswith(".async_llm")


def places_by_name(workers: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The place of each worker in the dimensions that all their names tell, by dimension.

    ``tp4_dp2`` may as well be the sizes of a job: a dimension counts only if the places of a run begin at 0 and leave no gap,
    and all of them only if they tell the workers apart. A single ``ep`` may be an epoch.
    """
    told = [{word.upper(): int(n) for word, n in _DIMENSION.findall(worker)} for worker in workers]
    if not told or any(places.keys() != told[0].keys() for places in told):
        return {}
    if not told[0].keys() & set(_SLOWEST_FIRST):
        return {}
    found = {name: tuple(places[name] for places in told) for name in told[0]}
    gapless = {n: p for n, p in found.items() if len(set(p)) == max(p) + 1}
    return gapless if len(set(zip(*gapless.values(), strict=True))) == len(workers) else {}


def _counted(places: Mapping[str, Sequence[int]]) -> Iterable[int | None]:
    """The rank of each worker: the fewest of the fast dimensions that tell all apart, counted through."""
    for first in reversed(range(len(_SLOWEST_FIRST))):
        used = [places[name] for name in _SLOWEST_FIRST[first:] if name in places]
        if used and len(set(zip(*used, strict=True))) == len(used[0]):
            sizes = [max(dimension) + 1 for dimension in used]
            return [_number(place, sizes) for place in zip(*used, strict=True)]
    return [None] * len(next(iter(places.values())))


def _number(place: Sequence[int], sizes: Sequence[int]) -> int:
    number = 0
    for index, size in zip(place, sizes, strict=True):
        number = number * size + index
    return number


def _explicit_rank(worker: str) -> int | None:
    match = _RANK.search(worker) or _BEHIND.search(worker) or _PROCESS.search(worker)
    match = match or _ONLY_TP.search(worker)
    return int(match.group(1)) if match else None


def _tells_apart(worker: str) -> bool:
    """Whether a name tells one of several processes or devices."""
    return _explicit_rank(worker) is not None or _DEVICE.search(worker) is not None


def unique(texts: Iterable[str]) -> list[str]:
    """The texts, with `` (2)``, `` (3)`` appended to repeated ones."""
    names: dict[str, None] = {}
    for text in texts:
        name, n = text, 1
        while name in names:
            n += 1
            name = f"{text} ({n})"
        names[name] = None
    return list(names)
