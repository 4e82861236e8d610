"""Work that takes far longer than its size says: than the like of it in the recording, or than the machine's roof allows.

::

    aten::mul [512, 512]·[512, 512]ᵀ   ▇▇▇▇▇▇▇▇ 1.9 ns per byte     strides differ
    aten::mul [512, 512]·[512, 512]    ▇ 0.2 ns per byte

The like of a call is the same operator on the same shapes; the roof of a kernel is what the peaks of its device allow. Known
reasons have tests of their own, which say what the time would be instead: the type, matrix cores, alignment, blocks, threads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, picked, positions_of
from torch_tb_profiler.analysis.arrays.intervals import Intervals, subtract, union
from torch_tb_profiler.analysis.arrays.nesting import with_ancestors
from torch_tb_profiler.analysis.efficiency.ideal_times import ideal_times
from torch_tb_profiler.analysis.facts.header import integer
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.edits import (
    host_takes_each,
    own_time_takes,
    together,
    work_scaled,
    work_takes,
)
from torch_tb_profiler.analysis.findings.gaps import Work
from torch_tb_profiler.analysis.findings.lines import line_of
from torch_tb_profiler.analysis.findings.rule import (
    DEVICE,
    Candidate,
    Claims,
    Pieces,
    Question,
    Reach,
    RuleContext,
    without_time,
)
from torch_tb_profiler.analysis.findings.workloads import (
    LONG_KERNEL,
    achievable_time,
    beyond_least,
    beyond_peaks,
    described,
    largest,
    padding,
    roof,
)
from torch_tb_profiler.analysis.reasons.calls import Calls, Part, calls_of
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.hardware.element_types import precision
from torch_tb_profiler.hardware.matrix_cores import (
    FIRST_CAPABILITY,
    loads_unaligned,
    multiplies_on_vector_units,
)
from torch_tb_profiler.hardware.work import model_of, work_of
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values

QUESTION = Question(__name__)
LONG_CALL = 100_000
"""ns from which on a call is more than its dispatch and a cold cache."""
LEAST_OWN_NS = 10_000
"""ns of an operator's own time on the host, below which it is mostly its call."""
SIMILAR = 1.25
"""Calls have the like size up to so many times as many elements or FLOPs."""
APART = 2
"""Times that nearly each slow call takes as long as nearly each of the like, at least: what varies more is the machine's doing."""
SPREAD = 4
"""Times the least that a steady call takes at most."""
FAR = 3
"""Times the rate of the like from which on a call is slow."""
OFTEN = 3
"""Calls on each side: one that was preempted shows nothing."""
MOST_KINDS = 200
"""Kinds of calls of one operator that are compared, those that take most."""
WORTH = 0.25
"""Share of a workload's time that what is achievable takes away, from which on it is worth a thought."""
MOST = 5
"""Workloads, those that lose most time, that a finding is about."""
HALF = 0.5
"""Time in float32 ÷ time in float16 where the trace does not tell; without the type's arithmetic it is less."""
GRAIN = 32_768
"""Elements from which on PyTorch splits an elementwise operator (``at::internal::GRAIN_SIZE``)."""
PER_ELEMENT = 1.0
"""ns that a single core needs for an element at most, memory included."""
_NOT_SINGLE = regex(r'"(?:double|c10::complex<\w+>|long int|int)"')
_DOUBLE = regex(r'"(?:double|c10::complex<double>)"')
_DOUBLE_PRODUCT = regex(r"(?:^|_|\b)[dz](?:884)?(?:gemm|trsm|syrk)|f64(?:f64)?_?gemm|gemm\w*f64")
_NAMED_DOUBLE = regex(r"\bdouble\b")
_OTHER_TYPE = regex(r"\b(?:float|half|__half|__nv_bfloat16|\w*BFloat16|\w*Half)\b")
_ATEN = regex(r"aten::")
_HALF = "c10::Half"
_PRODUCT = regex(
    r"aten::(?:mm|addmm|bmm|baddbmm|mv|addmv_?|linear|matmul|einsum|scaled_dot_product_attention"
    r"|conv\d?\w*|_slow_conv\w+|thnn_conv\w+)$"
)
_LIBRARY = regex(r"aten::(?:mkldnn|onednn)_")
_AMD_MATRIX = regex(r"\bMI(?:1|2|3)\d\d", re.I)
_ELEMENTWISE = regex(
    r"aten::(?:add|sub|mul|div|sqrt|rsqrt|exp|log|pow|abs|neg|tanh|sigmoid|relu|clamp(?:_min|_max)?|gelu|silu|lerp"
    r"|addcmul|addcdiv|where|threshold_backward|gelu_backward|silu_backward|tanh_backward)_?$"
)


