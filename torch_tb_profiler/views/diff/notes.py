"""What makes a comparison weak, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.side import Side
from torch_tb_profiler.analysis.diff.work_size import LIKE_SHAPES, like_shapes
from torch_tb_profiler.analysis.facts.steps import WHOLE_SPAN
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_count, format_ns, format_share
from torch_tb_profiler.untrusted import printable
from torch_tb_profiler.views.diff.verdict import verdict

_OPTIONS = {
    "with_stack": "call stacks",
    "record_shapes": "input shapes",
    "profile_memory": "memory records",
}
_VERSIONS = {
    "torch": "PyTorch",
    "cuda_runtime": "CUDA runtime",
    "hip_runtime": "HIP runtime",
    "cuda_driver": "CUDA driver",
}


def notes(comparison: Comparison, header_a: dict[str, Any], header_b: dict[str, Any]) -> list[str]:
    """Sentences, the most important first."""
    a, b = comparison.a, comparison.b
    return [
        *_shapes(comparison),
        *_devices(a.facts, b.facts),
        *_sources(comparison),
        *_kinds(comparison),
        *_left_out("before", a),
        *_left_out("after", b),
        *_settings(a.facts, b.facts, header_a, header_b),
    ]


def _side(is_first: bool) -> str:
    return "before" if is_first else "after"


def _devices(a: Facts, b: Facts) -> Iterator[str]:
    has = a.summary.has_device, b.summary.has_device
    if has[0] != has[1]:
        yield (
            f"Only the recording {_side(has[0])} has an accelerator: operators and modules are"
            " compared by host time."
        )
    names = [sorted(set(facts.strings.many(facts["devices"]["name"]))) for facts in (a, b)]
    if all(has) and names[0] != names[1]:
        yield (
            f"Different devices: {', '.join(filter(None, names[0])) or 'unknown'} before,"
            f" {', '.join(filter(None, names[1])) or 'unknown'} after."
        )


def _sources(comparison: Comparison) -> Iterator[str]:
    a, b, unit = comparison.a.facts, comparison.b.facts, comparison.test.unit
    sources = a.summary.step_source, b.summary.step_source
    if sources[0] != sources[1]:
        yield (
            f"Steps are made from {sources[0]} before and from {sources[1]} after: they may not be the"
            " same stretch of work."
        )
    elif unit:
        yield (
            f"Neither recording has steps: an item lasts from one begin of {printable(unit.name)} to the next. Tables are per"
            " item."
        )
    elif sources[0] == WHOLE_SPAN and a["steps"].n and b["steps"].n:
        yield "Neither recording has steps: they are compared as a whole, whatever they hold."


def _kinds(comparison: Comparison) -> Iterator[str]:
    """What other kinds of steps say; one that only one recording has is no change of a step."""
    for kind in verdict(comparison).kinds:
        yield f'Steps "{kind.name}", compared for themselves: {kind.sentence}'
    for one in comparison.kinds:
        if one.test is None:
            at = 0 if one.samples[0].steps else 1
            yield (
                f'Steps "{one.name}" are only {_side(not at)}: {format_count(one.samples[at].steps)}, mean'
                f" {format_ns(one.samples[at].mean)}; they are not compared."
            )


def _left_out(name: str, side: Side) -> Iterator[str]:
    parts = [
        f"{n} {word}"
        for n, word in (
            (len(side.cold), "cold"),
            (len(side.odd), "odd, which the test takes all the same"),
            (side.other, "of other kinds"),
            (side.cut, "recorded in part"),
        )
        if n
    ]
    if parts:
        total = len(side.cold) + len(side.odd) + side.other + side.cut
        yield (
            f"{total} step{'s' if total > 1 else ''} {name} left out ({', '.join(parts)}),"
            f" {len(side.steps)} compared."
        )


def _shapes(comparison: Comparison) -> Iterator[str]:
    share = like_shapes(comparison.a.sample.shapes, comparison.b.sample.shapes)
    if comparison.test.work is None and share < LIKE_SHAPES:
        yield (
            f"Input shapes differ: only {format_share(share)} of the time before in operators that both"
            " have is in calls whose shapes are there after, too. The work may be of another size."
        )


def _settings(
    a: Facts, b: Facts, header_a: dict[str, Any], header_b: dict[str, Any]
) -> Iterator[str]:
    for key, what in _OPTIONS.items():
        on = bool(header_a.get(key)), bool(header_b.get(key))
        if on[0] != on[1]:
            yield f"Only the recording {_side(on[0])} has {what}, which slows the host down."
    versions = a.summary.versions, b.summary.versions
    for key, what in _VERSIONS.items():
        pair = versions[0].get(key), versions[1].get(key)
        if all(pair) and pair[0] != pair[1]:
            yield f"{what} {pair[0]} before, {pair[1]} after."
    worlds = a.summary.world_size, b.summary.world_size
    if all(worlds) and worlds[0] != worlds[1]:
        yield f"{worlds[0]} processes before, {worlds[1]} after."
