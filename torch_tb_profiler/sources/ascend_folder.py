"""What torch_npu writes beside a trace: one folder per process and recording.

::

    run/host_4242_20240512080000000_ascend_pt/
        profiler_info_3.json                             the rank, in its name and as rank_id
        profiler_metadata.json                           the process groups; default_group has all ranks
        ASCEND_PROFILER_OUTPUT/trace_view.json           the trace
                               kernel_details.csv …      tables that torch_npu computed from it
        PROF_000001_…/device_3/                          the device
        PROF_000001_…/mindstudio_profiler_output/msprof_20240512.json      the device's half of the trace again

Source: ``_profiler_path_creator.py`` and ``analysis/prof_common_func`` of torch_npu.
"""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import Any

import msgspec

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.untrusted import decoded, read_file, readable

OUTPUT = "ASCEND_PROFILER_OUTPUT"
_TRACE = "trace_view.json"
_INFO = regex(r"profiler_info(?:_(?P<rank>\d{1,7}))?\.json", re.ASCII)
_DEVICE = regex(r"device_(\d{1,7})", re.ASCII)
_AGAIN = regex(
    r"(?P<folder>.*_ascend_pt)/PROF_[^/]*/mindstudio_profiler_output/msprof_[^/]*\.json(?:\.gz)?",
    re.DOTALL,
)
_TABLES = (".csv", ".db")
_MOST_BYTES = 16 << 20
_MOST_FILES = 1000
AGAIN = (
    "The half of trace_view.json that the device recorded, once more: it is read from there"
    " (ASCEND_PROFILER_OUTPUT)."
)
TABLE = (
    "A table that torch_npu computed from this recording: its figures follow from trace_view.json."
)


class AscendFolder(msgspec.Struct, frozen=True):
    """What the folder of a trace tells; None unknown.

    devices: numbers of the devices that were recorded, ascending.
    versions: of what recorded, by its name in the header.
    """

    rank: int | None
    world_size: int | None
    devices: tuple[int, ...]
    versions: dict[str, str]


def is_again(place: Place) -> bool:
    """Whether a file tells what the trace of its recording, which is there, tells as well."""
    match = _AGAIN.fullmatch(place.text)
    if match is None or not place.is_local:
        return match is not None
    return os.path.exists(os.path.join(Place(match["folder"]).path, OUTPUT, _TRACE))


def tables_beside(place: Place) -> list[str]:
    """Names of the tables beside a trace of this machine."""
    folder = _folder(place)
    names = _listed(os.path.join(folder, OUTPUT)) if folder else []
    return [name for name in names if name.endswith(_TABLES)]


def told_by_folder(place: Place) -> AscendFolder | None:
    """What stands beside a trace of this machine; None where it lies in no such folder."""
    folder = _folder(place)
    if not folder:
        return None
    names = _listed(folder)
    rank, versions = None, {}
    for name in names:
        if (match := _INFO.fullmatch(name)) is not None:
            info = _read(os.path.join(folder, name))
            rank = _number(match["rank"]) if match["rank"] else _number(info.get("rank_id"))
            keys = ("torch_npu_version", "cann_version")
            versions = {key: info[key][:80] for key in keys if isinstance(info.get(key), str)}
    metadata = _read(os.path.join(folder, "profiler_metadata.json"))
    world = _world_size(metadata.get("parallel_group_info"))
    devices = {
        int(match[1])
        for name in names
        if name.startswith("PROF_")
        for inner in _listed(os.path.join(folder, name))
        if (match := _DEVICE.fullmatch(inner)) is not None
    }
    return AscendFolder(rank, world, tuple(sorted(devices)), versions)


def _world_size(groups: Any) -> int | None:
    """How many ranks the default group has."""
    for group in groups.values() if isinstance(groups, dict) else ():
        if isinstance(group, dict) and group.get("group_name") == "default_group":
            ranks = group.get("global_ranks")
            return len(ranks) or None if isinstance(ranks, list) else None
    return None


def _folder(place: Place) -> str:
    """The folder of a recording; empty where the file does not lie in one."""
    if not place.is_local:
        return ""
    output = place.parent.path
    folder = os.path.dirname(output)
    is_one = os.path.basename(output) == OUTPUT and folder.endswith("_ascend_pt")
    return folder if is_one else ""


def _listed(folder: str) -> list[str]:
    """Names in a folder, in order; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = [readable(entry.name) for entry in islice(entries, _MOST_FILES)]
    except OSError:
        return []
    return sorted(names)


def _read(path: str) -> dict[str, Any]:
    """An object; empty where there is none."""
    try:
        found = decoded(read_file(path, _MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _number(value: Any) -> int | None:
    """A rank; it may be written as a text."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,7}", value, re.ASCII):
        return int(value)
    return value if type(value) is int and 0 <= value < 10_000_000 else None