class _Kind(msgspec.Struct, frozen=True):
    """Calls of one operator with the same arguments by one function: their positions and the size of each; what nine of ten take at least,
    the median, and what nine of ten take at most, ns.
    """

    at: Ints
    call: Call
    flops: int
    bytes: int
    alike: bool
    least: float
    time: float
    most: float

    @property
    def size(self) -> int:
        return max(self.flops, self.bytes)

    @property
    def rate(self) -> float:
        """ns per FLOP or byte."""
        return self.time / self.size

    def is_like(self, other: _Kind) -> bool:
        """Whether another has the same shapes, or as many elements where their shape makes no difference."""
        if not self.alike:
            shapes = [sorted(one.shape for one in kind.call.every) for kind in (self, other)]
            return shapes[0] == shapes[1]
        return max(self.flops, other.flops) <= SIMILAR * min(self.flops, other.flops)

    def is_slow(self, like: _Kind) -> bool:
        """Whether it takes far longer than the like, steadily, and nearly each call of it longer than nearly each of those."""
        apart = self.least * like.size >= APART * like.most * self.size
        steady = self.most <= SPREAD * self.least
        return self.time >= LONG_CALL and self.rate >= FAR * like.rate and apart and steady


@QUESTION.rule(247, certainty="likely", reach=Reach(0.4, 1.2))
def slow_for_size(context: RuleContext) -> Claims:
    """Calls of an operator that steadily take at least ``FAR`` times as long per FLOP or byte as its other calls of like size.

    Evidence: at least ``OFTEN`` calls on each side, their medians of 10 µs or more, of which nine of ten lie apart by a factor of two; calls
    of one operator on the same shapes, of an elementwise one on as many elements. It says what else differs: element types, strides,
    other arguments, shapes, or nothing that was recorded. Change: each takes as long as the like, with its backward. Likely. Wrong where
    the values themselves take the time.
    """
    calls, parts = calls_of(context), []
    for every in _sized(context, calls).values():
        kinds = sorted(every, key=lambda kind: -kind.time * len(kind.at))[:MOST_KINDS]
        for kind in kinds:
            like = [other for other in kinds if other is not kind and kind.is_like(other)]
            fast = min(like, key=lambda other: other.rate, default=kind)
            if kind.is_slow(fast):
                left = dict.fromkeys(kind.at.tolist(), fast.rate / kind.rate)
                numbers = {"times": kind.rate / fast.rate, "each": kind.time}
                words = {"what": kind.call.name, "differs": _difference(kind.call, fast.call)}
                parts.append((0, Part(left, numbers | {"like": fast.rate * kind.size}, words)))
    return calls.claims(parts)


