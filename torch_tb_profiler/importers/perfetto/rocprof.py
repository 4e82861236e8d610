"""What AMD's rocprofv3 writes: plain slices, whose category tells what they are, on tracks by name.

::

    track 'STREAM [" 0 "]'   category kernel_dispatch    agent Agent-1, corr_id 7, workgroup_size 256, grid_size 512
      ─▶ {"cat":"kernel_dispatch","pid":1,"tid":0,"args":{"device":1,"stream":0,"correlation":7,"grid":[2,1,1],"block":[256,1,1],…}}

``workgroup_size`` and ``grid_size`` are products of three sizes, and a grid counts work items, not groups.

Source: ``source/lib/output/generatePerfetto.cpp`` of rocprofiler-sdk (ROCm/rocm-systems, August 2025).
"""

from __future__ import annotations

import re
from typing import Any, cast

from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS
from torch_tb_profiler.importers.perfetto.places import TrackDescriptors, TrackThread, json_text
from torch_tb_profiler.patterns import regex

KERNELS, COPIES = "kernel_dispatch", "memory_copy"
CATEGORIES = frozenset(
    f"""{KERNELS} {COPIES} hip_api hsa_api rccl_api marker_api
    rocdecode_api rocjpeg_api hipfile_api rocshmem_api""".split()
)
"""Those whose arguments have other names than Kineto's."""
_STREAM = regex(r"STREAM\s*\[[\s\"]*(\d{1,9})[\s\"]*\]")
_QUEUE = regex(r"QUEUE\s*\[\s*(\d{1,9})\s*\]")
_THREAD = regex(r"THREAD \d{1,9} \((\d{1,18})\)\s*")
"""All threads but the main one, which has a descriptor of a thread."""
_AGENT = regex(r"AGENT\s*\[\s*(\d{1,9})\s*\]")
_LAST_NUMBER = regex(r"(\d{1,9})\D*$", re.ASCII)
_SAME = {
    "corr_id": "correlation",
    "copy_bytes": "bytes",
    "VGPR_Count": "registers per thread",
    "LDS_Block_Size": "shared memory",
    "group_segment_size": "shared memory",
}
"""Argument of rocprofv3 → of Kineto."""


def translated(
    category: str, name: str, fields: str, place: TrackThread, places: TrackDescriptors
) -> tuple[TrackThread, str]:
    """Place and fields of ``args`` of a slice, with those that Kineto's traces would have behind its own."""
    try:
        args = cast("dict[str, Any]", ANY.decode(f"{{{fields}}}"))
    except DECODE_ERRORS:
        return place, fields
    more = {name: args[key] for key, name in _SAME.items() if type(args.get(key)) is int}
    track = str(place.tid)
    if (thread := _THREAD.fullmatch(track)) is not None:
        place = places.of_thread(place.pid or places.process_of_file(), int(thread[1]))
    if category in (KERNELS, COPIES):
        device = _device(category, name, args, track)
        stream = _STREAM.search(track)
        queue = _QUEUE.search(track)
        if device >= 0:
            more["device"] = device
            place = places.of_queue(device, f"stream {stream[1]}" if stream else track)
        number = stream or queue
        if number is not None:
            more["stream"] = int(number[1])
    if category == KERNELS:
        more |= _launch(args)
    return place, ",".join(filter(None, (fields, *(_field(*pair) for pair in more.items()))))


def _field(name: str, value: Any) -> str:
    return f"{json_text(name)}:{json_text(value)}"


def _device(category: str, name: str, args: dict[str, Any], track: str) -> int:
    """The agent that did it, of a copy the one that is not the host; −1 unknown."""
    if category == KERNELS:
        said = args.get("agent")
    elif "HOST_TO_HOST" in name:
        return -1
    else:
        said = args.get("src_agent" if "DEVICE_TO_HOST" in name else "dst_agent")
    number = _agent(said)
    if number < 0 and (match := _AGENT.search(track)) is not None:
        number = int(match[1])
    return number


def _agent(said: Any) -> int:
    """The number of an agent, which newer versions write as a text (``GPU-1``)."""
    if type(said) is int:
        return said
    match = _LAST_NUMBER.search(said) if isinstance(said, str) else None
    return int(match[1]) if match is not None else -1


def _launch(args: dict[str, Any]) -> dict[str, list[int]]:
    """Groups, and work items of each."""
    items, group = args.get("grid_size"), args.get("workgroup_size")
    if type(items) is not int or type(group) is not int or items < 1 or group < 1:
        return {}
    return {"grid": [-(-items // group), 1, 1], "block": [group, 1, 1]}
