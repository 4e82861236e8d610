"""What a call costs before it does anything, and what operators do beyond that.

A call's cost is the median own time of the operators of the recording that only make views and that no other of these calls. Results are allocated
and their shapes checked, and libraries of products prepare more: ``OVERHEAD`` and ``PRODUCT_OVERHEAD`` times as much is no work. Neither is what one
call takes beyond ``PREEMPTED`` times what nine of ten of its name take: the system ran something else.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.host_names import is_engine_call
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, median_of

OVERHEAD, PRODUCT_OVERHEAD, PREEMPTED = 5, 10, 10
MOST = 0.9
"""Share of the calls of a name that take no longer than usual."""
_VIEWS = regex(
    r"aten::(?:t|transpose|as_strided|select|slice|view|detach|expand|unsqueeze|squeeze|permute|alias|narrow)$"
)
PRODUCTS = regex(
    r"aten::(?:linear|matmul|mm|bmm|addmm|baddbmm|addmv|mv|einsum|bilinear|_?\w*convolution|conv\w+"
    r"|embedding|layer_norm|rms_norm|batch_norm|group_norm|instance_norm|prelu|(?:lstm|gru|rnn\w*)(?:_cell)?"
    r"|scaled_dot_product_attention)$|(?!aten::)"
)
"""Operators that may have weights; those that PyTorch does not define may, too."""
_SUMS = regex(r"aten::add_?$")


class CallWork(msgspec.Struct, frozen=True):
    """``before[i]``: what operators before the i-th do beyond the cost of a call, ns, ordered by ``key``, which is (track, begin) as one
    number; ``width``: of a track.
    """

    key: Ints
    before: Array
    width: int

    @classmethod
    def of(cls, context: RuleContext) -> CallWork:
        """From the trace."""
        spans, row = context.spans, context.operators
        # With a device the host only calls.
        beyond = np.zeros(len(row)) if context.has_device else _beyond(context, row)
        width = int(spans["start"].max(initial=0)) + 1
        key = spans["track"][row].astype(np.int64) * width + spans["start"][row]
        order = np.argsort(key, kind="stable")
        return cls(key[order], np.concatenate(([0.0], np.cumsum(beyond[order]))), width)

    def inside(self, track: Array, start: Ints, end: Ints) -> Array:
        """Work of operators that begin in stretches of threads, ns."""
        first = track.astype(np.int64) * self.width
        a, b = (
            np.searchsorted(self.key, first + np.minimum(time, self.width)) for time in (start, end)
        )
        return np.asarray(self.before[b] - self.before[a])


def _beyond(context: RuleContext, row: Ints) -> Array:
    """What operators do beyond the cost of a call, ns."""
    name = context.spans["name"][row]
    own = context.own_times[row].astype(np.float64)
    view = context.rows_named(row, _VIEWS.match)
    views = own[np.isin(row, context.outermost(view))]
    names, kind = np.unique(name, return_inverse=True)
    usual = [np.quantile(own[kind == one], MOST) for one in range(len(names))]
    own = np.minimum(own, PREEMPTED * np.array(usual)[kind]) if len(own) else own
    base = (median_of(views) if len(views) else own.min()) if len(own) else 0.0
    costs = base * np.where(context.named(row, PRODUCTS.match), PRODUCT_OVERHEAD, OVERHEAD)
    beyond = np.maximum(own - costs, 0)
    # Gradients of the rounds of a loop are summed: one call does not.
    engine = context.named(row, is_engine_call)
    in_engine = np.append(context.mask(row[engine]), np.False_)[context.parent[row]]
    beyond[engine | in_engine & context.named(row, _SUMS.match)] = 0
    return beyond
