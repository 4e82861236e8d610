"""File names ⇄ (worker, span), and the ranks that names tell.

::

    worker0.1623143089861.pt.trace.json      worker "worker0"   span "1623143089861"   suffix ".pt.trace.json"
    rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz      worker "rank-0.Apr_03_18_51_38"   span "1102"
    rank0.pt.trace.json.gz                   worker "rank0"     span ""
    my_trace.json.zst                        worker "my_trace"  span ""                suffix ".json.zst"
    rank0.pickle                             worker "rank0"     span ""                suffix ".pickle"        a memory snapshot
    rank0.raw.json.gz                        worker "rank0"     span ""                suffix ".raw.json.gz"   a memory timeline
    stacks_cuda.txt                          worker "stacks_cuda"   span ""        suffix ".txt"           folded stacks: names with "stack" or "folded"
    report1.sqlite                           worker "report1"   span ""                suffix ".sqlite"        an export of Nsight Systems, nvprof's file
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache

UNNAMED_SPAN = "trace"
"""Name of a span whose file name has none; spans with a name of their own are digits, so the two
never meet.
"""

_HANDLER = re.compile(
    r"^(?P<worker>.+?)(?:\.(?P<span>\d{1,40}))?(?P<suffix>\.pt\.trace\.json(?:\.(?:gz|zst))?)$",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_DATABASES = r"\.sqlite3?|\.db|\.sql|\.nvvp|\.nvprof"
_STACKS = r"\.txt|\.folded|\.stacks"
_OTHER_TEXT = r"(?!(?!.*(?:stack|folded)).*\.txt$)"
"""Folders are full of texts: one of stacks says so in its name."""
_OTHER = re.compile(
    rf"^{_OTHER_TEXT}(?P<worker>.+?)(?P<suffix>(?:(?:\.raw)?\.json|\.pickle|\.pkl|{_DATABASES}|{_STACKS})?\.(?:gz|zst)"
    rf"|\.json|\.pickle|\.pkl|{_DATABASES}|{_STACKS}|\.nsys-rep|\.qdrep)$",
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
    """The parts of a trace's file name; ``worker + ("." + span if span) + suffix`` is the name
    again.
    """

    worker: str
    span: str
    suffix: str

    @property
    def file_name(self) -> str:
        """The file name that these parts came from."""
        return f"{self.worker}.{self.span}{self.suffix}" if self.span else self.worker + self.suffix

    @property
    def by_handler(self) -> bool:
        """Whether the name is one that ``tensorboard_trace_handler`` gives, and so claims to be a
        trace.
        """
        return ".pt.trace.json" in self.suffix.lower()

    @property
    def extra(self) -> bool:
        """Whether the name is one of a memory snapshot, a memory timeline or folded stacks: such a
        file tells more of a worker and makes no rank of its own.
        """
        return _EXTRA.search(self.suffix) is not None


def parse(file_name: str) -> TraceName | None:
    """The parts of a file name; None when it has no suffix that a trace may have (.json .pickle
    .pkl .gz .zst, and those of databases and stacks).
    """
    match = _HANDLER.match(file_name) or _OTHER.match(file_name)
    if match is None:
        return None
    found = match.groupdict()
    return TraceName(found["worker"], found.get("span") or "", found["suffix"])


@lru_cache(maxsize=1 << 16)
def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key in which ``rank2`` comes before ``rank10``; equal for equal texts only."""
    # Python reads no number of more than 4,300 digits; a web server's index may hold any name.
    parts = re.split(r"(\d{1,4000})", text, flags=re.ASCII)
    return (
        *((1, int(p), p) if i % 2 else (0, 0, p.casefold()) for i, p in enumerate(parts)),
        (0, 0, text),
    )


def span_order(name: TraceName) -> tuple[bool, int, int, str]:
    """Sort key of the spans of one worker: traces before other files, those without a name first,
    then by number, then by suffix.
    """
    return (name.extra, 1 if name.span else 0, int(name.span or 0), name.span + name.suffix)


def span_names(files: Sequence[TraceName]) -> list[str]:
    """Names for the spans of one worker, unique and independent of the other files except for a
    true clash.

    The span's own text; with the suffix behind it where several files have the same (``.json``
    beside ``.json.gz``).
    """
    texts = [f.span or UNNAMED_SPAN for f in files]
    return [t + f.suffix if texts.count(t) > 1 else t for t, f in zip(texts, files, strict=True)]


def span_label(position: int, span: str) -> str:
    """What people see for a span: its place among the worker's spans, and when it was written where
    the name is a time.
    """
    when = _moment(span)
    if when is not None:
        return f"{position + 1} · {when:%Y-%m-%d %H:%M:%S} UTC"
    return f"{position + 1} · {span}" if span else str(position + 1)


def _moment(span: str) -> datetime | None:
    # tensorboard_trace_handler wrote milliseconds until PyTorch 2.1 and writes nanoseconds since;
    # other lengths are no times.
    factor = {10: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}.get(len(span))
    if factor is None or not span.isdigit():
        return None
    return datetime.fromtimestamp(int(span) // factor, tz=timezone.utc)


def ranks_by_name(workers: Sequence[str]) -> list[int | None]:
    """The rank that each worker's name tells, or None; the workers are those of one run.

    ``rank3 rank-3 rank_3 rank=3`` say it outright, ``worker3 gpu_3 ...`` too. A bare number at the
    end (``trace_3``) is taken only when the numbers of the whole run start at 0 and differ:
    ``host_4242``, the handler's default, ends with a process id.
    """
    ranks = [_said(w) for w in workers]
    bare = {w: int(m.group(1)) for w in workers if (m := _BARE.search(w))}
    is_rank = len(bare) == len(workers) == len(set(bare.values())) and 0 in bare.values()
    found = [
        r if r is not None or not is_rank else bare[w] for r, w in zip(ranks, workers, strict=True)
    ]
    return found


def _said(worker: str) -> int | None:
    for pattern in (_RANK, _PROCESS):
        match = pattern.search(worker)
        if match:
            return int(match.group(1))
    return None


def unique(wanted: Iterable[str]) -> list[str]:
    """The texts, with `` (2)``, `` (3)`` behind a repeated one."""
    taken: set[str] = set()
    result = []
    for text in wanted:
        name, n = text, 1
        while name in taken:
            n += 1
            name = f"{text} ({n})"
        taken.add(name)
        result.append(name)
    return result
