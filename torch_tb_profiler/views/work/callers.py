"""Route ``/callers``."""

from __future__ import annotations

from torch_tb_profiler.analysis.efficiency.table import EfficiencyGroup
from torch_tb_profiler.analysis.figures.callers import kernel_callers, operator_callers
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.wire import CallersPayload
from torch_tb_profiler.views.words.texts import missing


def callers_payload(
    facts: Facts,
    selection: Selection,
    of: EfficiencyGroup,
    name: str,
    shapes: str | None = None,
    library: bool = False,
) -> CallersPayload:
    """The callers of an operator (with these input shapes, if given) or a kernel.

    Raises:
        NotFound: the selected steps have no such operator or kernel.
    """
    number = facts.strings.number(name)
    dims = None if shapes is None else facts.strings.number(shapes)
    rows = None
    if number >= 0 and dims != -1:
        rows = (
            kernel_callers(facts, selection, number, library)
            if of == "kernel"
            else operator_callers(facts, selection, number, dims, library)
        )
    if rows is None:
        wanted = f"{of} {name!r}" + ("" if shapes is None else f" with input shapes {shapes}")
        raise NotFound(
            f"The selected steps hold no {wanted}.",
            f"Take the name from /{of}, with the same steps.",
        )
    return CallersPayload(rows=wire_columns(rows), missing=missing(absent(facts), ("stack",)))
