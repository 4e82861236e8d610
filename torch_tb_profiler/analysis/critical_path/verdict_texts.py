"""The verdict on the ranks in words, the same at every door."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_tb_profiler.analysis.critical_path.blame import BlamedWork
from torch_tb_profiler.analysis.critical_path.verdict import SHARED, WORTH, Hold, Verdict, Wait
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.python_frames import PythonFrame, function_name
from torch_tb_profiler.units import (
    agreeing,
    format_count,
    format_names,
    format_ns,
    format_number,
    format_share,
)

LONGEST_NAME = 80
MOST_STAGES = 4
"""Stages of a pipeline that are named, those that wait longest."""
MOST_LINKS = 2
"""Slow links that are named."""
_NUMBER = regex(r"#(?:step=)?(\d+)$")
_OF_DEVICE = (PathCause.KERNEL, PathCause.MEMCPY, PathCause.MEMSET)
Called = Callable[[Sequence[int]], str]
"""Indices of ranks → ``rank 5``, ``ranks 6 and 7``."""


def verdict_sentences(
    verdict: Verdict, called: Called, steps: Sequence[str], read: int, world: int
) -> list[str]:
    """What the verdict says, the answer first. ``steps``: names of the common steps; ``read``, ``world``: ranks that were
    read, and of the job.
    """
    if verdict.kind == "unknown":
        return [unknown_text(read, world)]
    found = []
    # Recordings without steps are one as a whole.
    which = "each" if len(verdict.regular) > 1 else "the"
    each = f"{which} {format_ns(verdict.usual)} {'step' if any(steps) else 'recording'}"
    if verdict.hold is not None:
        found += [
            _who(verdict, verdict.hold, called, each),
            *_last(verdict, verdict.hold),
            *why_texts(verdict.hold),
        ]
    elif verdict.part:
        found.append(
            f"No single rank holds the others back: {called(verdict.part)}, half of the ranks or more, come later than the"
            f" others by {format_ns(verdict.varying)} of {each}."
        )
    elif verdict.varying >= WORTH * max(verdict.usual, 1.0):
        found.append(
            f"No rank always holds the others back: now one, now another does,"
            f" {format_ns(verdict.varying)} of {each}."
        )
    elif not verdict.once and not verdict.stages:
        found.append("No rank holds the others back for long: each works as long as the others.")
    if verdict.stages:
        found.append(bubble_text(verdict.stages, called, slow=verdict.hold is not None))
    if verdict.uneven:
        most, least, times = verdict.uneven
        told = f"is given {format_number(round(times, 1))} times as much input as {called([least])}"
        found.append(f"{_begun(called([most]))} {told}.")
    found += [once_text(verdict, hold, called, steps) for hold in verdict.once]
    for link in verdict.links[:MOST_LINKS]:
        often = format_number(round(link.times, 1))
        found.append(
            f"A slow link: {link.kind} between {called(link.ranks)} takes {often} times as long as the same between others,"
            f" {format_ns(link.lost)} per step."
        )
    if verdict.late is not None:
        late, time = verdict.late
        found.append(
            f"{_begun(called([late]))} started {format_ns(time)} after the others, which wait for it in the first step."
        )
    return found


def bubble_text(stages: Sequence[Wait], called: Called, slow: bool = False) -> str:
    """``Rank 0 waits for other stages of the pipeline for 3.00 ms (33.6 %) of each 8.94 ms step, rank 1 for …: a bubble.``
    ``slow``: some rank holds the others back, so that a part of it is waiting for that rank.
    """
    told = []
    for stage in sorted(stages, key=lambda one: -one.usual[0])[:MOST_STAGES]:
        time, length = stage.usual
        whole = f" of each {format_ns(length)} step"
        told.append(
            f"{called([stage.rank])} for {format_ns(time)} ({format_share(time / length)}){whole}"
        )
    more = len(stages) - len(told)
    rest = f", and {format_count(more)} more for less" if more > 0 else ""
    why = "in part for what holds them back" if slow else "and no rank is slow for that"
    return (
        f"The stages of the pipeline wait for each other, {', '.join(told)}{rest}: a bubble, {why}."
    )


def unknown_text(read: int, world: int) -> str:
    """Of less than the whole group nobody is named."""
    of = f"{format_count(read)} of {format_count(world)}" if world > read else format_count(read)
    verb = "rank was" if read == 1 and world <= read else "ranks were"
    return f"{of} {verb} read: who holds the job back is unknown."


def _who(verdict: Verdict, hold: Hold, called: Called, each: str) -> str:
    each = f"{format_ns(verdict.per_step)} of {each}"
    if hold.varies:
        return (
            f"Unequal inputs: whichever rank is given most holds all others back, {each}"
            f"{_often(verdict, hold)}."
        )
    names = called(hold.ranks)
    verb = agreeing(len(hold.ranks), "holds", "hold")
    return f"{_begun(names)} {verb} all others back: {each}{_often(verdict, hold)}."


def _last(verdict: Verdict, hold: Hold) -> list[str]:
    """How often these ranks come last; nothing where their collectives do not tell."""
    if hold.varies or not hold.worst.waits:
        return []
    it, s = ("It", "s") if len(hold.ranks) == 1 else ("They", "")
    own, steps = len(hold.steps), len(verdict.judged)
    of = f" in {format_count(own)} of {format_count(steps)} steps" if steps > 1 else ""
    return [
        f"{it} come{s} last to the collectives{of}: by so much the others wait beyond the next-latest."
    ]


def _begun(names: str) -> str:
    """Names at the begin of a sentence; those of workers stay as they are."""
    return names[:1].upper() + names[1:] if names.startswith("rank") else names


def _often(verdict: Verdict, hold: Hold) -> str:
    """Nothing where it is every step."""
    steps, own = len(verdict.regular), int(sum(step in hold.steps for step in verdict.regular))
    return "" if own >= steps else f", in {in_how_many(own, steps).removeprefix('in ')}"


def in_how_many(own: int, steps: int) -> str:
    """``every step``, ``every step but one``, ``in 3 of 12 steps``."""
    if own >= steps:
        return "every step"
    if own == steps - 1 and own > 1:
        return "every step but one"
    return f"in {format_count(own)} of {format_count(steps)} steps"


def why_texts(hold: Hold, who: str = "") -> list[str]:
    """What these ranks do longer, and whether they are given more; in a step that costs most. ``who``: what they are called,
    where nothing before named them.
    """
    part = hold.worst.parts[0] if hold.worst.parts else None
    return [
        *([unequal_text(hold, who)] if hold.why else []),
        *([longer_text(part, bool(hold.why) or hold.times >= SHARED)] if part else []),
    ]


def unequal_text(hold: Hold, who: str = "") -> str:
    """``It calls aten::mm 40 times a step, the others never.``"""
    why = hold.why
    if why is None:
        return ""
    it = _begun(who) or agreeing(len(hold.ranks), "It", "They")
    s = agreeing(len(hold.ranks), "s", "")
    if why.of == "calls":
        others = "never"
        if why.others >= 0.5:
            times = format_number(round(why.others, 1))
            others = f"{times} times: unequal inputs, or more layers"
        call = f"call{s} {_cut(why.name)} {format_number(round(why.own, 1))} times a step"
        return f"{it} {call}, the others {others}."
    times = f"{format_number(round(why.own / why.others, 1))} times as much input"
    on = f": {_cut(why.name)}" if why.name else ""
    if why.shape != why.other_shape:
        on += f" on {why.shape} instead of {why.other_shape}"
    are = agreeing(len(hold.ranks), "is", "are")
    it = who or it.lower()
    return f"Unequal inputs: {it} {are} given {times} as the others{on}."


def longer_text(part: BlamedWork, other_work: bool = False) -> str:
    """``other_work``: it is not what the others do.

    ``The same work takes longer: aten::mm in Linear_0, by at most 0.7 ms.``"""
    by = f"by at most {format_ns(part.held)}"
    what = f"{doing(part)}, {by}"
    if part.name.startswith("ProfilerStep"):
        return f"What takes longer is host code that was not recorded (with_stack), {by}."
    if other_work and part.cause not in (*_OF_DEVICE, PathCause.DATALOADER):
        return f"What takes longer: {what}."
    if part.cause == PathCause.DATALOADER:
        return f"It waits longer for its data: {what}."
    if part.cause in _OF_DEVICE:
        return f"The same kernels take longer, as on a slower device: {what}."
    if part.cause == PathCause.OPERATOR:
        return f"The same operators take longer, as on a slower or shared processor: {what}."
    return f"What takes longer: {what}."


def doing(part: BlamedWork) -> str:
    """``aten::mm in Linear_0 at train.py:7``; of a function ``iterencode in enter at books.py:17``, where it is called."""
    frame, line = PythonFrame.of(part.name), PythonFrame.of(part.line)
    what = _cut(function_name(part.name))
    where = f" in {part.module}" if part.module else ""
    if part.line and part.line != part.name:
        if frame and line and not where:
            where = f" in {_cut(line.function)}"
        return f"{what}{where} at {line.place if line else _cut(part.line)}"
    return f"{what}{where} at {frame.place}" if frame and frame.is_source else f"{what}{where}"


def once_text(verdict: Verdict, hold: Hold, called: Called, steps: Sequence[str]) -> str:
    """``Once, in step 7, rank 2 held all others back by 9.4 ms: … takes longer.``"""
    names = called(hold.ranks)
    part = hold.worst.parts[0] if hold.worst.parts else None
    more = f": {doing(part)} took longer" if part else ""
    return f"{once_in(hold, steps)}, {names} held all others back by {format_ns(hold.each)}{more}."


def once_in(hold: Hold, steps: Sequence[str]) -> str:
    """``Once, in step 7``; ``In steps 3 and 9 only``."""
    labels = [step_label(steps, step) for step in hold.steps]
    if len(labels) == 1:
        return f"Once, in step {labels[0]}"
    return f"In steps {format_names(labels)} only"


def step_label(steps: Sequence[str], step: int) -> str:
    """The number that people know a step by."""
    return number_of(steps[step], step) if step < len(steps) else str(step)


def number_of(name: str, step: int) -> str:
    """``ProfilerStep#6`` → ``6``; of a name without a number the step's place."""
    number = _NUMBER.search(name)
    return number[1] if number else str(step)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"
