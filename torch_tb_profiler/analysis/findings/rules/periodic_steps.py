"""Work that only some steps do: a checkpoint, validation, histograms or logging in every n-th step, or in a few.

Evidence: calls of the program's thread, by their name and what calls them, that at most half of the steps make and that make
their steps longer; else the one stretch of time that longer steps have between the calls that all steps share.
Optimizers (gradients are accumulated), loading of batches and compiling are left out, and the phases of a server.
Change: that work, and what it launches, is gone. Certain. Wrong where the work must be done: then it can be done more rarely,
or beside the steps.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.source_lines import OWN, is_user_code, line_ranks
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import (
    host_skips,
    thread_time_gone,
    together,
    work_takes,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.findings.step_outliers import (
    Own,
    calls_of_some,
    every,
    gap_of_some,
    longer_steps,
    shown,
    time_of_some,
)
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.python_frames import PythonFrame, function_name
from torch_tb_profiler.store.roles import Role

_EXPLAINED = 0.7
_DEEPEST = 8
_LEAST_STEPS = 4
_WORDS = (
    "",
    "",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


def _claim(context: RuleContext) -> Candidate | None:
    if context.is_whole or context.facts["iterations"].n or len(context.comparable) < _LEAST_STEPS:
        return None
    own = calls_of_some(context)
    usual, longer = longer_steps(context)
    if len(longer) and (own is None or not _explains(context, own, usual, longer)):
        own = time_of_some(context, usual, longer) or own
    own = own or gap_of_some(context)
    if own is None:
        return None
    having = np.unique(own.step)
    wall = step_lengths(context.facts["steps"])
    others = np.setdiff1d(context.comparable, having)
    row = own.row if own.row.min() >= 0 else shown(context, own.row, own.step)
    seen = row >= 0
    return Candidate(
        row[seen],
        own.start[seen],
        own.end[seen],
        {
            "longer": float((own.end - own.start).sum()) / len(having),
            "some": float(len(having)),
            "steps": float(len(context.comparable)),
            "others": float(np.median(wall[of_one_kind(context.facts, others)])),
        },
        {
            "every_takes": _every(context, having),
            "extra": _doing(context, own),
            "unseen": _unseen(context, own),
        },
        edit=_without(context, own),
    )


def _explains(context: RuleContext, own: Own, usual: Ints, longer: Ints) -> bool:
    """Whether calls take most of the time that the longer steps have beyond the usual ones."""
    wall = step_lengths(context.facts["steps"])
    excess = float((wall[longer] - np.median(wall[usual])).sum())
    inside = np.isin(own.step, longer)
    return float((own.end - own.start)[inside].sum()) >= _EXPLAINED * excess


def _without(context: RuleContext, own: Own) -> Edit:
    """What is done there takes no time, and what is launched there neither."""
    spans = context.trace["spans"]
    track = np.full(len(own.start), context.main_track)
    order = np.argsort(own.start, kind="stable")
    start, end = own.start[order], own.end[order]
    work = context.work.take(context.work.launch >= 0)
    inside = window_at(start, end, spans["start"][work.launch]) >= 0
    gone = (
        host_skips(own.row)
        if own.recorded and (own.start == spans["start"][own.row]).all()
        else thread_time_gone(track, own.start, own.end)
    )
    return together(gone, work_takes(work.row[inside], 0))


def _every(context: RuleContext, having: Ints) -> str:
    """``every third step takes`` or ``3 of 10 steps take``."""
    n = len(context.comparable)
    number = every(np.searchsorted(context.comparable, having), n)
    if 1 < number < len(_WORDS):
        return f"every {_WORDS[number]} step takes"
    return f"{len(having)} of {n} steps take{'s' if len(having) == 1 else ''}"


def _doing(context: RuleContext, own: Own) -> str:
    """``keep (torch.serialization.save)``, ``aten::sort``, or after what nothing was recorded."""
    text = context.trace.strings[own.name] if own.name >= 0 else ""
    if not own.recorded:
        if inner := _frame_around(context, own):
            return f"most of it in {inner}, outside of every operator"
        return (
            f"nothing recorded after {function_name(text)}"
            if text
            else "nothing recorded at its begin"
        )
    frame = PythonFrame.of(text)
    if frame is None or not frame.file:
        return function_name(text)
    called = _library_call(context, own)
    return f"{frame.function} ({called})" if called else frame.function


def _frame_around(context: RuleContext, own: Own) -> str:
    """The innermost function of the user's own that holds most of the longest stretch, and what it calls; empty where no frame was recorded."""
    longest = int((own.end - own.start).argmax())
    begin, stop = int(own.start[longest]), int(own.end[longest])
    row = context.on_main(context.of_role(Role.PYTHON))
    row = row[~context.training.loop[row]]
    start, end = context.times(row)
    row = row[2 * (np.minimum(end, stop) - np.maximum(start, begin)) >= stop - begin]
    if not len(row):
        return ""
    # Each lies in the one before it.
    rank = line_ranks(context.trace.strings, context.trace["spans"]["name"][row])
    users = row[rank[context.trace["spans"]["name"][row]] == OWN]
    names = [function_name(context.name_of(int(one[-1]))) for one in (users, row) if len(one)]
    return f"{names[0]} ({names[-1]})" if names[0] != names[-1] else names[0]


