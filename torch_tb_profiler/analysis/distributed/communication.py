"""The tables ``collectives`` and ``communication_steps`` of a worker."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of
from torch_tb_profiler.analysis.arrays.intervals import Intervals, join, measure, union
from torch_tb_profiler.analysis.distributed.collectives import (
    MOST_COLLECTIVES,
    CollectiveCalls,
    Collectives,
    Label,
    argument_column,
    collective_calls,
    kind_of,
    point_to_point,
    ranks_of_groups,
)
from torch_tb_profiler.analysis.distributed.message import (
    COALESCED,
    Message,
    kind_word,
    messages,
    peer_of,
)
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.communication import communication_rows
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.header import distributed_info, integer
from torch_tb_profiler.analysis.facts.host_names import distinct, host_names
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.hardware.kernel_names import communication_library
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Ints, Table, unique_values
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

LONGEST_KIND = 100
"""Characters of a kind that is shown verbatim."""


def build_communication(
    trace: Trace, facts: Facts, tables: dict[str, Table], texts: StringBuilder
) -> tuple[dict[str, Table], dict[str, object]]:
    """The tables ``collectives`` and ``communication_steps``."""
    computing = computation(trace, facts)
    collectives = _collectives(trace, facts, computing, texts)
    steps = facts["steps"]
    communicating = union(collectives["start"], collectives["end"])
    computed = measure(computing, steps["start"], steps["end"])
    communication = measure(communicating, steps["start"], steps["end"])
    active = measure(join(computing, communicating), steps["start"], steps["end"])
    shares = schema.COMMUNICATION_STEPS.build(
        step=np.arange(steps.n),
        computation=active - communication,
        overlap=computed + communication - active,
        communication=active - computed,
        other=step_lengths(steps) - active,
    )
    return {"collectives": collectives, "communication_steps": shares}, {}


def computation(trace: Trace, facts: Facts) -> Intervals:
    """When non-communication kernels ran; without any, when non-communication operators ran (as the
    original plugin).

    Copies and memsets are neither computation nor communication.
    """
    spans = trace["spans"]
    row = device_rows(trace)
    row = row[spans["role"][row] == Role.KERNEL]
    row = row[~np.isin(row, communication_rows(trace, facts), assume_unique=True)]
    if not len(row):
        row = np.flatnonzero(spans["role"] == Role.OPERATOR)
        names = host_names(trace.strings, spans["name"][row])
        name = spans["name"][row]
        row = row[
            ~(
                names.collective[name]
                | names.dataloader[name]
                | names.hidden[name]
                | (names.step[name] >= 0)
            )
        ]
    return union(spans["start"][row], spans["start"][row] + spans["dur"][row])


def _collectives(trace: Trace, facts: Facts, computing: Intervals, texts: StringBuilder) -> Table:
    spans, arguments = trace["spans"], trace["collective_args"]
    calls = collective_calls(trace, facts)
    named = _named(trace, facts, calls)
    known = [i for i, (word, _, _) in enumerate(named) if word]
    calls = CollectiveCalls(calls.row[known], calls.named[known], calls.argument[known])
    kind = [named[i][0] for i in known]
    library = [named[i][1] for i in known]
    peer = [named[i][2] for i in known]
    group, size = _groups(trace, calls)
    moved: list[Message] = messages(trace, facts, calls, kind, size)
    start = spans["start"][calls.row]
    end = start + spans["dur"][calls.row]
    told_peer = np.where(
        np.array(kind, dtype=object) == "send",
        argument_column(arguments, calls.argument, "destination"),
        argument_column(arguments, calls.argument, "source"),
    )
    # Arguments count ranks of the job, names those of the group.
    members = ranks_of_groups(trace)
    named_peer = [
        ranks[number] if 0 <= number < len(ranks := members.get(name, ())) else number
        for number, name in zip(peer, group, strict=True)
    ]
    is_transfer = np.array([bool(point_to_point(word)) for word in kind], np.bool_)
    return schema.COLLECTIVES.build(
        event=calls.row,
        host=_hosts(trace, facts, calls, kind),
        kind=texts.intern_all(kind),
        library=_numbers(texts, library),
        group=_numbers(texts, group),
        group_size=size,
        dtype=_numbers(texts, [message.dtype for message in moved]),
        bytes=[message.bytes for message in moved],
        sequence=argument_column(arguments, calls.argument, "sequence"),
        peer=np.where(
            is_transfer, np.where(told_peer >= 0, told_peer, np.array(named_peer, np.int64)), -1
        ),
        start=start,
        end=end,
        step=facts["span_links"]["step"][calls.row],
        exposed=end - start - measure(computing, start, end),
    )


def find_collectives(trace: Trace, facts: Facts) -> Collectives:
    """The first collectives of a trace, of kinds that are matched; one pass over the spans, worth keeping."""
    calls = collective_calls(trace, facts)
    calls = CollectiveCalls(
        *(of[:MOST_COLLECTIVES] for of in (calls.row, calls.named, calls.argument))
    )
    kinds = [kind_of(word) for word, _, _ in _named(trace, facts, calls)]
    members, labels = ranks_of_groups(trace), dict[Label, int]()
    label = np.full(len(kinds), -1, np.int64)
    for place, (kind, group) in enumerate(zip(kinds, _groups(trace, calls)[0], strict=True)):
        if kind:
            own = Label(group, members.get(group, ()), kind)
            label[place] = labels.setdefault(own, len(labels))
    matched = np.flatnonzero(label >= 0)
    sequence = argument_column(trace["collective_args"], calls.argument, "sequence")
    row = calls.row[matched]
    start, dur = (trace["spans"][key][row] for key in ("start", "dur"))
    return Collectives(tuple(labels), row, label[matched], sequence[matched], start, start + dur)


def _numbers(texts: StringBuilder, values: list[str]) -> list[int]:
    return [texts.intern(value) if value else -1 for value in values]


def _named(trace: Trace, facts: Facts, calls: CollectiveCalls) -> list[tuple[str, str, int]]:
    """Kind, library and peer (empty and −1 unknown) of each call from arguments, naming call and kernel, per distinct combination."""
    spans, arguments = trace["spans"], trace["collective_args"]
    on_device = (spans["role"][calls.row] == Role.KERNEL).astype(np.int64)
    columns = (
        argument_column(arguments, calls.argument, "collective"),
        np.where(calls.named >= 0, spans["name"][calls.named], -1),
        spans["name"][calls.row],
        on_device,
    )
    first, combination = group_rows(columns)
    amd = facts.summary.vendor == "amd"
    stated = facts.summary.backend or ""
    only_backend = stated if stated.isalnum() else ""
    told: list[tuple[str, str, int]] = []
    for row in first.tolist():
        collective, around, own = (trace.strings[int(column[row])] for column in columns[:3])
        kind = next((word for word in map(kind_word, (collective, around, own)) if word), "")
        if on_device[row]:
            kind = kind or collective[:LONGEST_KIND] or short_name(own)
        backend = around.partition(":")[0] if ":" in around and "::" not in around else ""
        library = (
            (communication_library(own) if on_device[row] else None) or backend or only_backend
        )
        library = "rccl" if amd and library == "nccl" else library
        told.append((kind, library, peer_of(around)))
    return [told[i] for i in combination.tolist()]


def _groups(trace: Trace, calls: CollectiveCalls) -> tuple[list[str], Ints]:
    """Name and size of each call's process group; the header's group if it lists only one."""
    number = argument_column(trace["collective_args"], calls.argument, "group")
    size = argument_column(trace["collective_args"], calls.argument, "group_size")
    text = {value: trace.strings[value] for value in unique_values(number).tolist()}
    listed = distributed_info(trace).get("pg_config")
    only = (
        listed[0]
        if isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], dict)
        else {}
    )
    only_name, ranks = str(only.get("pg_name") or ""), integer(only.get("pg_size"))
    names = [text[value] or only_name for value in number.tolist()]
    if ranks is not None and 0 < ranks < 1 << 31:
        size = np.where(
            (size <= 0) & np.array([name == only_name for name in names], np.bool_), ranks, size
        )
    return names, np.where((size > 0) & (size < 1 << 31), size, -1)


def _hosts(trace: Trace, facts: Facts, calls: CollectiveCalls, kind: list[str]) -> Ints:
    """Rows of the host calls that started the collectives.

    Of kernels the naming call, else the launch. Of regions on a library thread the operator at the
    same position among those of its kind, if there are equally many.
    """
    spans, links = trace["spans"], facts["span_links"]
    on_device = spans["role"][calls.row] == Role.KERNEL
    host = np.where(
        on_device, np.where(calls.named >= 0, calls.named, links["launch"][calls.row]), -1
    ).astype(np.int64)
    above = links["parent"][calls.row].astype(np.int64)
    host[~on_device] = above[~on_device]
    detached = np.flatnonzero(~on_device & (above < 0))
    if not len(detached):
        return host
    issued: dict[str, list[int]] = {}
    called = np.flatnonzero(is_call(spans["role"]))
    words = {
        number: _issued_kind(trace.strings[number])
        for number in distinct(spans["name"][called], trace.strings)
    }
    wanted = mask_of(len(trace.strings) + 1, [number for number, word in words.items() if word])
    for row in called[wanted[spans["name"][called]]].tolist():
        issued.setdefault(words[int(spans["name"][row])], []).append(row)
    regions: dict[str, list[int]] = {}
    for call in detached.tolist():
        regions.setdefault(kind[call], []).append(call)
    for word, places in regions.items():
        rows = issued.get(word, [])
        if len(rows) == len(places):
            host[places] = rows
    return host


def _issued_kind(name: str) -> str:
    bare = name.partition("c10d::")[2]
    return (
        kind_word(bare)
        if bare and (kind_of(bare) or point_to_point(bare) or COALESCED in bare)
        else ""
    )


COLLECTIVES = display_spec("""
collectives: One row per collective or point-to-point transfer of the worker, in time order. The columns from `match` on are of runs of several workers: `match`
  is missing where no other worker's is known to be the same, `wait_ns` where it cannot be told.
    kind         text   -  -                    `all_reduce`, `all_gather`, `send` …
    library      text   -  optional             `nccl`, `rccl`, `gloo` …
    group        text   -  optional             Process group.
    group_size   count  -  optional unit=ranks  Ranks of the group.
    dtype        text   -  optional             Element type.
    bytes        bytes  -  optional             Message size as nccl-tests counts it.
    sequence     id     -  optional             Number that the backend gave it.
    peer         id     -  optional unit=rank   The other rank of a send or recv.
    start_ns     time   -  -                    Begin, after the first event of the trace.
    dur_ns       time   -  -                    Length, waiting included.
    exposed_ns   time   -  -                    Of it, time in which the device computed nothing.
    step         id     -  optional unit=step   The step.
    event        id     -  unit=row_of_events   Its kernel, or the host's region or operator.
    host_event   row    -  -                    The host call that started it.
    match        id     -  optional             Its number, the same on every worker that took part.
    wait_ns      time   -  optional             Of its length, waiting for the last worker.
    transfer_ns  time   -  optional             The rest of its length.
    last_worker  text   -  optional             The worker that came last.
    skewed       flag   -  -                    The profilers' own starts spoil its waiting: not on the page.
""")


def collective_table(insight: Insight) -> DisplayTable:
    """The collectives of the worker, without what only the run tells."""
    table = insight["collectives"]
    same = ("kind", "library", "group", "dtype", "group_size", "bytes", "sequence", "peer", "step")
    return COLLECTIVES.build(
        insight.strings,
        **{name: table[name] for name in (*same, "event")},
        start_ns=table["start"],
        dur_ns=table["end"] - table["start"],
        exposed_ns=table["exposed"],
        host_event=table["host"],
    )
