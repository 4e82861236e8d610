"""What the units of declared columns become in SQL."""

from __future__ import annotations

from enum import IntEnum

from torch_tb_profiler.analysis.facts.flags import Attribution, NoOperator, Within
from torch_tb_profiler.analysis.facts.replay_matching import Evidence
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.server_steps import PHASES
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Column
from torch_tb_profiler.store.insight_schema import PathCause, PathKind, RangeKind
from torch_tb_profiler.store.roles import Role

TEXT, INSIGHT_TEXT = "number of a string", "number of a string of the insight"


def _words(names: type[IntEnum]) -> tuple[str, ...]:
    return tuple(
        names(value).name.lower() if value in names._value2member_map_ else str(value)
        for value in range(max(names) + 1)
    )


NAMED: dict[str, tuple[str, ...]] = {
    **{
        kind.__name__: _words(kind)
        for kind in (
            Role,
            PathCause,
            PathKind,
            RangeKind,
            Attribution,
            NoOperator,
            Within,
            Evidence,
        )
    },
    "position in BLOCK_CATEGORIES": BLOCK_CATEGORIES,
    "index of PHASES": PHASES,
    "ASCII": tuple(map(chr, range(128))),
}
"""Unit → texts of the values of a column."""
FLAG = "0 or 1"


def sql_type(column: Column) -> str:
    """The type of a declared column in SQL."""
    if column.unit in (TEXT, INSIGHT_TEXT) or column.unit in NAMED:
        return "VARCHAR"
    if column.unit in (FLAG, Knowledge.__name__):
        return "BOOLEAN"
    names = {"i1": "TINYINT", "u1": "UTINYINT", "i4": "INTEGER", "u8": "UBIGINT", "f8": "DOUBLE"}
    return names.get(column.dtype, "BIGINT")
