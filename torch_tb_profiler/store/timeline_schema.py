"""The tables of a timeline: a lane for every event, and summaries of those too small to see.

An *event* is a row of ``spans`` or (counting on from there) a row of ``instants`` that is not a
counter sample. ``name`` columns are rows of ``names``.
"""

from __future__ import annotations

from enum import IntEnum

from torch_tb_profiler.store.columns import TableSpec, declared
from torch_tb_profiler.store.roles import Role


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


GROUPS = declared("""
groups: Lanes of one kind and track, in display order.
    track        i4  row of tracks  The thread or stream.
    kind         u1  GroupKind      What it holds.
    lane         i4  row of lanes   Its first lane; the others follow.
    lanes        i4  -              How many lanes.
    events       i8  events         How many events.
    overlapping  i8  events         Of them, on a sub-lane because they overlap.
""")

LANES = declared("""
lanes: Rows of non-overlapping slices, ordered by (group, depth, sub).
    group  i4  row of groups  The group.
    depth  i4  -              Number of enclosing events.
    sub    i4  -              0; higher for overlaps with earlier lanes of this depth.
    first  i8  row of slices  Its first slice.
    count  i8  events         How many slices.
""")

SLICES = declared("""
slices: Every event once, ordered by (lane, start, event).
    start  i8  ns     Begin, after the trace's first event.
    dur    i8  ns     Length.
    event  i4  event  The event.
""")

PLACES = declared("""
places: For every event its lane and its module.
    lane    i4  row of lanes  Its lane; -1 for counter samples.
    name    i4  row of names  Its name.
    module  i4  row of names  Innermost `nn.Module` around it or its launch; -1 none.
    around  i4  event         Innermost event of its thread and kind around it; -1 none.
    look    u1  Look          How it is drawn.
""")

NAMES = declared("""
names: Distinct names of events, the most frequent first.
    text  i4  number of a string  The name.
""")

LEVELS = declared("""
levels: Stored levels of detail, ascending. Level L merges events shorter than its bucket of 2^L ns.
    level  i4  -                 L.
    first  i8  row of summaries  Its first slice.
    count  i8  slices            How many slices.
""")

LEVEL_LANES = declared("""
level_lanes: Begin of each lane in each stored level: (number of lanes + 1) rows per level.
    first  i8  row of summaries  First slice of the lane in the level.
""")

SUMMARIES = declared("""
summaries: Slices of the stored levels, ordered by (level, lane, start); count 1: a single event.
    start    i8  ns      Begin of the first event.
    dur      i8  ns      Until the end of the last event.
    busy     i8  ns      Sum of the durations.
    count    i4  events  How many events.
    event    i4  event   The longest of them.
    longest  i8  ns      Its duration.
""")

ARROWS = declared("""
arrows: Links from one event to another, ordered by source_time.
    kind         i4  row of about.arrow_kinds  Launch, backward, or a flow category.
    source       i4  event                     From.
    target       i4  event                     To.
    source_time  i8  ns                        When it leaves.
    target_time  i8  ns                        When it arrives.
""")

SAMPLES = declared("""
samples: Values of the counter series, ordered by (series, time); a value holds until the next one.
    time      i8  ns                      When.
    value     f8  of the series           The value from then on.
    integral  f8  of the series times ns  Integral since the first sample.
""")

TIMELINE_TABLES = tuple(spec for spec in list(globals().values()) if isinstance(spec, TableSpec))
