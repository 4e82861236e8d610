"""Which captured launch each piece of replayed device work is.

A replay records one launch for all of a graph's work. Its kernels are those of one capture, in order;
the names of kernels decide which, and where several captures are alike, their place and the batch::

    captures   A | B | B | C      one recording, one batch: each layer is a graph
    replays    A   B   B   C      the same sequence: the k-th replay is the k-th capture
    replays        B   B   C      not the whole sequence: C is the only one of its kind; for B nothing tells

Nothing is named that fits in two ways, unless both ways say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of, scatter
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.facts.iterations import said_around
from torch_tb_profiler.analysis.facts.span_lookup import captured_at
from torch_tb_profiler.hardware.server_steps import server_step
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import fact_schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE

_COPY_KERNEL = regex(r"__amd_rocclr_(copy|fill)Buffer")
"""What AMD's driver runs for a copy (or memset) node of a graph."""
_COPY, _SET = -2, -3
"""Tokens of copies and memsets; those of kernels are numbers of their names."""
_MOST_LACKING = 0.1
"""Share of a graph's launches that a replay may lack."""


class Evidence(IntEnum):
    """What tells the capture of a replay, or why none is; the column ``replays.evidence``."""

    NONE = 0
    """No capture was recorded."""
    NODE = 1
    """Each node says where it was captured."""
    ONLY = 2
    """Kernels as those of one capture alone."""
    PLACE = 3
    """Several captures have these kernels; the place in the sequence tells which."""
    BATCH = 4
    """The batch of the iteration decides between captures of equal kernels."""
    LACKING = 5
    """Told as ONLY, PLACE or BATCH are, but launches of the capture are missing from the replay."""
    DIFFERENT = 6
    """Refused: its kernels are those of no capture."""
    AMBIGUOUS = 7
    """Refused: they are those of several captures, and nothing decides between them."""
    OTHER_BATCH = 8
    """Refused: they are those of a capture of another batch than that of the iteration."""
    ANNOTATED = 9
    """The nodes are annotated; no capture is known."""


class Replays(msgspec.Struct, frozen=True):
    """Launches of graphs that have device work, in time order.

    launch, graph, evidence: of shape (replays,): row of spans, row of ``graph_captures`` (−1
        unknown) and ``Evidence``.
    replay: for every device event its position here, −1 not replayed.
    captured: for every device event its row of ``captured_launches``, −1 unknown.
    """

    launch: Ints
    graph: Ints
    evidence: Array
    replay: Ints
    captured: Ints


def match_replays(trace: Trace, tree: CallTree, caused: DeviceCauses) -> Replays:
    """The captures of all replays."""
    spans = trace["spans"]
    is_replayed = (caused.launch >= 0) & tree.names.graph_launch[spans["name"][caused.launch]]
    work = np.flatnonzero(is_replayed)
    launch, at = np.unique(caused.launch[work], return_inverse=True)
    replay = scatter(len(caused.row), work, at, NONE)
    captured = np.full(len(caused.row), NONE, np.int64)
    graph = np.full(len(launch), NONE, np.int64)
    evidence = np.full(len(launch), Evidence.NONE, np.uint8)
    launches = trace["captured_launches"]
    if len(work) and launches.n:
        _by_node(trace, caused, work, captured)
        known = work[captured[work] >= 0]
        evidence[replay[known]] = Evidence.NODE
        graph[replay[known]] = launches["graph"][captured[known]]
        batch = _batches(trace, tree, launch)
        unknown = work[evidence[at] == Evidence.NONE]
        _by_kernels(trace, caused, unknown, batch, replay).write(captured, graph, evidence)
        unknown = work[graph[at] == NONE]
        _by_annotation(trace, caused, unknown, captured)
        known = unknown[captured[unknown] >= 0]
        evidence[replay[known]] = Evidence.ANNOTATED
        graph[replay[known]] = launches["graph"][captured[known]]
    return Replays(launch, graph, evidence, replay, captured)


def replay_tables(caused: DeviceCauses, replays: Replays) -> dict[str, Table]:
    """The tables ``replays`` and ``replayed_work``."""
    work = np.flatnonzero(replays.replay >= 0)
    return {
        "replays": fact_schema.REPLAYS.build(
            launch=replays.launch, graph=replays.graph, evidence=replays.evidence
        ),
        "replayed_work": fact_schema.REPLAYED_WORK.build(
            span=caused.row[work], replay=replays.replay[work], captured=replays.captured[work]
        ),
    }


