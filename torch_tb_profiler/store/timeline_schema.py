"""The tables of a timeline: every event of a trace placed on a lane, and the summaries that are
drawn where events are too small to see.

They lie in a sidecar of their own that is made when a trace is first looked at on the timeline. An
*event* here is a row of ``spans``, or (from the number of spans on) a row of ``instants`` that is
no counter sample. ``name`` columns are rows of ``names``.
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
    """Operators, annotations, runtime calls and all else of a host thread, by depth."""
    DEVICE_ANNOTATION = 2
    """Shadows of annotations on a stream, by depth."""
    WORK = 3
    """Kernels, copies and memsets of a stream: one lane, more where they overlap."""
    SYNC = 4
    """Synchronisation records and counter ranges of a stream."""
    INSTANT = 5
    """Events without a length that are no counter samples."""


class Look(IntEnum):
    """What an event looks like on the page: its role, communication told apart."""

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
    "Lanes of one kind of one track, in the order in which they are shown.",
    (
        Column("track", "i4", "row of tracks", "The thread or stream."),
        Column("kind", "u1", "GroupKind", "What it holds."),
        Column("lane", "i4", LANE, "Its first lane; the others follow."),
        Column("lanes", "i4", "", "How many lanes."),
        Column("events", "i8", "events", "How many events."),
        Column(
            "overlapping",
            "i8",
            "events",
            "Of them, those on a sub-lane because they overlap another.",
        ),
    ),
)

LANES = TableSpec(
    "lanes",
    "Rows of slices that do not overlap, ordered by (group, depth, sub).",
    (
        Column("group", "i4", "row of groups", "The group."),
        Column("depth", "i4", "", "How many events enclose those of this lane."),
        Column("sub", "i4", "", "0; more for what overlaps the lanes before of the same depth."),
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
        Column("event", "i4", EVENT, "Which."),
    ),
)

PLACES = TableSpec(
    "places",
    "For every event its lane and the module that it belongs to.",
    (
        Column("lane", "i4", LANE, "Its lane; -1 for counter samples."),
        Column("name", "i4", NAME, "Its name."),
        Column(
            "module",
            "i4",
            NAME,
            "The innermost `nn.Module` frame around it or around what caused it; -1 none.",
        ),
        Column("look", "u1", "Look", "What it looks like."),
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
    "Levels of detail that are stored, ascending. Level L merges what is shorter than its bucket of"
    " 2^L ns.",
    (
        Column("level", "i4", "", "L."),
        Column("first", "i8", "row of summaries", "Its first slice."),
        Column("count", "i8", "slices", "How many slices."),
    ),
)

LEVEL_LANES = TableSpec(
    "level_lanes",
    "Where each lane begins in each stored level: (number of lanes + 1) rows per level.",
    (Column("first", "i8", "row of summaries", "First slice of the lane in the level."),),
)

SUMMARIES = TableSpec(
    "summaries",
    "Slices of the stored levels, ordered by (level, lane, start). `count` 1: an event as it is.",
    (
        Column("start", "i8", "ns", "Begin of the first event."),
        Column("dur", "i8", "ns", "From there to the end of the last event."),
        Column("busy", "i8", "ns", "Sum of the durations."),
        Column("count", "i4", "events", "How many events."),
        Column("event", "i4", EVENT, "The longest of them."),
        Column("longest", "i8", "ns", "Its duration."),
    ),
)

BLOCK_SLICES = 1 << 14
"""Slices of a block: rows b · 2^14 to (b + 1) · 2^14 of ``slices``, whatever lanes they are of.
What is left at the end is in no block.
"""

BLOCKS = TableSpec(
    "blocks",
    "Where the figures of each block of slices begin: (number of blocks + 1) rows, or none. Blocks"
    " beyond a bound are left out.",
    (Column("first", "i8", "row of block_sums", "Its first row."),),
)

BLOCK_SUMS = TableSpec(
    "block_sums",
    "Figures of each block of slices by name and look, ordered by (block, name, look).",
    (
        Column("name", "i4", NAME, "The name."),
        Column("look", "u1", "Look", "The look."),
        Column("count", "i4", "events", "How many."),
        Column("total", "i8", "ns", "Sum of the durations."),
        Column("shortest", "i8", "ns", "Shortest duration."),
        Column("longest", "i8", "ns", "Longest duration."),
        Column("slice", "i4", "row of slices", "The longest, the first of equal ones."),
    ),
)

ARROWS = TableSpec(
    "arrows",
    "What leads from one event to another, ordered by source_time.",
    (
        Column(
            "kind",
            "i4",
            "row of the arrow kinds in about",
            "Launch, forward to backward, or the category of a flow.",
        ),
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
        Column(
            "integral",
            "f8",
            "of the series times ns",
            "Integral from the series' first sample to this one.",
        ),
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
