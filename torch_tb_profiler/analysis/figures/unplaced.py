"""Events that have no role, because nothing says what their category or their process is."""

from __future__ import annotations

from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_count

SETTING = "TORCH_TB_PROFILER_CATEGORIES"
"""The environment variable that gives them one."""
MOST_NAMED = 3
LONGEST_NAME = 40
_MOST_SET = 20


class Unplaced(str):
    """Which events have no role, in words, among the keys of ``absent``; ``setting`` is an example of
    what gives them one, as the environment variable takes it.
    """

    setting: str = ""


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
    text = Unplaced(" and ".join(filter(None, (", ".join(named[:-1]), named[-1]))))
    names = (" ".join(name.replace(",", " ").split()) for name, *_ in listed[:_MOST_SET])
    text.setting = ",".join(f"{name}=kernel" for name in names if name)
    return text


def _quoted(name: str) -> str:
    one_line = " ".join(name.split()) or "without a name"
    cut = one_line if len(one_line) <= LONGEST_NAME else f"{one_line[: LONGEST_NAME - 1]}…"
    return f"“{cut}”" if name else cut
