"""Attention written out: a softmax between two batched products, forward and backward::

    [bmm] [div] [add] [softmax] [dropout] [bmm]            backward [Bmm…][Dropout…][Softmax…][Add…][Div…][Bmm…]
          └─ scores are written and read ─┘

Evidence: on one thread ``aten::_softmax`` is the only one among products, convolutions and norms between two of ``aten::bmm`` or
``aten::baddbmm``, outside ``aten::scaled_dot_product_attention``; its backward by sequence numbers. Change: what lies between the
products is not done, neither on the host, where the softmax itself remains, nor on the device; where shapes and peaks are known the products take what their
arithmetic needs at the usual share of the peak. Likely.
On a host not where dropout is active between the products. Wrong where the scores themselves are needed, or changed in a way that a mask cannot say.
"""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.efficiency.ideal_times import ideal_times
from torch_tb_profiler.analysis.facts.host_names import EVALUATE
from torch_tb_profiler.analysis.findings.edits import thread_time_gone, together, work_takes
from torch_tb_profiler.analysis.findings.rule import Candidate, Pieces, Question, Reach, RuleContext
from torch_tb_profiler.hardware.peaks import achievable_share
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, unique_values

_BATCHED = regex(r"aten::(?:bmm|baddbmm)$")
_SOFTMAX = regex(r"aten::_softmax$")
_OTHER = regex(
    r"aten::(?:mm|addmm|mv|addmv|convolution|embedding|native_\w*norm|_fused_rms_norm|_log_softmax"
    r"|_scaled_dot_product\w*|sort|topk)$"
)
_DONE = regex(
    r"aten::(?:_?scaled_dot_product\w*|_native_multi_head_attention|_transformer_encoder_layer_fwd)$"
)
_PRODUCT_BACKWARD = regex(re.escape(EVALUATE) + r"(?:Bmm|Baddbmm)Backward")
MANY = 2
"""Attentions from which on it is no coincidence."""


class _Attentions(msgspec.Struct, frozen=True):
    """Rows of spans: both products and the softmax of each, arrays of shape (attentions,)."""

    first: Ints
    softmax: Ints
    second: Ints


def _claim(context: RuleContext) -> Candidate | None:
    found = _attentions(context)
    if found is None:
        return None
    spans = context.spans
    end = spans["start"] + spans["dur"]
    backward, products = _backward(context, found)
    track = spans["track"][np.concatenate((found.first, backward))]
    start = np.concatenate((end[found.first], spans["start"][backward]))
    stop = np.concatenate((spans["start"][found.second], end[backward]))
    shown = Pieces(np.concatenate((found.softmax, backward)), start, stop)
    if not context.has_device:
        # The exponentials are computed all the same; a device does so beside the products.
        edit = thread_time_gone(
            np.concatenate((track, track[: len(found.first)])),
            np.concatenate((start, end[found.softmax])),
            np.concatenate(
                (spans["start"][found.softmax], stop[len(found.first) :], stop[: len(found.first)])
            ),
        )
    else:
        own = context.launched_during(track, start, stop)
        kept = np.concatenate((found.first, found.second, products))
        product = context.launched_during(spans["track"][kept], spans["start"][kept], end[kept])
        shown, needed = context.work.take(own), context.work.row[product & ~own]
        takes = np.concatenate((np.zeros(len(shown.row)), _arithmetic(context, needed)))
        work = np.concatenate((shown.row, needed))
        edit = together(thread_time_gone(track, start, stop), work_takes(work, takes))
    steps = len(context.steps)
    numbers = {"attentions": len(found.softmax) / steps, "between": shown.total / steps}
    return Candidate(shown, numbers, edit=edit)


def _attentions(context: RuleContext) -> _Attentions | None:
    """The attentions of all threads outside of what is none of theirs."""
    spans, row = context.spans, context.operators
    softmax = context.named(row, _SOFTMAX.match)
    if not softmax.any():
        return None
    batched = context.named(row, _BATCHED.match)
    chosen = softmax | batched | context.named(row, _OTHER.match)
    row, softmax, batched = row[chosen], softmax[chosen], batched[chosen]
    order = np.argsort(spans["track"][row], kind="stable")
    row, softmax, batched = row[order], softmax[order], batched[order]
    middle = np.flatnonzero(softmax[1:-1] & batched[:-2] & batched[2:]) + 1
    middle = middle[spans["track"][row[middle - 1]] == spans["track"][row[middle + 1]]]
    done = context.rows_named(context.operators, _DONE.match)
    middle = middle[context.home(row[middle], done) < 0]
    middle = middle[np.isin(row[middle], context.within(row[middle]))]
    found = _Attentions(row[middle - 1], row[middle], row[middle + 1])
    if not context.has_device:
        # Where dropout is active between the products SDPA takes its plain path on a host, and saves nothing.
        ends = (context.spans["start"][one] for one in (found.softmax, found.second))
        thread = context.spans["track"][found.softmax]
        drops = context.stretch_of(context.active_dropout, thread, *ends)
        kept = ~mask_of(len(middle), drops[drops >= 0])
        found = _Attentions(found.first[kept], found.softmax[kept], found.second[kept])
    return found if len(found.softmax) >= MANY else None


def _backward(context: RuleContext, found: _Attentions) -> tuple[Ints, Ints]:
    """Backward functions of what lies between the products, and of the products."""
    calls = context.backward_calls
    low, high = calls.found_by(found.first), calls.found_by(found.second)
    known = (low >= 0) & (high > low)
    if not known.any() or not len(calls.row):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    low, high = np.sort(low[known]), np.sort(high[known])
    place = np.searchsorted(low, calls.number, side="right") - 1
    row = np.sort(calls.row[(place >= 0) & (calls.number <= high[place])])
    product = context.named(row, _PRODUCT_BACKWARD.match)
    return row[~product], row[product]


def _arithmetic(context: RuleContext, row: Ints) -> Array:
    """What the arithmetic of products needs where scores are neither written nor read, ns; NaN unknown."""
    workload = ideal_times(context.trace, context.insight, row, context.peaks).workload
    table, texts = context.insight["workloads"], context.insight.strings
    time = np.full(table.n + 1, np.nan)
    for number in unique_values(workload[workload >= 0]).tolist():
        unit, precision = (int(table[key][number]) for key in ("unit", "precision"))
        if min(unit, precision) < 0 or table["flops"][number] <= 0:
            continue
        rate = context.peaks.rate(texts[unit], texts[precision])
        if rate:
            least = 1e9 * int(table["flops"][number]) / rate
            time[number] = least / achievable_share("attention")
    return np.asarray(time[workload])


QUESTION = Question(__name__)
QUESTION.state("eager_attention", 141, _claim, certainty="likely", reach=Reach(0.6, 1.6))