def _by_node(trace: Trace, caused: DeviceCauses, work: Ints, captured: Ints) -> None:
    """Work whose node says by which call it was captured."""
    launches = trace["captured_launches"]
    own = np.flatnonzero(launches["event"] >= 0)
    if len(own):
        host = captured_at(trace)[caused.row[work]]
        order = own[np.argsort(launches["event"][own], kind="stable")]
        position = positions_of(launches["event"][order].astype(np.int64), host)
        captured[work] = np.append(order, NONE)[np.where(host >= 0, position, NONE)]


def _by_annotation(trace: Trace, caused: DeviceCauses, work: Ints, captured: Ints) -> None:
    """Work whose node is annotated."""
    launches, nodes = trace["captured_launches"], trace["node_args"]
    own = np.flatnonzero(launches["annotation"] >= 0)
    own = own[np.argsort(launches["annotation"][own], kind="stable")]
    annotation = np.append(nodes["annotation"], np.int32(NONE))[
        positions_of(nodes["span"], caused.row[work])
    ]
    position = positions_of(launches["annotation"][own], annotation)
    captured[work] = np.append(own, NONE)[np.where(annotation >= 0, position, NONE)]


def _batches(trace: Trace, tree: CallTree, launch: Ints) -> list[int]:
    """The batch that the innermost iteration of a server around each launch states, −1 unknown."""
    around = said_around(trace, tree, lambda said: said.batch >= 0)[tree.node[launch]]
    said = {
        number: server_step(trace.strings[number]) for number in distinct(around, trace.strings)
    }
    found = (said.get(number) for number in around.tolist())
    return [step.batch if step else NONE for step in found]


def _by_kernels(
    trace: Trace, caused: DeviceCauses, work: Ints, batch: list[int], replay: Ints
) -> _Matching:
    """Work of replays, matched by its kernels; ``batch``: of each replay."""
    spans = trace["spans"]
    order = np.lexsort((spans["start"][caused.row[work]], replay[work]))
    work = work[order]
    row = caused.row[work]
    token = _tokens(trace, spans["name"][row], spans["role"][row])
    track = spans["track"][row]
    begin = np.flatnonzero(np.diff(replay[work], prepend=-1))
    pieces = [
        _Replay(int(replay[w[0]]), w, tuple(t.tolist()), k, batch[replay[w[0]]])
        for w, t, k in zip(
            np.split(work, begin[1:]),
            np.split(token, begin[1:]),
            np.split(track, begin[1:]),
            strict=True,
        )
        if len(w)
    ]
    matching = _Matching(pieces, _sequences(trace))
    matching.match()
    return matching


def _tokens(trace: Trace, name: Array, role: Array) -> Ints:
    """What tells device work apart: the name of a kernel, else that it is a copy or memset."""
    token = np.arange(len(trace.strings) + 1)
    token[-1] = NONE
    for number in distinct(name, trace.strings):
        if match := _COPY_KERNEL.match(trace.strings[number]):
            token[number] = _COPY if match[1] == "copy" else _SET
    return np.where(role == Role.MEMCPY, _COPY, np.where(role == Role.MEMSET, _SET, token[name]))


class _Replay(msgspec.Struct):
    """``work``: positions of its device events in time order, with their tokens and tracks."""

    number: int
    work: Ints
    tokens: tuple[int, ...]
    tracks: Array
    batch: int


class _Capture(msgspec.Struct):
    """``launches``: rows of ``captured_launches`` in order, with their tokens; ``content``: what they
    say, equal where two captures say the same.
    """

    graph: int
    launches: Ints
    tokens: tuple[int, ...]
    content: int


class _Sequence(msgspec.Struct):
    """The captures of one recording, batch and mode, in time order; ``own``: of the trace itself."""

    batch: int
    own: bool
    captures: list[_Capture] = msgspec.field(default_factory=list)


