"""Parse file names into worker, span and suffix, and infer ranks from worker names.

::

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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache

UNNAMED_SPAN = "trace"
"""Span name for files without one. Named spans are digits, so the two cannot clash."""

_HANDLER = re.compile(
    r"^(?P<worker>.+?)(?:\.(?P<span>\d{1,40}))?(?P<suffix>\.pt\.trace\.json(?:\.(?:gz|zst))?)$",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_DATABASES = r"\.sqlite3?|\.db|\.sql|\.nvvp|\.nvprof"
_STACKS = r"\.txt|\.folded|\.stacks"
_PERFETTO = r"\.pftrace|\.perfetto-trace|\.pb"
_OTHER_TEXT = r"(?!(?!.*(?:stack|folded)).*\.txt$)"
"""Log folders are full of .txt files; only those named after stacks are traces."""
_OTHER = re.compile(
    rf"^{_OTHER_TEXT}(?P<worker>.+?)(?P<suffix>(?:(?:\.raw)?\.json|\.pickle|\.pkl|{_DATABASES}|{_STACKS}|{_PERFETTO})?\.(?:gz|zst)"
    rf"|\.json|\.pickle|\.pkl|{_DATABASES}|{_STACKS}|{_PERFETTO}|\.nsys-rep|\.qdrep)$",
    re.IGNORECASE | re.DOTALL,
)
_EXTRA = re.compile(
    rf"\.raw\.json\.(?:gz|zst)$|(?:\.pickle|\.pkl|{_STACKS})(?:\.(?:gz|zst))?$", re.IGNORECASE
)
_RANK = re.compile(r"(?<![a-zA-Z])rank[-_=. ]?(\d{1,7})(?!\d)", re.IGNORECASE | re.ASCII)
_PROCESS = re.compile(
    r"(?<![a-zA-Z])(?:worker|trainer|gpu|device|process|proc)[-_=]?(\d{1,7})(?!\d)",
    re.IGNORECASE | re.ASCII,
)
_BARE = re.compile(r"(?:^|[-_.])(\d{1,7})$", re.ASCII)


@dataclass(frozen=True)
class TraceName:
    """The parts of a trace's file name."""

    worker: str
    span: str
    suffix: str

    @property
    def by_handler(self) -> bool:
        """Whether ``tensorboard_trace_handler`` gives such names, so the file claims to be a trace."""
        return ".pt.trace.json" in self.suffix.lower()

    @property
    def extra(self) -> bool:
        """Whether this is a snapshot, memory timeline or folded stacks: never a rank of its own."""
        return _EXTRA.search(self.suffix) is not None


def parse(file_name: str) -> TraceName | None:
    """The parts of a file name; None if no trace has its suffix (.json .pickle .gz .txt ...)."""
    match = _HANDLER.match(file_name) or _OTHER.match(file_name)
    if match is None:
        return None
    parts = match.groupdict()
    return TraceName(parts["worker"], parts.get("span") or "", parts["suffix"])


@lru_cache(maxsize=1 << 16)
def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts ``rank2`` before ``rank10``; distinct texts have distinct keys."""
    # Python's int() accepts at most 4,300 digits, and a web index may list any name.
    parts = re.split(r"(\d{1,4000})", text, flags=re.ASCII)
    return (
        *((1, int(p), p) if i % 2 else (0, 0, p.casefold()) for i, p in enumerate(parts)),
        (0, 0, text),
    )


def span_order(name: TraceName) -> tuple[bool, int, int, str]:
    """Sort key for one worker's spans: traces first, then by number (unnamed first), then suffix."""
    return (name.extra, 1 if name.span else 0, int(name.span or 0), name.span + name.suffix)


def span_names(files: Sequence[TraceName]) -> list[str]:
    """Unique names for the spans of one worker; the suffix is added only where two would clash."""
    texts = [f.span or UNNAMED_SPAN for f in files]
    return [t + f.suffix if texts.count(t) > 1 else t for t, f in zip(texts, files, strict=True)]


def span_label(position: int, span: str) -> str:
    """Display name of a span: its position from 1, and its time where the name is a timestamp."""
    written = _timestamp(span)
    if written is not None:
        return f"{position + 1} · {written:%Y-%m-%d %H:%M:%S} UTC"
    return f"{position + 1} · {span}" if span else str(position + 1)


def _timestamp(span: str) -> datetime | None:
    # tensorboard_trace_handler wrote milliseconds up to PyTorch 2.1 and nanoseconds since; other
    # lengths are not timestamps.
    factor = {10: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}.get(len(span))
    if factor is None or not span.isdigit():
        return None
    return datetime.fromtimestamp(int(span) // factor, tz=timezone.utc)


def ranks_by_name(workers: Sequence[str]) -> list[int | None]:
    """The rank in each worker's name, None if unknown; the workers are those of one run.

    ``rank3 rank-3 rank_3 rank=3`` are explicit, and so are ``worker3 gpu_3 ...``. A bare trailing
    number (``trace_3``) counts only if the run's numbers are distinct and start at 0, because the
    handler's default name, ``host_4242``, ends with a process id.
    """
    ranks = [_explicit_rank(worker) for worker in workers]
    bare = {w: int(m.group(1)) for w in workers if (m := _BARE.search(w))}
    if len(bare) == len(workers) == len(set(bare.values())) and 0 in bare.values():
        return [bare[w] if r is None else r for r, w in zip(ranks, workers, strict=True)]
    return ranks


def _explicit_rank(worker: str) -> int | None:
    match = _RANK.search(worker) or _PROCESS.search(worker)
    return int(match.group(1)) if match else None


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
