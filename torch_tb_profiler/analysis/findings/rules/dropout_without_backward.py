"""Dropout that makes a random mask though nothing in the recording has a backward pass::

    [linear] [dropout: bernoulli_ div_ mul] [linear]      no gradient was recorded, none is taken

Evidence: operators of dropout that make a mask, or call what does, and neither backward functions nor differentiated operators.
Change: they take no time, nor what they launch; inside attention that takes its plain path on a host because of them, all but the
products is gone, too. Certain where operators tell by their sequence numbers that gradients were off, else likely. Wrong where dropout
is wanted: several random passes estimate how sure a model is.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import calls_gone, thread_time_gone, together
from torch_tb_profiler.analysis.findings.operators import active_dropout, beneath, outermost
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.columns import Ints

_PLAIN = re.compile(r"aten::_scaled_dot_product_attention_math$")
_PRODUCT = re.compile(r"aten::(?:bmm|baddbmm)$")


def _claim(context: RuleContext) -> Candidate | None:
    training = context.training
    if len(training.differentiated) or training.backward.any():
        return None
    row = active_dropout(context)
    if not len(row):
        return None
    plain = context.within(context.rows_named(context.operators, _PLAIN.match))
    homes = context.home(row, plain)
    plain = np.unique(homes[homes >= 0]) if not context.has_device else plain[:0]
    launched = context.facts["span_links"]["operator"][context.work.row]
    work = context.work.row[context.home(launched, row) >= 0]
    edit = together(calls_gone(row, work), _without_scores(context, plain))
    sequence = context.trace["operator_args"]["sequence"]
    told = bool(len(sequence)) and not (sequence >= 0).any()
    shown = outermost(context, np.concatenate((row, plain)))
    start, end = context.times(shown)
    return Candidate(
        shown,
        start,
        end,
        {"calls": context.per_step(row), "plain": context.per_step(plain)},
        certainty="certain" if told else "likely",
        edit=edit,
    )


def _without_scores(context: RuleContext, plain: Ints) -> Edit:
    """Attention on its plain path takes what its products take."""
    inside = context.operators[beneath(context, plain)[context.operators]]
    product = context.rows_named(inside, _PRODUCT.match)
    order = plain[np.argsort(context.times(plain)[0], kind="stable")]
    start, end = context.times(order)
    home = context.home(product, order)
    track, begin, until = [], [], []
    for number, row in enumerate(order.tolist()):
        own = np.sort(product[home == row])
        own_start, own_end = context.times(own)
        begin.append(np.append(start[number], own_end))
        until.append(np.append(own_start, end[number]))
        track.append(np.full(len(own) + 1, context.trace["spans"]["track"][row]))
    none = np.zeros(0, np.int64)
    pieces = [np.concatenate((none, *part)) for part in (track, begin, until)]
    return thread_time_gone(*pieces)


RULE = Rule(
    place=139,
    claim=_claim,
    title="Dropout is active though nothing is trained",
    action="Call model.eval() before inference",
    fact="{calls} calls of dropout per {step}, no backward pass",
    sentence="""{calls} times per {step} dropout draws a random mask{at}, and nothing in the recording has a backward pass: the model
    is in training mode. In model.eval() the {step} is {gain} ({share}) shorter, and its results are no longer random.""",
    attempt="""Call model.eval() before inference, or pass dropout_p=0.0 (scaled_dot_product_attention) and training=self.training
    (functional.dropout): torch.no_grad() alone leaves dropout on.""",
    caveat="Several random passes may be wanted (Monte Carlo dropout), or the backward pass was not recorded.",
    views=("overview", "operator", "module"),
    cause="Dropout without a backward pass costs {gain} of {the_step}",
    without="In model.eval()",
    links=(("Module.eval", links.DOCS + "generated/torch.nn.Module.html#torch.nn.Module.eval"),),
    details=(
        (
            "plain",
            "Because of it attention takes its plain path on the CPU ({plain} times per {step}): scores are written and read again.",
        ),
    ),
    numbers={
        "calls": ("Calls of dropout", "count"),
        "plain": ("Attentions on their plain path", "count"),
    },
)