def _sequences(trace: Trace) -> list[_Sequence]:
    graphs, launches = trace["graph_captures"], trace["captured_launches"]
    token = _tokens(trace, launches["kernel"], launches["role"])
    content = _contents(trace)
    # Without a single name of a kernel nothing can be compared.
    named = np.bincount(launches["graph"], weights=token >= 0, minlength=graphs.n) > 0
    begin = np.searchsorted(launches["graph"], np.arange(graphs.n + 1))
    found: dict[tuple[int, int, int], _Sequence] = {}
    for graph in np.flatnonzero(named).tolist():
        rows = np.arange(begin[graph], begin[graph + 1])
        file, batch = int(graphs["file"][graph]), int(graphs["batch"][graph])
        key = (file, batch, int(graphs["mode"][graph]))
        tokens = tuple(token[rows].tolist())
        if NONE in tokens:
            continue
        says = hash((tokens, tuple(content[rows].tolist())))
        found.setdefault(key, _Sequence(batch, file < 0)).captures.append(
            _Capture(graph, rows, tokens, says)
        )
    return list(found.values())


def _contents(trace: Trace) -> Ints:
    """Per captured launch a number of what its calls say, equal only where that is equal."""
    calls, launches = trace["captured_calls"], trace["captured_launches"]
    keys = ("name", "role", "dims", "types", "strides", "concrete")
    columns = list(zip(*(calls[key].tolist() for key in keys), strict=True))
    number: dict[tuple[object, ...], int] = {}
    said: list[int] = []
    for parent, column in zip(calls["parent"].tolist(), columns, strict=True):
        above = said[parent] if 0 <= parent < len(said) else NONE
        said.append(number.setdefault((above, column), len(number)))
    return np.append(np.array(said, np.int64), NONE)[launches["call"]]


class _Matching:
    """Finds the capture of every replay; ``write`` enters the result."""

    def __init__(self, replays: list[_Replay], sequences: list[_Sequence]) -> None:
        self._replays, self._sequences = replays, sequences
        self._found: dict[int, tuple[_Capture, Evidence, list[int]]] = {}
        self._refused: dict[int, Evidence] = {}
        self._places: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int] | None] = {}
        self._alike = Counter(c.tokens for s in sequences for c in s.captures)
        self._sizes = sorted({s.batch for s in sequences if s.batch >= 0})

    def match(self) -> None:
        """Whole sequences first, then single graphs that have no like."""
        at, count = 0, len(self._replays)
        by_first: dict[tuple[int, ...], list[_Sequence]] = {}
        for sequence in self._sequences:
            by_first.setdefault(sequence.captures[0].tokens, []).append(sequence)
        while at < count:
            whole = [
                sequence
                for sequence in self._starting(self._replays[at], by_first)
                if self._follows(sequence, at)
            ]
            taken = self._take_sequence(whole, at)
            if not taken:
                self._take_single(self._replays[at])
            at += max(taken, 1)

    def write(self, captured: Ints, graph: Ints, evidence: Array) -> None:
        """Enter the captures; see ``Replays``."""
        by_number = {replay.number: replay for replay in self._replays}
        for number, (capture, kind, places) in self._found.items():
            chosen = np.array(places, np.int64)
            work = by_number[number].work
            captured[work[chosen >= 0]] = capture.launches[chosen[chosen >= 0]]
            graph[number], evidence[number] = capture.graph, kind
        for number, kind in self._refused.items():
            evidence[number] = kind

    def _starting(
        self, replay: _Replay, by_first: dict[tuple[int, ...], list[_Sequence]]
    ) -> Iterable[_Sequence]:
        exact = by_first.get(replay.tokens)
        return exact if exact is not None else self._sequences

    def _follows(self, sequence: _Sequence, at: int) -> bool:
        replays = self._replays[at : at + len(sequence.captures)]
        return len(replays) == len(sequence.captures) and all(
            self._place(replay, capture.tokens) is not None
            for replay, capture in zip(replays, sequence.captures, strict=True)
        )

    def _take_sequence(self, sequences: Sequence[_Sequence], at: int) -> int:
        """Take the longest of the sequences that begin here; how many replays that are, 0 where the
        sequences differ in what they say.
        """
        fitting, evidence = self._of_batch(sequences, self._replays[at].batch, Evidence.PLACE)
        longest = max(fitting, key=lambda sequence: len(sequence.captures), default=None)
        if longest is None or len(longest.captures) < 2:
            return 0
        says = [capture.content for capture in longest.captures]
        for sequence in fitting:
            if [capture.content for capture in sequence.captures] != says[: len(sequence.captures)]:
                return 0
        for replay, capture in zip(self._replays[at:], longest.captures, strict=False):
            alone = self._alike[capture.tokens] == 1
            self._take(replay, capture, Evidence.ONLY if alone else evidence)
        return len(longest.captures)

    def _take_single(self, replay: _Replay) -> None:
        fitting = [
            sequence
            for sequence in self._sequences
            if any(self._place(replay, c.tokens) is not None for c in sequence.captures)
        ]
        if not fitting:
            self._refused[replay.number] = Evidence.DIFFERENT
            return
        several = len(fitting) > 1
        fitting, evidence = self._of_batch(fitting, replay.batch, Evidence.ONLY)
        if not fitting:
            self._refused[replay.number] = Evidence.OTHER_BATCH
            return
        captures = [
            capture
            for sequence in fitting
            for capture in sequence.captures
            if self._place(replay, capture.tokens) is not None
        ]
        if len({capture.content for capture in captures}) != 1:
            self._refused[replay.number] = Evidence.AMBIGUOUS
            return
        self._take(replay, captures[0], evidence if several else Evidence.ONLY)

    def _of_batch(
        self, sequences: Sequence[_Sequence], batch: int, otherwise: Evidence
    ) -> tuple[list[_Sequence], Evidence]:
        """Those of the iteration's batch, else of the next larger one, to which it was padded: that
        takes a list of sizes, as the only one recorded need not be the next. Captures of unknown
        batch may be it, too; alone they count only if they are of the trace itself.
        """
        if batch < 0:
            return list(sequences), otherwise
        larger = [size for size in self._sizes if size >= batch]
        padded = larger[0] if larger and (larger[0] == batch or len(self._sizes) > 1) else NONE
        fitting = [s for s in sequences if s.batch in (padded, NONE)]
        if not any(s.own or s.batch >= 0 for s in fitting):
            fitting = []
        several = len({sequence.batch for sequence in sequences}) > 1
        return fitting, Evidence.BATCH if several else otherwise

    def _take(self, replay: _Replay, capture: _Capture, evidence: Evidence) -> None:
        places = self._place(replay, capture.tokens) or []
        lacking = len(places) < len(capture.tokens)
        self._found[replay.number] = (capture, Evidence.LACKING if lacking else evidence, places)

    def _place(self, replay: _Replay, tokens: tuple[int, ...]) -> list[int] | None:
        """For each piece of work the launch that it is, −1 undecided; None if they differ."""
        if replay.tokens == tokens:
            return list(range(len(tokens)))
        if (replay.tracks != replay.tracks[0]).any():
            return _by_stream(replay, tokens)
        key = (replay.tokens, tokens)
        if key not in self._places:
            self._places[key] = _embedded(replay.tokens, tokens)
        return self._places[key]


