"""Routes ``/memory`` and ``/memory/curve``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.header import device_properties
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.memory.allocator_state import has_segments
from torch_tb_profiler.analysis.memory.failures import Failure, failed_allocations
from torch_tb_profiler.analysis.memory.holding import holding_sentences
from torch_tb_profiler.analysis.memory.shortage import shortage_of, shortage_sentences
from torch_tb_profiler.analysis.memory.table import MEMORY, category_names
from torch_tb_profiler.analysis.memory.window import Window, curve_in
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.units import format_bytes, format_count, format_ns, format_share
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.memory.devices import HOST, device_names, in_order
from torch_tb_profiler.views.memory.headline import call_for_history, peak_sentence, reserved_then
from torch_tb_profiler.views.memory.wire import (
    Knowledge,
    MemoryCurvePayload,
    MemoryDevice,
    MemoryFailure,
    MemoryPayload,
)
from torch_tb_profiler.views.steps import step_columns
from torch_tb_profiler.views.wire import Vocabulary
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary

MOST_FAILURES, MOST_PIECES = 10, 200
"""Failed allocations that are told, and free pieces of each."""


def memory_payload(trace: Trace, facts: Facts, insight: Insight) -> MemoryPayload:
    """What the Memory view offers; without records: what to record."""
    failures, failed = failed_allocations(trace, facts, insight, MOST_FAILURES)
    return MemoryPayload(
        source=insight.about["memory_source"],
        span_ns=whole_window(trace, facts)[1],
        devices=sorted(
            _devices(trace, insight, vocabulary(facts)),
            key=lambda device: bool(failures) and device.key != failures[0].device,
        ),
        categories=category_names(insight),
        categories_known=_knowledge(insight),
        failures=[
            _failure(trace, insight, failure, 1 if number else failed)
            for number, failure in enumerate(failures)
        ],
        has_modules=bool((insight["paths"]["kind"] == PathKind.MODULE).any()),
        has_stacks=bool((insight["allocations"]["line"] >= 0).any()),
        steps=step_columns(facts, select(facts)),
        notes=_notes(trace, insight, vocabulary(facts)),
        missing=missing(absent(facts), ("memory",)),
    )


def whole_window(trace: Trace, facts: Facts) -> Window:
    """From the first event to behind the last one, allocator records included."""
    memory = trace["memory"]
    latest = int(memory["time"][-1]) + 1 if memory.n else 0
    return 0, max(facts.summary.span_ns, latest, 1)


def _devices(trace: Trace, insight: Insight, words: Vocabulary) -> list[MemoryDevice]:
    devices = insight["memory_devices"]
    names, capacity = device_names(devices, words), _capacity(trace, devices)
    blocks = np.bincount(insight["allocations"]["device"], minlength=devices.n).tolist()
    call, of_snapshot = (
        call_for_history(trace, insight),
        insight.about["memory_source"] == "snapshot",
    )
    return [
        MemoryDevice(
            key=row,
            name=names[row],
            peak_bytes=int(devices["peak"][row]),
            peak_ns=int(devices["peak_time"][row]),
            blocks=blocks[row],
            has_map=has_segments(trace, insight, row),
            headline=[
                *_headline(insight, row, names[row], capacity[row], call),
                *(holding_sentences(insight, row, None) if of_snapshot and not call else []),
            ],
        )
        for row in in_order(devices)
    ]


def _knowledge(insight: Insight) -> list[Knowledge]:
    """Of each category how it is known; nothing of the last two, which are what is left."""
    names = category_names(insight)
    if not names:
        return []
    blocks, of_records = insight["allocations"], insight["memory_curve"]["category"]
    category, rule = blocks["category"], blocks["rule"]
    words: list[Knowledge] = []
    for number in range(len(names) - 2):
        own = rule[category == number]
        told = bool((own < 0).any()) if len(category) else bool((of_records == number).any())
        by_rule = bool((own >= 0).any())
        words.append(
            ("recorded or inferred" if by_rule else "recorded")
            if told
            else ("inferred" if by_rule else "")
        )
    return [*words, "", ""]


def _failure(trace: Trace, insight: Insight, failure: Failure, failed: int) -> MemoryFailure:
    short = shortage_of(trace, insight, failure)
    alive, sentences = short.held, shortage_sentences(short, failed)
    return MemoryFailure(
        time_ns=failure.time,
        device=failure.device if failure.device >= 0 else None,
        sentence=sentences[0],
        why=sentences[1:],
        requested_bytes=_known(failure.bytes),
        free_bytes=_known(failure.free),
        allocated_bytes=alive.allocated if alive else None,
        unused_bytes=_known(short.unused),
        pieces_bytes=None if short.pieces is None else short.pieces[:MOST_PIECES].tolist(),
        pieces=0 if short.pieces is None else len(short.pieces),
    )


def _known(value: int) -> int | None:
    return value if value >= 0 else None


def _headline(insight: Insight, row: int, name: str, capacity: int | None, call: str) -> list[str]:
    """What a device held at most, and how near that is to what it has; ``call``: what would record a history."""
    first = peak_sentence(insight, row, name, capacity)
    if call:
        return [first, call]
    devices = insight["memory_devices"]
    reserved, besides = int(devices["peak_reserved"][row]), ""
    if reserved > 0 and format_bytes(reserved) != format_bytes(reserved_then(insight, row)):
        share = f", {format_share(reserved / capacity)}" if capacity else ""
        besides = f"; at most {format_bytes(reserved)} was reserved{share}"
    return [first, f"It was at {format_ns(int(devices['peak_time'][row]))}{besides}."]


def _capacity(trace: Trace, devices: Table) -> list[int | None]:
    """Memory of each device as the header states it, bytes."""
    known = device_properties(trace)
    found: list[int | None] = []
    for kind, number in zip(devices["type"].tolist(), devices["id"].tolist(), strict=True):
        properties = known.get(number) if kind != HOST else None
        found.append(properties.memory if properties and properties.memory >= 0 else None)
    return found


def _notes(trace: Trace, insight: Insight, words: Vocabulary) -> list[str]:
    """What a reader must know before trusting the figures."""
    about, devices = insight.about, insight["memory_devices"]
    names = device_names(devices, words)
    notes = []
    unstated = [names[row] for row in in_order(devices) if not devices["stated"][row]]
    if unstated:
        notes.append(
            f"{', '.join(unstated)}: the records give no totals. The curve starts from the least"
            " that the releases allow; what was allocated before the recording and never released"
            " in it is missing from it."
        )
    bare = set(range(devices.n)) - set(insight["allocations"]["device"].tolist())
    if bare and about["memory_source"] == "records":
        listed = ", ".join(names[row] for row in in_order(devices) if row in bare)
        notes.append(
            f"{listed}: the records give no addresses, so releases cannot be tied to allocations:"
            " there are no blocks."
        )
    counted = (
        (
            "Releases that were not recorded",
            about["memory_lost_releases"],
            "Such a block counts as released when its address was given out again.",
        ),
        (
            "Allocations that were not recorded",
            about["memory_lost_allocations"],
            "Such a block counts as allocated when its address was last released.",
        ),
        (
            "Records left out",
            about["memory_left_out"],
            "They are of an impossible size, or of too many devices.",
        ),
        (
            "Records whose total is not the one before plus their own bytes",
            int(devices["mismatched"].sum()),
            "The curve shows what they state.",
        ),
    )
    return notes + [f"{what}: {format_count(n)}. {then}" for what, n, then in counted if n]


def memory_curve_payload(
    insight: Insight, device: int, window: Window, points: int
) -> MemoryCurvePayload:
    """The curve of a device in a window, ns, in about ``points`` points."""
    found = curve_in(insight, device, window, points)
    curve = MEMORY.build(
        insight.strings,
        time_ns=found.time,
        allocated_bytes=found.allocated,
        reserved_bytes=found.reserved,
    )
    return MemoryCurvePayload(
        rows=wire_columns(curve),
        categories_bytes=found.categories.tolist(),
        thinned=found.thinned,
        peak_bytes=found.peak,
        peak_ns=found.peak_time,
    )