def _sized(context: RuleContext, calls: Calls) -> dict[str, list[_Kind]]:
    """By operator its kinds of calls, those of which the size is known and that occur often enough."""
    # Of an operator that takes little in all, no call is worth a word.
    names, own = np.unique(calls.name, return_inverse=True)
    large = np.bincount(own, calls.cost, len(names)) >= THRESHOLD * context.windows.length
    time = context.times_of_calls(calls.row)
    first, group = group_rows((calls.kind, calls.line))
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(first) + 1))
    found: dict[str, list[_Kind]] = defaultdict(list)
    for number in np.flatnonzero(large[own[first]]).tolist():
        at, begin = order[bounds[number] : bounds[number + 1]], first[number]
        call = calls.distinct[calls.kind[begin]] if calls.distinct else None
        if call is None or len(at) < OFTEN or time[at].max() < LEAST_OWN_NS:
            continue
        took = np.quantile(time[at], (0.1, 0.5, 0.9)).tolist()
        # What moves data may have nothing to do: a tensor that is contiguous already.
        known = model_of(call.name)
        work = work_of(call) if known and known.family != "movement" else None
        if work is not None and work.bytes and took[1] >= LEAST_OWN_NS:
            alike = known is not None and known.family in ("elementwise", "activation")
            size = max(work.flops, 1), work.bytes
            found[call.name].append(_Kind(at, call, *size, alike, *took))
    return found


def _difference(slow: Call, fast: Call) -> str:
    """What differs between two calls of like size."""
    pairs = list(zip(slow.every, fast.every, strict=False))
    types = next(((a.dtype, b.dtype) for a, b in pairs if a.dtype != b.dtype), None)
    if types is not None:
        return "the type: {} instead of {}".format(*(precision(one) or one for one in types))
    strides = next(((a, b) for a, b in pairs if _order(a.strides) != _order(b.strides)), None)
    if strides is not None:
        return "the order in memory: strides {} instead of {}".format(
            *(list(one.strides or ()) for one in strides)
        )
    shapes = next(((a.shape, b.shape) for a, b in pairs if a.shape != b.shape), None)
    if shapes is not None:
        return "the shape: {} instead of {}".format(*map(list, shapes))
    return "nothing that was recorded" if slow == fast else "another argument"


def _order(strides: tuple[int, ...] | None) -> tuple[int, ...]:
    return tuple(np.argsort([-one for one in strides or ()], kind="stable").tolist())


@QUESTION.rule(85, certainty="likely", reach=Reach(0.6, 1.3))
def double_precision(context: RuleContext) -> Claims:
    """Operators and kernels that compute in double precision.

    Evidence: operators with a float64 argument that is no single number, where types were recorded, and kernels launched by
    them; kernels of unrecorded types whose name holds ``double`` and no other floating type, or is that of a product of
    doubles. On the host, operators of at least 10 µs of their own: shorter ones are mostly their call. Change:
    what moves through memory takes half as long; matrix products on a device what the device's rates for
    float64 and float32 say. Likely. Wrong where the program needs the digits.
    """
    typed = context.calls_where(_DOUBLE.search, _holds("double", "c10::complex<double>"))
    work, factor = _in_double(context, typed)
    host, own = typed, np.zeros(context.spans.n, np.int64)
    if len(typed):
        own = context.own_times
        launches = with_ancestors(context.parent, context.mask(context.launches))
        host = context.within(typed[(own[typed] >= LEAST_OWN_NS) & ~launches[typed]])
    start, _ = context.times(host)
    shown = work + Pieces(host, start, start + own[host])
    if not len(shown.row):
        return None
    operator, steps = context.operator_of(shown.row), len(context.steps)
    named = np.where(operator >= 0, operator, shown.row)
    return Candidate(
        shown,
        {"operators": context.per_step(shown.row), "double": shown.total / steps},
        {"largest": context.most_named(named, shown.lengths), "entry": _entry(context, typed)},
        edit=together(own_time_takes(host, 0.5), work_scaled(work.row, factor)),
    )


def _holds(*types: str) -> Callable[[Call], bool]:
    """Whether a call gets a tensor of one of some element types that is no single number."""
    return lambda call: any(tensor.shape and tensor.dtype in types for tensor in call.every)


