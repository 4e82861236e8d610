"""Collectives of an Ascend device, which its files tell up to three times: each counts once.

::

    Ascend Hardware   Stream 5                  |■hcom_allReduce__606_0_1■|      the task, where the device has one
                      Stream 6                  |SDMA|  |Notify_Wait|            its parts
    Communication     Group 606 Communication   |■hcom_allReduce__606_0_1■|      the whole
                      Plane 0                   |SDMA|  |Notify_Wait|            its parts again

The task on the device counts where it is there, else the whole. Parts, and kernels that a collective
runs within itself (``…AivKernel``, ``…AicpuKernel``), stay on the timeline and count in no sum.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict

import numpy as np

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE, StringBuilder

_PROCESS = regex(r"Communication|HCCL", re.IGNORECASE)
_HARDWARE = regex(r"Ascend Hardware", re.IGNORECASE)
_WHOLE_THREAD = regex(r"(?:Group .*)?Communication(?: OP)?", re.IGNORECASE | re.DOTALL)
_WHOLE_NAME = regex(r"hcom_|hccl_", re.IGNORECASE)
_WITHIN = regex(r".*(?:AivKernel|AicpuKernel)", re.DOTALL)
_HCOM = regex(r"hcom_(?P<kind>[A-Za-z]+)(?:_+(?P<group>[^_]+)_\d+_\d+)?")
_DTYPES = {
    "FP64": "Double",
    "FP32": "Float",
    "FP16": "Half",
    "BFP16": "BFloat16",
    "BF16": "BFloat16",
    "INT64": "Long",
    "INT32": "Int",
    "INT16": "Short",
    "INT8": "Char",
    "UINT8": "Byte",
}
"""Ascend's names of element types → PyTorch's."""


def collectives_once(trace: Trace, roles: Array, link: Array) -> tuple[Array, dict[int, int]]:
    """``(roles, counted)``: the roles of all spans, with each collective once; and per collective
    that counts the row that tells its arguments.

    ``roles``, ``link``: of every span; the calls and the work of one collective have the same link.
    """
    of_track = _tracks(trace, _PROCESS, "process_name")
    told = np.flatnonzero(of_track[trace["spans"]["track"]] & (roles != Role.OTHER))
    device = np.flatnonzero(_tracks(trace, _HARDWARE, "process_name")[trace["spans"]["track"]])
    if not len(told):
        return roles, {}
    is_whole = _wholes(trace, told)
    whole, part = told[is_whole], told[~is_whole]
    roles = roles.copy()
    roles[part] = Role.OTHER
    twins = _twins(trace, whole, device)
    roles[[row for row in whole.tolist() if row in twins]] = Role.OTHER
    roles[[row for row in whole.tolist() if row not in twins]] = Role.KERNEL
    again = _again(trace, whole, part, device, link)
    again = again[~np.isin(again, list(twins.values()))]
    roles[again[roles[again] != Role.SYNC]] = Role.OTHER
    return roles, {twins.get(row, row): row for row in whole.tolist()}


def collective_args(
    trace: Trace, late: Table, counted: dict[int, int], strings: StringBuilder
) -> Table:
    """``collective_args`` of the collectives that count."""
    row = np.array(sorted(counted), np.int64)
    source = np.array([counted[one] for one in row.tolist()], np.int64)
    position = {int(span): place for place, span in enumerate(late["span"].tolist())}
    at = [position.get(one, -1) for one in source.tolist()]
    matches = [_HCOM.match(trace.strings[int(n)]) for n in trace["spans"]["name"][source]]

    def number(key: str) -> list[int]:
        return [int(late[key][place]) if place >= 0 else -1 for place in at]

    dtypes = [_DTYPES.get(t.upper(), t) for t in trace.strings.many(number("dtype"))]
    elements, none = number("elements"), np.full(len(row), -1, np.int64)
    return schema.COLLECTIVE_ARGS.build(
        span=row,
        collective=[strings.intern(m["kind"].rstrip("_") if m else "") for m in matches],
        dtype=[strings.intern(text) if text else NONE for text in dtypes],
        group=[strings.intern(m["group"]) if m and m["group"] else NONE for m in matches],
        group_size=number("ranks"),
        elements_in=elements,
        elements_out=elements,
        sequence=none,
        source=none,
        destination=none,
    )


def _tracks(trace: Trace, pattern: re.Pattern[str], column: str) -> Mask:
    """Which tracks have such a name."""
    texts = trace.strings.many(trace["tracks"][column])
    return np.array([pattern.fullmatch(text) is not None for text in texts], np.bool_)


def _wholes(trace: Trace, told: Ints) -> Mask:
    """Which rows are whole collectives: those on threads for them, else by their names."""
    spans = trace["spans"]
    on_thread = _tracks(trace, _WHOLE_THREAD, "thread_name")[spans["track"][told]]
    if on_thread.any():
        return np.asarray(on_thread)
    names = {
        n: bool(_WHOLE_NAME.match(trace.strings[n])) for n in set(spans["name"][told].tolist())
    }
    return np.array([names[n] for n in spans["name"][told].tolist()], np.bool_)


def _twins(trace: Trace, whole: Ints, device: Ints) -> dict[int, int]:
    """Whole collective → the task of its name on the device at its time."""
    start, dur, name = (trace["spans"][key] for key in ("start", "dur", "name"))
    tasks: dict[int, list[int]] = defaultdict(list)
    wanted = set(name[whole].tolist())
    for row in device.tolist():
        if int(name[row]) in wanted:
            tasks[int(name[row])].append(row)
    twins: dict[int, int] = {}
    used: set[int] = set()
    for row in whole.tolist():
        same = tasks.get(int(name[row]), [])
        end = int(start[row] + dur[row])
        # Rows are ordered by start; the last task that begins before the end of the whole.
        place = bisect_left(same, max(end, int(start[row]) + 1), key=lambda r: int(start[r])) - 1
        while place >= 0 and same[place] in used:
            place -= 1
        if place >= 0 and int(start[same[place]] + dur[same[place]]) >= int(start[row]):
            twins[row] = same[place]
            used.add(same[place])
    return twins


def _again(trace: Trace, whole: Ints, part: Ints, device: Ints, link: Array) -> Ints:
    """Tasks of the device that are parts of collectives: at the time of a part, of a collective's
    link, or kernels that run within one.
    """
    start, dur, name = (trace["spans"][key] for key in ("start", "dur", "name"))
    times = set(zip(start[part].tolist(), dur[part].tolist(), strict=True))
    links = {number for number in link[whole].tolist() if number > 0}
    within = {n for n in set(name[device].tolist()) if _WITHIN.fullmatch(trace.strings[n])}
    found = [
        row
        for row, s, length, number, text in zip(
            device.tolist(),
            start[device].tolist(),
            dur[device].tolist(),
            link[device].tolist(),
            name[device].tolist(),
            strict=True,
        )
        if (s, length) in times
        or number in links
        or (text in within and _overlaps(start, dur, whole, s, s + length))
    ]
    return np.array(found, np.int64)


def _overlaps(start: Array, dur: Array, whole: Ints, begin: int, end: int) -> bool:
    last = int(np.searchsorted(start[whole], end)) - 1
    return last >= 0 and bool((start[whole[: last + 1]] + dur[whole[: last + 1]]).max() > begin)
