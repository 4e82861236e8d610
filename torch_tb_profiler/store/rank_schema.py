"""The tables of a rank index: what the figures of a run need of each of its ranks.

The index of a rank is made with its insight. Times are int64 nanoseconds after the first event of the rank's trace.
"""

from __future__ import annotations

from torch_tb_profiler.store.columns import TableSpec, declared

RANKS = declared("""
ranks: The rank, one row.
    begin             i8  ns                  Unix time of its first event; -1 unknown.
    length            i8  ns                  End of its last event.
    spans             i8  spans               Number of spans of its trace.
    world_size        i8  ranks               Ranks of the job; -1 unknown.
    on_device         u1  0 or 1              Whether collectives are kernels.
    step_source       i4  number of a string  Where its steps are from.
    writer            i4  number of a string  The kind of program.
    host_name         i4  number of a string  Its machine; -1 unknown.
    process           i4  number of a string  Id of the process whose threads ran operators; -1 none did.
    backend           i4  number of a string  Backend of its collectives; -1 unknown.
""")

RANK_COLLECTIVES = declared("""
rank_collectives: As the table collectives of the insight.
    sort      i4  row of rank_sorts  What it is.
    event     i4  row of spans       The device kernel; without one, the host region or operator.
    step      i4  row of rank_steps  The step; -1 outside all.
    sequence  i8  -                  Sequence number of the backend; -1 unknown.
    start     i8  ns                 Begin.
    end       i8  ns                 End.
    exposed   i8  ns                 Of it, without computation on the device; without a device, without host operators.
""")

RANK_SORTS = declared("""
rank_sorts: Distinct (operation, peer, place) of the collectives of a rank.
    kind        i4  number of a string  As in collectives of the insight, as the following six.
    library     i4  number of a string  Library; -1 unknown.
    group       i4  number of a string  Process group; -1 unknown.
    group_size  i4  ranks               Ranks of the group; -1 unknown.
    dtype       i4  number of a string  Data type; -1 unknown.
    bytes       i8  bytes               Message size; -1 unknown.
    peer        i4  rank                The other rank of a send or recv; -1 unknown or none.
    on_device   u1  0 or 1              Whether it is a kernel.
""")

RANK_STEPS = declared("""
rank_steps: The steps of a rank. Computation, overlap, communication and other add up to end - start.
    name           i4  number of a string  Name.
    number         i8  -                   N of ProfilerStep#N; -1 otherwise.
    start          i8  ns                  Begin.
    end            i8  ns                  End.
    computation    i8  ns                  Computation alone.
    overlap        i8  ns                  Computation and communication at once.
    communication  i8  ns                  Communication alone: exposed.
    other          i8  ns                  Neither.
""")

RANK_WORK = declared("""
rank_work: As the table step_work of the insight.
    step   i4  row of rank_steps   The step.
    cause  u1  PathCause           What it is.
    name   i4  number of a string  The operator, or the device work without one; -1 other work.
    time   i8  ns                  Sum of durations.
""")

RANK_GROUPS = declared("""
rank_groups: Process groups as the header of the trace lists them.
    name         i4  number of a string  Name, as collectives name it.
    description  i4  number of a string  Description, such as the name of a dimension of a mesh; -1 none.
    backend      i4  number of a string  Backend; -1 unknown.
    size         i8  ranks               Number of ranks; -1 unknown.
    members      i8  rows                How many rows of rank_members it has; they are in the order of the groups.
""")

RANK_MEMBERS = declared("""
rank_members: The ranks of the process groups: first, first + stride ..., so many.
    first   i8  rank   The first.
    stride  i8  ranks  The distance between two.
    count   i8  ranks  How many.
""")

RANK_DEVICES = declared("""
rank_devices: Accelerators that a rank used.
    id          i4  -                   Device id.
    name        i4  number of a string  Product name; -1 unknown.
    memory      i8  bytes               Memory; -1 unknown.
    capability  i4  number of a string  Compute capability or architecture; -1 unknown.
    vendor      i4  number of a string  Vendor; -1 unknown.
""")

RANK_TABLES = tuple(spec for spec in list(globals().values()) if isinstance(spec, TableSpec))