def _in_double(context: RuleContext, typed: Ints) -> tuple[Work, Array]:
    """Kernels that compute in float64, and how many times as long they would take in float32."""
    work = context.kernels
    operator = context.operator_of(work.row)
    arguments = context.trace["operator_args"]
    known = np.isin(operator, arguments["span"][arguments["types"] >= 0])
    double = np.where(known, np.isin(operator, typed), context.named(work.row, _is_double))
    work = work.take(double)
    product = context.named(work.row, _DOUBLE_PRODUCT.search)
    return work, np.where(product, _rate(context), 0.5)


def _is_double(name: str) -> bool:
    alone = _NAMED_DOUBLE.search(name) and not _OTHER_TYPE.search(name)
    return bool(alone or _DOUBLE_PRODUCT.search(name))


def _rate(context: RuleContext) -> float:
    """Time of a product in float32 ÷ time in float64, at most 1; half where the device is unknown."""
    double, single = (
        max(context.peaks.rate(unit, precision) or 0.0 for unit in ("matrix", "vector"))
        for precision in ("fp64", "fp32")
    )
    return min(double / single, 1.0) if double and single else 0.5


def _entry(context: RuleContext, typed: Ints) -> str:
    """The line where tensors become float64: of operators that got none and have such beneath them; empty
    where none was recorded.
    """
    above = np.intersect1d(context.parent[typed], context.operators)
    made = context.outermost(context.rows_named(np.setdiff1d(above, typed), _ATEN.match))
    line, _ = line_of(
        context.trace, context.facts, context.insight.tables, made, np.ones(len(made), np.int64)
    )
    return line or ""


@QUESTION.rule(153, certainty="likely", reach=Reach(0.6, 2.0))
def half_on_host(context: RuleContext) -> Claims:
    """Products and convolutions in float16 on a CPU: most have no arithmetic of that type, and PyTorch then converts element
    by element in loops of its own instead of calling the library of fast products.

    Evidence: in a trace without device work, the outermost products, convolutions and attention of at least 10 µs that get a
    float16 tensor, where types were recorded. Convolutions that the library computes (``aten::mkldnn_convolution``) are
    left out: there the CPU has the type. Change: each takes as long as the same operator on the same shapes in float32 in
    this trace, half as long where there is none. Likely. Wrong where the CPU computes in float16.
    """
    if context.has_device:
        return None
    row = context.calls_where(lambda text: _HALF in text, _holds(_HALF))
    row = context.rows_named(row, _PRODUCT.match)
    row = context.within(np.sort(row[context.spans["dur"][row] >= LEAST_OWN_NS]))
    if not len(row):
        return None
    fast = context.rows_named(context.operators, _LIBRARY.match)
    row = context.outermost(row)
    shown = context.pieces(row[~with_ancestors(context.parent, context.mask(fast))[row]])
    row = shown.row
    return Candidate(
        shown,
        {"products": context.per_step(row), "half": shown.total / len(context.steps)},
        {"largest": context.most_named(row)} if len(row) else {},
        edit=host_takes_each(row, _in_single(context, row)),
    )


def _in_single(context: RuleContext, row: Ints) -> Array:
    """Of each product, the time that it would take in float32 ÷ now."""
    spans, arguments = context.spans, context.trace["operator_args"]
    single = context.calls_where(
        lambda text: '"float"' in text and _HALF not in text, _holds("float")
    )
    single = context.rows_named(single, _PRODUCT.match)
    factor = np.full(len(row), HALF)
    every = np.concatenate((row, single))
    dims = arguments["dims"][positions_of(arguments["span"], every)]
    _, group = group_rows([spans["name"][every], dims])
    same = group[len(row) :]
    for number in unique_values(same).tolist():
        there = float(np.median(spans["dur"][single[same == number]]))
        mine = group[: len(row)] == number
        factor[mine] = np.minimum(there / spans["dur"][row[mine]], 1.0)
    return factor


