"""Questions that other profilers' documentation asks, each answered by one statement; ``docs/guide/sql.md`` and the page
show them, and a test runs them.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

Of = Literal["kernels", "operators", "memory", "events", ""]


class Example(msgspec.Struct, frozen=True):
    """``like``: where the question is asked elsewhere. ``statement``: as it stands in the guide. ``opens``: the page begins
    with it where the trace has some of these, and nothing that an example before it is of.
    """

    question: str
    like: str
    statement: str
    opens: Of = ""


EXAMPLES = (
    Example(
        "Which kernels take the most time?",
        "nsys `cuda_gpu_kern_sum`",
        """\
select name, count(*) as calls, sum(dur) as total, avg(dur) as mean, median(dur) as median,
  min(dur) as least, max(dur) as most, sum(dur) / sum(sum(dur)) over () as share
from kernels group by name order by total desc""",
        "kernels",
    ),
    Example(
        "Where does the host spend its time in runtime calls?",
        "nsys `cuda_api_sum`",
        """\
select name, count(*) as calls, sum(dur) as total, median(dur) as median, max(dur) as most,
  arg_max(id, dur) as id
from events where role = 'runtime' group by name order by total desc""",
    ),
    Example(
        "How long does each kernel wait between its launch and its begin?",
        "nsys `cuda_kern_exec_sum`",
        """\
select name, count(*) as calls, avg(launch_dur) as call, avg(start - launch_start - launch_dur) as waiting,
  avg(dur) as running
from kernels where launch is not null group by name order by sum(dur) desc""",
    ),
    Example(
        "How much is copied in which direction, and how fast?",
        "nsys `cuda_gpu_mem_time_sum`, `cuda_gpu_mem_size_sum`",
        """\
select name, count(*) as copies, sum(bytes) as bytes, sum(dur) as total,
  sum(bytes) filter (dur > 0) / sum(dur) filter (dur > 0 and bytes is not null) as gb_per_s
from copies group by name order by total desc""",
    ),
    Example(
        "When is a device idle for more than 0.1 ms, and what runs next?",
        "nsys `gpu_gaps`",
        """\
with work as (select id, name, device, start, stop from kernels
  union all select id, name, device, start, stop from copies),
gaps as (select *, start - max(stop) over (partition by device order by start, stop
  rows between unbounded preceding and 1 preceding) as gap from work)
select device, start - gap as idle_from, gap, name as next_work, id
from gaps where gap > 100000 order by gap desc""",
    ),
    Example(
        "How busy is each device in every tenth of the recording?",
        "nsys `gpu_time_util`",
        """\
with parts as (select p.range as part, p.range * w.stop // 10 as part_from, (p.range + 1) * w.stop // 10 as part_to
  from range(10) p, (select max(stop) as stop from events) w),
merged as (select device, start, greatest(start, coalesce(max(stop) over (partition by device order by start, stop
  rows between unbounded preceding and 1 preceding), 0)) as begin, stop from kernels)
select device, part, part_from, sum(greatest(0, least(stop, part_to) - greatest(begin, part_from))) / any_value(part_to - part_from) as busy
from merged, parts group by device, part, part_from order by device, part""",
    ),
    Example(
        "What did the device do for each annotated range?",
        "nsys `nvtx_kern_sum`",
        """\
select a.name as annotation, k.name as kernel, count(*) as kernels, sum(k.dur) as total
from kernels k join events r on r.id = k.launch
join events a on a.thread = r.thread and a.process = r.process
  and a.role = 'annotation' and r.start >= a.start and r.stop <= a.stop
group by 1, 2 order by total desc""",
    ),
    Example(
        "Which copies make the host wait for pageable memory?",
        "nsys rule `cuda_memcpy_async`",
        """\
select id, name, bytes, dur, launch_name, launch_dur, operator
from copies where name ilike '%pageable%' order by launch_dur desc""",
    ),
    Example(
        "What stands above an event: its callers, outermost first?",
        "Perfetto `ancestor_slice`",
        """\
with recursive above(id, depth) as (
  select arg_max(id, dur), 0 from kernels
  union all select coalesce(e.launch, e.parent), depth + 1 from above join events e on e.id = above.id
  where coalesce(e.launch, e.parent) is not null)
select e.id, e.name, e.role, e.start, e.dur from above join events e on e.id = above.id order by depth desc""",
    ),
    Example(
        "How long does a counter hold each of its values?",
        "Perfetto, spans of counters by `lead()`",
        """\
select device, time_ns, allocated_bytes,
  lead(time_ns) over (partition by device order by time_ns) - time_ns as dur_ns
from memory order by allocated_bytes desc""",
    ),
    Example(
        "Which operators cost the host most themselves, on which thread?",
        "Perfetto, self time of slices with their thread",
        """\
select name, process, thread, count(*) as calls, sum(self_dur) as host_self, sum(device_self) as device_self
from operators group by all order by host_self desc""",
        "operators",
    ),
    Example(
        "What holds the memory at its peak?",
        "PyTorch's memory visualizer",
        """\
select device, coalesce(line, operator, category) as what, sum(bytes) as bytes, sum(blocks) as blocks
from memory_alive group by all order by bytes desc""",
        "memory",
    ),
    Example(
        "Which events take the most time?",
        "Perfetto, slices by name",
        """\
select name, role, count(*) as calls, sum(dur) as total, arg_max(id, dur) as longest
from events group by all order by total desc""",
        "events",
    ),
    Example(
        "What is each step waiting for?",
        "none of these tools: the critical path",
        """\
select step, kind, coalesce(operator, name) as what, line, sum(dur_ns) as time, arg_max(event, dur_ns) as event
from critical_path group by all order by step, time desc""",
    ),
)


def opening(trace: Trace) -> Example:
    """The question with which the page begins: one that the trace has an answer to."""
    role = trace["spans"]["role"]
    there: dict[Of, bool] = {
        "kernels": bool((role == Role.KERNEL).any()),
        "operators": bool((role == Role.OPERATOR).any()),
        "memory": trace["memory"].n > 0,
        "events": True,
    }
    return next(example for example in EXAMPLES if there.get(example.opens))
