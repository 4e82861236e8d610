"""Questions that other profilers' documentation asks, each answered by one statement; ``docs/guide/sql.md`` and the page
show them, and a test runs them.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from torch_tb_profiler.data_rows import rows_beside
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


EXAMPLES = tuple(
    msgspec.convert({key: "\n".join(lines) for key, lines in row.items()}, Example)
    for row in rows_beside(__file__)
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