@QUESTION.rule(43, certainty="likely")
def oversubscribed_threads(context: RuleContext) -> Claims:
    """PyTorch splits operators among more threads than the process has cores (``intra_op_threads`` and ``usable_cores``
    of the header, as ``record`` writes them): the threads of one operator wait for each other to get a core.

    Evidence: operators on tensors of at least ``GRAIN`` elements, which PyTorch splits.
    Change: each of them takes less by the share that the smallest split elementwise operators take beyond one element per
    ns, which a single core does. Likely. Wrong where another process shares the cores: then even fewer threads are better.
    """
    header = context.trace.header
    threads, cores = (integer(header.get(key)) for key in ("intra_op_threads", "usable_cores"))
    if not threads or not cores or threads <= cores:
        return None
    numbers: dict[str, float] = {"threads": threads, "cores": cores}
    row, elements = _split(context)
    small = context.named(row, _ELEMENTWISE.match)
    small &= elements <= APART * elements[small].min(initial=np.iinfo(np.int64).max // APART)
    took = np.maximum(context.spans["dur"][row[small]], 1)
    lost = float(np.median(1 - PER_ELEMENT * elements[small] / took)) if small.any() else 0.0
    if lost <= 0:
        return without_time(numbers, row)
    return Candidate(
        context.pieces(row),
        numbers | {"operators": context.per_step(row), "lost": lost},
        edit=own_time_takes(row, 1 - lost),
    )


def _split(context: RuleContext) -> tuple[Ints, Ints]:
    """The operators that PyTorch splits among threads, and the elements of the largest input of each."""
    size = {
        row: min(max((tensor.elements for tensor in call.every), default=0), 1 << 60)
        for row, call in context.read_arguments(context.operators).items()
    }
    split = [(row, elements) for row, elements in size.items() if elements >= GRAIN]
    row, most = np.array(split, np.int64).reshape(-1, 2).T
    return row, most


@QUESTION.rule(150, certainty="likely", causes=DEVICE, of_device=True)
def matrix_cores_unused(context: RuleContext) -> Claims:
    """Time in which only kernels run that multiply matrices, or convolve, in single or half precision
    on the vector units of a device that has matrix cores.

    Change: they reach what is typically achievable (70 % of the peaks unless better known) in a 16-bit type
    on matrix cores. Likely; where shapes or device are unknown they take no time, and it is theoretical.
    Known from names (``hardware/matrix_cores.py``): kernels of unknown names are not counted,
    products of a matrix and a vector neither.
    """
    if not _has_matrix_cores(context):
        return None
    vendor = context.facts.summary.vendor
    work = context.work.take(context.work.kernel)
    chosen = context.named(work.row, lambda name: multiplies_on_vector_units(name, vendor))
    arguments = context.trace["operator_args"]
    double = name_mask(
        context.trace.strings,
        arguments["types"],
        lambda types: _NOT_SINGLE.search(types.split(",", 1)[0]),
    )
    place = positions_of(arguments["span"], context.operator_of(work.row))
    chosen &= ~double[picked(arguments["types"], place)]
    candidate = beyond_peaks(context, work.take(chosen), True)
    eligible = context.facts.summary.matrix_eligible_share
    if candidate is not None and eligible is not None:
        candidate.numbers["eligible"] = eligible
    return candidate


def _has_matrix_cores(context: RuleContext) -> bool:
    if context.device < 0:
        return False
    name, capability = (
        context.facts.strings[int(context.facts["devices"][key][context.device])]
        for key in ("name", "capability")
    )
    vendor, major = context.facts.summary.vendor, capability.split(".")[0]
    if vendor == "nvidia":
        return major.isdigit() and int(major) >= FIRST_CAPABILITY
    return vendor == "amd" and _AMD_MATRIX.search(name) is not None


@QUESTION.rule(160, certainty="likely", causes=DEVICE, of_device=True)
def unaligned_shapes(context: RuleContext) -> Claims:
    """Time in which only matrix-core kernels run that were built to load one or two elements at a time
    (``…_align1``, ``…_align2``), because a dimension is not a multiple of 8 (16-bit types) or 4 (TF32).

    Change: they reach what is typically achievable (70 % of the peaks unless better known). Likely; where
    shapes or device are unknown they take no time, and it is theoretical.
    """
    work = context.work.take(context.work.kernel)
    unaligned = work.take(context.named(work.row, loads_unaligned))
    candidate = beyond_peaks(context, unaligned, False)
    if candidate is not None:
        longest = unaligned.row[np.argmax(unaligned.lengths)]
        name = context.name_of(longest)
        candidate.words["padding"] = padding(context, largest(context, unaligned), name)
    return candidate


@QUESTION.rule(190, certainty="theoretical", untried=True, of_device=True)
def few_blocks(context: RuleContext) -> Claims:
    """Of each kernel of at least 20 µs that runs alone, the share of multiprocessors without a block.

    Change: their time × blocks per SM, as if the same work were spread over all. Theoretical.
    """
    work = context.kernels
    blocks = device_arguments(context.trace, work.row, ("blocks_per_sm",))["blocks_per_sm"]
    chosen = (blocks > 0) & (blocks < 1) & (work.lengths >= LONG_KERNEL)
    if not chosen.any():
        return None
    some, blocks = work.take(chosen), blocks[chosen]
    end = some.start + ((1 - blocks) * some.lengths).astype(np.int64)
    idle = Pieces(some.row, some.start, end)
    numbers = {
        "kernels": len(some.row) / len(context.steps),
        "blocks_per_sm": float(np.average(blocks, weights=some.lengths)),
    }
    return Candidate(
        idle.during(subtract(idle.time, _beside_another(context.work))),
        numbers,
        {"largest": described(context, largest(context, some))},
        edit=work_takes(some.row, blocks * some.lengths),
    )


def _beside_another(work: Work) -> Intervals:
    """When more than one piece of work ran."""
    if not len(work.start):
        return union(work.start, work.end)
    reach: Ints = np.concatenate(([np.iinfo(np.int64).min], np.maximum.accumulate(work.end)[:-1]))
    return union(work.start, np.minimum(work.end, reach))


@QUESTION.rule(200, certainty="likely", causes=DEVICE, of_device=True)
def far_from_peak(context: RuleContext) -> Claims:
    """Long kernels that reach little of what the device's peaks allow for the FLOPs and bytes of their
    operators: those of at least 20 µs of the five workloads that lose most by it, if what is achievable would take a
    quarter of their time away.

    Change: they reach what is typically achievable, 70 % of what the peaks allow unless better known for
    their family (``hardware/peaks.py``). Likely.
    """
    kernels = context.kernels
    work = kernels.take(kernels.lengths >= LONG_KERNEL)
    if not len(work.row):
        return None
    least = ideal_times(context.trace, context.insight, work.row, context.peaks)
    known: Mask = ~np.isnan(least.time) & (least.workload >= 0)
    work, time, workload = work.take(known), least.time[known], least.workload[known]
    dur, reachable = work.lengths, achievable_time(context, time, workload)
    first, group = group_rows((workload,))
    gain, needed, length = (
        np.bincount(group, weights=values)
        for values in (np.maximum(dur - reachable, 0), np.minimum(time, dur), dur)
    )
    far = np.flatnonzero(gain >= WORTH * length)
    far = far[np.argsort(-gain[far], kind="stable")][:MOST]
    if not len(far):
        return None
    chosen = np.isin(group, far)
    some = work.take(chosen)
    greatest = int(workload[first[far[0]]])
    return Candidate(
        beyond_least(context, some, time[chosen]),
        {
            "workloads": len(far),
            "reached": float(needed[far].sum() / length[far].sum()),
            "kernels": context.per_step(some.row),
            "of_largest": float(length[far[0]] / kernels.total),
            "reached_largest": float(needed[far[0]] / length[far[0]]),
        },
        {"largest": described(context, greatest), "roof": roof(context, greatest)},
        edit=work_takes(some.row, reachable[chosen]),
    )
