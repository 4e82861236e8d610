"""The tables of a timeline: a lane for every event, and summaries of those too small to see.

An *event* is a row of ``spans`` or (counting on from there) a row of ``instants`` that is not a
counter sample. ``name`` columns are rows of ``names``.
"""

from __future__ import annotations

from enum import IntEnum

from torch_tb_profiler.store.columns import Column, TableSpec
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.schema import TEXT

LANE = "row of lanes"
EVENT = "event"
NAME = "row of names"


class GroupKind(IntEnum):
    """What a group of lanes holds, in the order in which the groups of one track are stacked."""

    PYTHON = 0
    """Python frames, by depth."""
    CALLS = 1
    """Operators, annotations, runtime calls and the rest of a host thread, by depth."""
    DEVICE_ANNOTATION = 2
    """Shadows of annotations on a stream, by depth."""
    WORK = 3
    """Kernels, copies and memsets of a stream: one lane, more where they overlap."""
    SYNC = 4
    """Synchronization records and counter ranges of a stream."""
    INSTANT = 5
    """Events without a duration, except counter samples."""


class Look(IntEnum):
    """How the page draws an event: by role, with communication apart."""

    OTHER = Role.OTHER
    OPERATOR = Role.OPERATOR
    RUNTIME = Role.RUNTIME
    KERNEL = Role.KERNEL
    MEMCPY = Role.MEMCPY
    MEMSET = Role.MEMSET
    ANNOTATION = Role.ANNOTATION
    DEVICE_ANNOTATION = Role.DEVICE_ANNOTATION
    PYTHON = Role.PYTHON
    SYNC = Role.SYNC
    OVERHEAD = Role.OVERHEAD
    COUNTER_RANGE = Role.COUNTER_RANGE
    PROFILER = Role.PROFILER
    COMMUNICATION = 13
    INSTANT = 14


GROUPS = TableSpec(
    "groups",
    "Lanes of one kind and track, in display order.",
    (
        Column("track", "i4", "row of tracks", "The thread or stream."),
        Column("kind", "u1", "GroupKind", "What it holds."),
        Column("lane", "i4", LANE, "Its first lane; the others follow."),
        Column("lanes", "i4", "", "How many lanes."),
        Column("events", "i8", "events", "How many events."),
        Column("overlapping", "i8", "events", "Of them, on a sub-lane because they overlap."),
    ),
)

LANES = TableSpec(
    "lanes",
    "Rows of non-overlapping slices, ordered by (group, depth, sub).",
    (
        Column("group", "i4", "row of groups", "The group."),
        Column("depth", "i4", "", "Number of enclosing events."),
        Column("sub", "i4", "", "0; higher for overlaps with earlier lanes of this depth."),
        Column("first", "i8", "row of slices", "Its first slice."),
        Column("count", "i8", "events", "How many slices."),
    ),
)

SLICES = TableSpec(
    "slices",
    "Every event once, ordered by (lane, start, event).",
    (
        Column("start", "i8", "ns", "Begin, after the trace's first event."),
        Column("dur", "i8", "ns", "Length."),
        Column("event", "i4", EVENT, "The event."),
    ),
)

PLACES = TableSpec(
    "places",
    "For every event its lane and its module.",
    (
        Column("lane", "i4", LANE, "Its lane; -1 for counter samples."),
        Column("name", "i4", NAME, "Its name."),
        Column("module", "i4", NAME, "Innermost `nn.Module` around it or its launch; -1 none."),
        Column("look", "u1", "Look", "How it is drawn."),
    ),
)

NAMES = TableSpec(
    "names",
    "Distinct names of events, the most frequent first.",
    (
        Column("text", "i4", TEXT, "The name."),
        Column("events", "i8", "events", "How many events have it."),
        Column("total", "i8", "ns", "Sum of their durations."),
    ),
)

LEVELS = TableSpec(
    "levels",
    "Stored levels of detail, ascending. Level L merges events shorter than its bucket of 2^L ns.",
    (
        Column("level", "i4", "", "L."),
        Column("first", "i8", "row of summaries", "Its first slice."),
        Column("count", "i8", "slices", "How many slices."),
    ),
)

LEVEL_LANES = TableSpec(
    "level_lanes",
    "Begin of each lane in each stored level: (number of lanes + 1) rows per level.",
    (Column("first", "i8", "row of summaries", "First slice of the lane in the level."),),
)

SUMMARIES = TableSpec(
    "summaries",
    "Slices of the stored levels, ordered by (level, lane, start); count 1: a single event.",
    (
        Column("start", "i8", "ns", "Begin of the first event."),
        Column("dur", "i8", "ns", "Until the end of the last event."),
        Column("busy", "i8", "ns", "Sum of the durations."),
        Column("count", "i4", "events", "How many events."),
        Column("event", "i4", EVENT, "The longest of them."),
        Column("longest", "i8", "ns", "Its duration."),
    ),
)

BLOCK_SLICES = 1 << 14
"""Slices of a block: rows b · 2^14 to (b + 1) · 2^14 of ``slices``; the last few are in no block."""

BLOCKS = TableSpec(
    "blocks",
    "Begin of each block in block_sums: (number of blocks + 1) rows, or none; limited in number.",
    (Column("first", "i8", "row of block_sums", "Its first row."),),
)

BLOCK_SUMS = TableSpec(
    "block_sums",
    "Sums of each block of slices by name and look, ordered by (block, name, look).",
    (
        Column("name", "i4", NAME, "The name."),
        Column("look", "u1", "Look", "The look."),
        Column("count", "i4", "events", "How many."),
        Column("total", "i8", "ns", "Sum of the durations."),
        Column("shortest", "i8", "ns", "Shortest duration."),
        Column("longest", "i8", "ns", "Longest duration."),
        Column("slice", "i4", "row of slices", "The first of the longest."),
    ),
)

ARROWS = TableSpec(
    "arrows",
    "Links from one event to another, ordered by source_time.",
    (
        Column("kind", "i4", "row of about.arrow_kinds", "Launch, backward, or a flow category."),
        Column("source", "i4", EVENT, "From."),
        Column("target", "i4", EVENT, "To."),
        Column("source_time", "i8", "ns", "When it leaves."),
        Column("target_time", "i8", "ns", "When it arrives."),
    ),
)

SAMPLES = TableSpec(
    "samples",
    "Values of the counter series, ordered by (series, time); a value holds until the next one.",
    (
        Column("time", "i8", "ns", "When."),
        Column("value", "f8", "of the series", "The value from then on."),
        Column("integral", "f8", "of the series times ns", "Integral since the first sample."),
    ),
)

TIMELINE_TABLES = (
    GROUPS,
    LANES,
    SLICES,
    PLACES,
    NAMES,
    LEVELS,
    LEVEL_LANES,
    SUMMARIES,
    BLOCKS,
    BLOCK_SUMS,
    ARROWS,
    SAMPLES,
)
