"""The tables of single calls and samples: what each column holds. ``readable.py`` computes them."""

from __future__ import annotations

from msgspec.structs import replace

from torch_tb_profiler.store.columns import TableSpec, declared

_CALLS = """
    id        i4  row of spans        The event: what `#id` names on the page and `event` on the command line.
    name      i4  number of a string  Name.
    start     i8  ns                  Begin, after the trace's first event.
    dur       i8  ns                  Duration.
    stop      i8  ns                  End: start + dur.
    process   i4  number of a string  Process id as written.
    thread    i4  number of a string  Thread or stream as written.
    step      i4  row of steps        The step; -1 outside all.
"""


def _spec(text: str, calls: bool = True) -> TableSpec:
    spec = declared(text)
    shared = declared(f"calls: Shared.{_CALLS.rstrip()}").columns if calls else ()
    return replace(spec, columns=(*shared, *spec.columns))


_WORK = """
    operator      i4  number of a string  Name of the operator that launched it; -1 unknown.
    operator_id   i4  row of spans        That call; -1 unknown.
    launch        i4  row of spans        The runtime call that launched it; -1 unknown.
    launch_name   i4  number of a string  Its name; -1 unknown.
    launch_start  i8  ns                  Its begin; -1 unknown.
    launch_dur    i8  ns                  Its duration; -1 unknown.
    device        i4  -                   Device id; -1 unknown.
    stream        i8  -                   Stream; -1 unknown."""


def _work(text: str) -> TableSpec:
    head, _, rest = text.strip().partition("\n")
    spec = _spec(f"{head}{_WORK}\n{rest}")
    columns = tuple(c for c in spec.columns if c.name not in ("process", "thread"))
    return replace(spec, columns=columns)


EVENTS = _spec("""
events: Every event with a begin and an end.
    category     i4  number of a string  Category as written.
    role         u1  Role                Its role, from its category.
    correlation  i8  -                   Id that links a launch to its device work; -1 none.
    thread_name  i4  number of a string  Name of the thread or stream; -1 unknown.
    parent       i4  row of spans        Innermost enclosing host event of the thread; -1 none.
    launch       i4  row of spans        Of device work: the runtime call behind it; -1 unknown.
    operator     i4  row of spans        Of device work and runtime calls: operator; -1 unknown.
""")
KERNELS = _work("""
kernels: Every kernel that ran on a device.
    grid           i4  number of a string  Grid as JSON text; -1 unknown.
    block          i4  number of a string  Block as JSON text; -1 unknown.
    registers      i4  -                   Registers per thread; -1 unknown.
    shared_memory  i8  bytes               Shared memory of a block; -1 unknown.
    blocks_per_sm  f8  -                   Blocks per multiprocessor.
    occupancy      f8  %                   Estimated achieved occupancy.
""")
COPIES = _work("""
copies: Every copy and memset on a device.
    kind   u1  Role   `memcpy` or `memset`.
    bytes  i8  bytes  Its size; -1 unknown.
""")
OPERATORS = _spec("""
operators: Every call of an operator on the host.
    self_dur     i8  ns                  dur less what ran directly inside it on its thread.
    device_self  i8  ns                  Device work that the call itself launched.
    parent       i4  row of spans        Innermost enclosing event of the thread; -1 none.
    shapes       i4  number of a string  Input shapes as JSON text; -1 not recorded.
    dtypes       i4  number of a string  Input types as JSON text; -1 not recorded.
    sequence     i8  -                   `Sequence number`; -1 none.
""")
COUNTERS = _spec(
    """
counters: Hardware counters of profiled kernels and ranges, a row per range and counter.
    id       i4  row of spans        The range.
    name     i4  number of a string  Name of the range.
    start    i8  ns                  Begin.
    dur      i8  ns                  Duration.
    counter  i4  number of a string  Name of the counter.
    value    f8  -                   Its value, in the counter's own unit.
""",
    calls=False,
)
SAMPLES = _spec(
    """
counter_samples: Samples of counters over time (`ph` C).
    time           i8  ns                  When.
    name           i4  number of a string  Name.
    args           i4  number of a string  Values as JSON text: `args->>'$.key'`.
    process        i4  number of a string  Process id as written.
    process_label  i4  number of a string  Its label, e.g. `GPU 0`; -1 unknown.
""",
    calls=False,
)
