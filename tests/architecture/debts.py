"""The ratchet: places that break a size or name rule today, each with the reason why it may, for
now.

An entry holds the size that is allowed; the place may shrink but not grow. The test also fails when
an entry is no longer needed, so that the list only ever gets shorter. An entry is added only in the
change that explains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Debt:
    """A known breach: the rule's name, ``path`` or ``path:function``, how much is allowed, why."""

    rule: str
    where: str
    allowed: int
    reason: str


DEBTS: tuple[Debt, ...] = ()


def unpaid(rule: str, found: Mapping[str, int], debts: tuple[Debt, ...] = DEBTS) -> list[str]:
    """What breaks the rule beyond its entry, what is allowed without need, and entries without a
    reason.
    """
    listed = {d.where: d for d in debts if d.rule == rule}
    grown = [
        f"{rule}: {w} has {n}, allowed are {listed[w].allowed if w in listed else 'none'}"
        for w, n in sorted(found.items())
        if w not in listed or n > listed[w].allowed
    ]
    paid = [f"{rule}: the entry for {w} can go" for w in sorted(listed) if w not in found]
    loose = [
        f"{rule}: the entry for {w} can be lowered to {n}"
        for w, n in sorted(found.items())
        if w in listed and n < listed[w].allowed
    ]
    silent = [
        f"{rule}: the entry for {d.where} gives no reason"
        for d in listed.values()
        if len(d.reason) < 20
    ]
    return grown + paid + loose + silent
