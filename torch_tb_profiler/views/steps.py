"""Steps as the page's selector and charts need them."""

from __future__ import annotations

from torch_tb_profiler.analysis.facts.steps import StepFlag, odd_reason
from torch_tb_profiler.analysis.figures.averages import category_times
from torch_tb_profiler.analysis.figures.selection import Selection as Selection
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.step_categories import CATEGORIES
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.nullable import optional_integers
from torch_tb_profiler.views.texts import CATEGORY_TEXT
from torch_tb_profiler.views.wire import Categories, StepItem, StepsPayload


def choose(
    facts: Facts,
    first: int | None = None,
    last: int | None = None,
    skip_cold: bool = False,
    name: str = "steps",
) -> Selection:
    """The steps that a request names by their ``index``; without bounds everything, what lies
    outside all steps included.

    ``name``: that of the parameter, for the message.

    Raises:
        BadRequest: there is no such step.
    """
    try:
        return select(facts, first, last, skip_cold)
    except IndexError as error:
        raise BadRequest(f"Parameter {name}: {error}.", "Take the indices from /steps.") from None


def steps_payload(facts: Facts, selection: Selection) -> StepsPayload:
    """Route ``/steps``."""
    return StepsPayload(source=facts.summary["step_source"], steps=step_items(facts, selection))


def step_items(facts: Facts, selection: Selection) -> list[StepItem]:
    """Every step of the trace in time order; ``selected`` marks those of the selection."""
    table = facts["steps"]
    names = facts.strings.many(table["name"])
    starts, ends = table["start"].tolist(), table["end"].tolist()
    flags = table["flags"].tolist()
    categories = [optional_integers(times) for times in category_times(facts).values()]
    chosen = set(selection.steps.tolist())
    # Plain numbers: flags of an enumeration cost more than all else here, and a long recording has
    # thousands of steps.
    cold, odd, cut = int(StepFlag.COLD), int(StepFlag.ODD), int(StepFlag.CUT)
    return [
        StepItem(
            index=i,
            name=names[i],
            start_ns=starts[i],
            wall_ns=ends[i] - starts[i],
            categories_ns=Categories(
                **{c: values[i] for c, values in zip(CATEGORIES, categories, strict=True)}
            ),
            cold=flags[i] & cold != 0,
            odd=flags[i] & odd != 0,
            odd_reason=_odd_text(facts, i) if flags[i] & odd else "",
            cut=flags[i] & cut != 0,
            selected=i in chosen,
        )
        for i in range(table.n)
    ]


def _odd_text(facts: Facts, row: int) -> str:
    reason = odd_reason(facts, row)
    if reason is None:
        return ""
    category, excess = reason
    direction = "more" if excess >= 0 else "less"
    return f"{format_ns(abs(excess))} {direction} {CATEGORY_TEXT[category]} than the median step"