def _embedded(part: tuple[int, ...], whole: tuple[int, ...]) -> list[int] | None:
    """The places of ``part`` within ``whole``, in order; −1 where there is a choice.

    ::

        whole  a b b c       part  a b c       first fit 0 1 3, last fit 0 2 3  ─▶  0 −1 3
    """
    if not (1 - _MOST_LACKING) * len(whole) <= len(part) <= len(whole):
        return None
    first = _first_fit(part, whole)
    if first is None:
        return None
    last = _first_fit(part[::-1], whole[::-1]) or []
    ends = [len(whole) - 1 - place for place in last[::-1]]
    return [a if a == b else NONE for a, b in zip(first, ends, strict=True)]


def _first_fit(part: tuple[int, ...], whole: tuple[int, ...]) -> list[int] | None:
    places, at = [], 0
    for token in part:
        try:
            at = whole.index(token, at) + 1
        except ValueError:
            return None
        places.append(at - 1)
    return places


def _by_stream(replay: _Replay, tokens: tuple[int, ...]) -> list[int] | None:
    """Streams of one replay run side by side, so only the order on each is that of the capture.

    A kernel that ran on one stream only is the one at its place among those of its name.
    """
    if Counter(replay.tokens) != Counter(tokens):
        return None
    streams = replay.tracks.tolist()
    for stream in set(streams):
        own = tuple(t for t, s in zip(replay.tokens, streams, strict=True) if s == stream)
        if _first_fit(own, tokens) is None:
            return None
    on: dict[int, set[int]] = {}
    for token, stream in zip(replay.tokens, streams, strict=True):
        on.setdefault(token, set()).add(stream)
    at: dict[int, list[int]] = {}
    for place, token in enumerate(tokens):
        at.setdefault(token, []).append(place)
    taken: Counter[int] = Counter()
    places = []
    for token in replay.tokens:
        places.append(at[token][taken[token]] if len(on[token]) == 1 else NONE)
        taken[token] += 1
    return places
