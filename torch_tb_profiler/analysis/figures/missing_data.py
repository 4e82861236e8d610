"""What the recording did not contain, so that a view can say which option records it."""

from __future__ import annotations

from collections import Counter

import numpy as np

from torch_tb_profiler.analysis.facts.defects import UNCLEAR_RANK
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, unknown_share
from torch_tb_profiler.analysis.figures.operators import operators_have_device_time
from torch_tb_profiler.analysis.figures.selection import has_steps
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.units import fit_text, format_count, format_names

SETTING = "TORCH_TB_PROFILER_CATEGORIES"
"""The environment variable that gives them one."""

MOST_NAMED = 3

_LONGEST_NAME = 40

_MOST_SET = 20


class Unplaced(str):
    """Which events have no role, in words, among the keys of ``absent``; ``setting`` is an example of
    what gives them one, as the environment variable takes it.
    """

    setting: str = ""


def absent(facts: Facts) -> tuple[str, ...]:
    """Keys of what is missing: ``device`` (``device_times`` where counters of its kernels were
    measured in their place, ``device_work`` where launches lack theirs, ``device_of_rank`` where the file has work that may be of several ranks),
    ``shapes``, ``stack``, ``steps``, ``memory``, ``host``, ``operators_of_device``.

    ``events`` stands among them where there is nothing but memory records, ``pytorch_profiler``
    where NVIDIA's recorded, and always the kind of program (``Writer``) and, if any events have no
    role, which (``Unplaced``).
    """
    summary = facts.summary
    # Another part of the file holds what it has of this one, too.
    shared = facts.defects[UNCLEAR_RANK] > 0
    missing = {
        "device": not summary.has_device and not summary.profiled_ranges and not shared,
        "device_of_rank": not summary.has_device and shared,
        "device_work": unknown_share(facts, np.arange(facts["steps"].n)) > LEAST_UNKNOWN,
        "device_times": not summary.has_device and summary.profiled_ranges > 0,
        "shapes": not summary.has_shapes,
        "stack": not summary.has_stacks,
        "steps": not has_steps(facts),
        "memory": not summary.has_memory,
        "events": summary.has_memory and facts["span_links"].n == 0,
        "host": facts["operators"].n == 0 and not shared,
        "pytorch_profiler": "Profiler" in summary.versions
        and facts.summary.writer not in (Writer.TORCH_NPU, Writer.OTHER),
        "operators_of_device": summary.has_device
        and facts["operators"].n > 0
        and not operators_have_device_time(facts),
    }
    without_role = unplaced(facts)
    return (
        *(key for key, is_missing in missing.items() if is_missing),
        facts.summary.writer,
        *([without_role] if without_role else []),
    )


def unplaced(facts: Facts, *kinds: str) -> Unplaced | None:
    """``21 events of process “My NPU” and 3 of category “npu_op”``; None if all have a role.

    ``kinds``: ``category`` or ``process`` where only such events are asked for.
    """
    told = facts.summary.unplaced
    found = {k: names for k, names in told.items() if not kinds or k in kinds}
    listed = [(name, kind, n) for kind, names in found.items() for name, n in names.items()]
    if not listed:
        return None
    listed.sort(key=lambda item: -item[2])
    named = [
        f"{format_count(n)}{'' if i else ' events' if n != 1 else ' event'} of {kind} {_quoted(name)}"
        for i, (name, kind, n) in enumerate(listed[:MOST_NAMED])
    ]
    rest = listed[MOST_NAMED:]
    if rest:
        named.append(f"{format_count(sum(n for *_, n in rest))} of {len(rest)} more")
    text = Unplaced(format_names(named))
    names = (" ".join(name.replace(",", " ").split()) for name, *_ in listed[:_MOST_SET])
    text.setting = ",".join(f"{name}=kernel" for name in names if name)
    return text


def unrecorded(facts: Facts) -> str:
    """``8 of 8 launches by hipGraphLaunch lack device work.``; empty where none does."""
    table = facts["unrecorded_work"]
    calls = Counter(zip(table["name"].tolist(), table["of"].tolist(), strict=True))
    if not calls:
        return ""
    named = [
        f"{format_count(lack)} of {format_count(of)} launches by {_quoted(facts.strings[name])}"
        for (name, of), lack in calls.most_common(MOST_NAMED)
    ]
    if rest := sum(lack for _, lack in calls.most_common()[MOST_NAMED:]):
        named.append(f"{format_count(rest)} by other calls")
    verb = "lacks" if table.n == 1 else "lack"
    return f"{format_names(named)} {verb} device work."


def _quoted(name: str) -> str:
    one_line = " ".join(name.split()) or "without a name"
    cut = fit_text(one_line, _LONGEST_NAME)
    return f"“{cut}”" if name else cut