def _unseen(context: RuleContext, own: Own) -> str:
    """What would have told more."""
    frames = context.facts.summary.has_stacks
    return (
        ""
        if frames or (own.name >= 0 and PythonFrame.of(context.trace.strings[own.name]))
        else "with_stack=True"
    )


def _library_call(context: RuleContext, own: Own) -> str:
    """The function of torch or of another library in which a call of the program's own spends its time, such as
    ``torch.save``; empty for none.
    """
    spans, parent = context.trace["spans"], context.parent
    at = int(own.row[np.argmax(own.end - own.start)])
    if not is_user_code(context.trace.strings[int(spans["name"][at])].partition("(")[0]):
        return ""
    for _ in range(_DEEPEST):
        inner = np.flatnonzero((parent == at) & (spans["role"] == Role.PYTHON))
        if not len(inner) or spans["dur"][inner].max() < _EXPLAINED * spans["dur"][at]:
            return ""
        at = int(inner[spans["dur"][inner].argmax()])
        frame = PythonFrame.of(context.trace.strings[int(spans["name"][at])])
        if frame and frame.file and not is_user_code(frame.file):
            module = re.sub(r"[\\/]", ".", frame.file.removesuffix(".py"))
            name = f"{module.removesuffix('.__init__')}.{frame.function}"
            return name.replace("torch.serialization.", "torch.", 1)
    return ""


RULE = Rule(
    place=33,
    claim=_claim,
    title="Some {several} do more than the others",
    action="Do the periodic work more rarely",
    fact="{every_takes} {longer} longer: {extra}",
    sentence="""{every_takes} {longer} longer than the others ({others}): {extra}{at}. Without that periodic work such
    a {step} is {gain} ({share}) shorter.""",
    attempt="""Do it more rarely, do less of it, or do it beside the steps: write checkpoints with
    torch.distributed.checkpoint.async_save or from another thread; validate on fewer batches under torch.inference_mode();
    log sums and means and not whole tensors or histograms of all parameters.""",
    caveat="""How often it comes is told by the recorded steps alone: a longer recording holds the true share.""",
    views=("overview", "trace"),
    cause="{every_takes} {longer} longer: {extra}",
    without="Without that",
    words=("every_takes", "extra"),
    links=(
        (
            "Asynchronous checkpoints",
            links.TUTORIALS + "recipes/distributed_async_checkpoint_recipe.html",
        ),
        ("Performance tuning guide", links.TUNING[1]),
    ),
    details=(("unseen", "Recorded with {unseen} it would have a line."),),
    numbers={
        "longer": ("Longer", "ns"),
        "others": ("Other {several}", "ns"),
        "some": ("{several} with it", "count"),
        "steps": ("{several}", "count"),
    },
)
