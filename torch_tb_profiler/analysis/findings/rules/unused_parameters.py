"""``find_unused_parameters=True`` of DistributedDataParallel although every parameter is used.

Evidence: DDP searches the graph in each forward pass (``search_unused_parameters``, which only this option calls),
marks each parameter as used in its hook, sends the marks (one more all_reduce) and reads one mark per parameter. The
gradients it copies are as many as the buckets have parameters: none was unused.
Change: the search, the marks and their all_reduce are gone. Certain.
Wrong where a parameter goes unused in steps that were not recorded.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import calls_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.outcomes import Reach
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import Role

_SEARCH = "torch.distributed.ddp.reducer::search_unused_parameters"
_COPY = "torch.distributed.ddp.reducer::copy_bucket_to_grad"
_REDUCED = "torch::distributed::reducer::mul_out"
_GRADIENT = "torch::autograd::AccumulateGrad"
_HOOKED = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
_NO_PARENT = -1


class _Marks(msgspec.Struct, frozen=True):
    """What the option adds, rows of spans: ``set`` in the hooks, ``read`` after the backward pass."""

    set: Ints
    read: Ints


def _claim(context: RuleContext) -> Candidate | None:
    search = context.within(context.rows_named(context.calls, _SEARCH.__eq__))
    if not len(search):
        return None
    marks = _marks(context)
    used = _count(context, _REDUCED) or _count(context, _GRADIENT)
    total = _count(context, _COPY) or len(context.within(marks.read)) // 2
    if not total or used != total:
        return None
    sent, call = _sent(context, search, marks.read)
    row = np.concatenate((search, marks.set, marks.read, call))
    shown = np.concatenate((row, sent))
    start, end = context.times(shown)
    return Candidate(
        shown,
        start,
        end,
        {
            "parameters": total / len(search),
            "searches": len(search) / len(context.steps),
            "sent": float(len(sent) > 0),
        },
        edit=calls_gone(row, sent),
    )


def _count(context: RuleContext, name: str) -> int:
    return len(context.within(context.rows_named(context.calls, name.__eq__)))


def _marks(context: RuleContext) -> _Marks:
    """Of each parameter ``marks[i] = 1`` in its hook, and ``marks[i].item()`` before its gradient is copied."""
    spans = context.trace["spans"]
    calls = context.of_role(Role.OPERATOR)
    parent = context.parent
    order = np.lexsort((spans["start"][calls], parent[calls], spans["track"][calls]))
    calls = calls[order]
    above = parent[calls]
    select, fill, item, copy, hooked = (
        context.named(calls, name.__eq__)
        for name in ("aten::select", "aten::fill_", "aten::item", _COPY, _HOOKED)
    )
    beside = (above[1:] == above[:-1]) & (spans["track"][calls][1:] == spans["track"][calls][:-1])

    def before(some: Mask) -> Mask:
        """Which calls have one of some as the next beside them."""
        return np.append(some[1:] & beside, np.False_)

    hook = mask_of(spans.n + 1, calls[hooked])
    filled = fill & hook[above] & (above != _NO_PARENT)
    set_ = filled | (select & before(filled))
    read = item & np.append(np.False_, (select & before(item))[:-1])
    # One after the other, or each before its copy: a single ``x[i].item()`` is the user's.
    read &= before(copy) | before(select) | np.append(np.False_, copy[:-1] & beside)
    return _Marks(calls[set_], calls[read | (select & before(read))])


def _sent(context: RuleContext, search: Ints, read: Ints) -> tuple[Ints, Ints]:
    """``(event, call)`` of the all_reduce that sends the marks: the last one between a search and the first mark that is
    read; of gradients alone there is one less.
    """
    table, spans = context.insight["collectives"], context.trace["spans"]
    none = np.zeros(0, np.int64)
    mine = (table["kind"] == context.insight.strings.number("all_reduce")) & (table["host"] >= 0)
    row = np.flatnonzero(mine)
    begin = spans["start"][table["host"][row]]
    row, begin = row[np.argsort(begin, kind="stable")], np.sort(begin, kind="stable")
    searched, seen = np.sort(spans["start"][search]), np.sort(spans["start"][read])
    if not len(row) or not len(seen):
        return none, none
    first = seen[np.minimum(np.searchsorted(seen, searched), len(seen) - 1)]
    low, high = (np.searchsorted(begin, time) for time in (searched, first))
    several = high - low >= 2
    last = row[high[several] - 1]
    types = context.insight.strings.many(table["dtype"][last])
    last = last[np.array([not text or "int" in text.lower() for text in types], np.bool_)]
    return table["event"][last].astype(np.int64), table["host"][last].astype(np.int64)


RULE = Rule(
    place=56,
    claim=_claim,
    title="Unused parameters are searched for although all are used",
    action="Set find_unused_parameters=False",
    fact="all {parameters} parameters are used",
    sentence="""DistributedDataParallel was made with find_unused_parameters=True: it searches the graph ({searches} times per
    {step}) and checks {parameters} parameters each time, and none was unused. Without it the {step} is {gain} ({share})
    shorter.""",
    attempt="""Leave find_unused_parameters=False (the default). Where some parameters go unused, but the same ones in every
    {step}, static_graph=True finds them once; gradient_as_bucket_view=True saves the copies of the gradients, too.""",
    caveat="""With a parameter that goes unused in some {step}, DistributedDataParallel stops with an error without this option.""",
    views=("overview", "distributed"),
    cause="Searching for unused parameters costs {gain} of {the_step}",
    causes=(PathCause.OPERATOR, PathCause.COMMUNICATION),
    without="Without the search",
    links=(
        (
            "find_unused_parameters and static_graph",
            links.DOCS + "generated/torch.nn.parallel.DistributedDataParallel.html",
        ),
        ("How DistributedDataParallel works", links.DOCS + "notes/ddp.html#internal-design"),
    ),
    details=(("sent", "Which of them were used costs one more all_reduce each time."),),
    numbers={
        "parameters": ("Parameters", "count"),
        "searches": ("Searches", "count"),
    },
    reach=Reach(0.5, 2.0),
)
