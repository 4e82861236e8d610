"""What a trace shows of who waited for whom; the basis of its critical path and of what-ifs."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.critical_path.device import DeviceWork, device_work
from torch_tb_profiler.analysis.critical_path.host import (
    HostSegments,
    blocking_calls,
    host_segments,
    program_thread,
)
from torch_tb_profiler.analysis.critical_path.locks import LockWaits, lock_waits
from torch_tb_profiler.analysis.facts.host_names import host_names
from torch_tb_profiler.store.columns import Ints, Mask, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


class Evidence(msgspec.Struct, frozen=True):
    """blocking: which rows of spans are calls that wait for device work. host: what each thread did. work: what let
    each piece of device work begin. main: the program's thread, −1 none. locks: threads that waited for others.
    """

    blocking: Mask
    host: HostSegments
    work: DeviceWork
    main: int
    locks: LockWaits


def gather(trace: Trace, facts: Facts, collectives: Table | None = None) -> Evidence:
    """The evidence of a trace. ``collectives``: its table; host libraries that move data on threads of their own
    count as devices.
    """
    blocking = blocking_calls(trace, facts)
    host = host_segments(trace, facts, blocking)
    main = program_thread(trace, facts, host)
    work = device_work(trace, facts, blocking, host_transfers(trace, collectives, main))
    return Evidence(blocking, host, work, main, lock_waits(trace))


def host_transfers(trace: Trace, collectives: Table | None, main: int) -> tuple[Ints, Ints]:
    """``(row, launch)``: transfers of host libraries on threads other than ``main`` or that of the calls that started
    them, and these calls, −1 unknown; rows of spans.
    """
    spans = trace["spans"]
    if collectives is None:
        return (np.zeros(0, np.int64),) * 2
    row, call = (collectives[key].astype(np.int64) for key in ("event", "host"))
    track = spans["track"][row]
    there = (spans["role"][row] != Role.KERNEL) & (spans["dur"][row] > 0)
    started = (call >= 0) & (track != spans["track"][call])
    started &= spans["start"][call] <= spans["start"][row]
    names = host_names(trace.strings, spans["name"][row])
    alone = (call < 0) & (track != main) & (main >= 0) & names.transfer[spans["name"][row]]
    own = there & (started | alone)
    return row[own], call[own]
