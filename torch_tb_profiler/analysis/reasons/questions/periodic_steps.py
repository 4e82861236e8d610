"""Work that only some steps do: a checkpoint, validation, histograms or logging in every n-th step, or in a few.

::

    step 1   [forward][backward][optimizer]
    step 2   [forward][backward][optimizer]
    step 3   [forward][backward][optimizer][evaluate          ]     calls that the others do not make, or not so often

Evidence: calls of the program's thread, by their name and what calls them, that at most half of the steps make oftener than the others, which
all make as many, and that make their steps longer by about what they take. What the same steps do more is told together. No time alone: that
is the machine's noise. Optimizers (gradients are accumulated), loading of batches and compiling are left out, and the phases of a server.
Change: that work, and what it launches, is gone. Certain; possible where modules take half of it: evaluation is the program's
own work. Wrong where the work must be done: then it can be done more rarely, or beside the steps.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    costliest,
    group_rows,
    picked,
    places_in,
    stable_order,
    sum_by,
)
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.source_lines import is_user_code
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings.edits import calls_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Claims, Question, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
from torch_tb_profiler.store.python_frames import PythonFrame, function_name
from torch_tb_profiler.store.roles import Role

_S = r"[\\/]"
_BELONGS = regex(
    rf"Optimizer\.|enumerate\(Data(?:Loader|Pipe)\)|.*torch{_S}(?:optim|utils{_S}data){_S}.*\.py\(\d+\): "
    rf"|.*torch{_S}nn{_S}utils{_S}clip_grad\.py\(\d+\): |Torch-Compiled Region: |## Call CompiledFxGraph"
    r"|.*\bcompile_id="
)
"""What a training loop does in some steps by design: gradients are accumulated and clipped, batches are loaded ahead; and
what has a number of its own in its name."""
_EXPLAINED = 0.7
_DEEPEST = 8
_LEAST_STEPS, _MOST_STEPS = 4, 400
_MOST_FOUND = 3
_ORDINALS = ["second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]


def _claim(context: RuleContext) -> Claims:
    steps = context.comparable
    if context.is_whole or context.facts["iterations"].n:
        return None
    if not _LEAST_STEPS <= len(steps) <= _MOST_STEPS:
        return None
    row = context.main_calls
    step = places_in(context.facts["steps"].n + 1, steps)[context.step_of(row)]
    row, step = row[step >= 0], step[step >= 0]
    kind = _kinds(context, row)
    more = _more(kind, step, len(steps))
    row, step, kind = row[more], step[more], kind[more]
    kept = context.home(context.parent[row], row) < 0
    kept[kept] = ~_by_design(context, row[kept])
    row, step, kind = row[kept], step[kept], kind[kept]
    # What the same steps do more is one thing.
    patterns: dict[bytes, list[int]] = {}
    for one in unique_values(kind).tolist():
        having = np.bincount(step[kind == one], minlength=len(steps)) > 0
        patterns.setdefault(having.tobytes(), []).append(one)
    usual = np.delete(steps, unique_values(step))
    groups = [np.isin(kind, some) for some in patterns.values()]
    found = [_found(context, row[mine], step[mine], usual) for mine in groups]
    kept_ones = [one for one in found if one is not None]
    kept_ones.sort(key=lambda one: -one.numbers["longer"] * one.numbers["some"])
    return kept_ones[:_MOST_FOUND]


def _kinds(context: RuleContext, row: Ints) -> Ints:
    """The kind of each call: its name, and that of what calls it; numbers from 0."""
    name = context.spans["name"]
    around = picked(name, context.parent[row])
    around[context.names.step[around] >= 0] = -1
    _, kind = group_rows((name[row], around))
    return kind


def _by_design(context: RuleContext, row: Ints) -> Mask:
    """Which of some calls hold, for half of their time or more, what belongs to a training loop, or compile."""
    spans, parent = context.spans, context.parent
    inner = context.mask(context.rows_named(context.main_calls, _BELONGS.match))
    inner[context.compilations.row] = True
    around = np.append(nearest(parent, inner), np.int32(-1))
    whole = np.flatnonzero(inner & (around[parent] < 0))
    time = sum_by(context.home(whole, row), spans.n + 1, spans["dur"][whole])
    below = around[row] >= 0
    return np.asarray(below | (2 * time[row] >= np.maximum(spans["dur"][row], 1)))


def _more(kind: Ints, step: Ints, steps: int) -> Mask:
    """Which calls are beyond the number that most steps make of their kind, the last ones."""
    # Rows are in the order of their begin, and so are their steps.
    order = stable_order(kind)
    pair = kind[order] * steps + step[order]
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    pair, count = pair[first], np.diff(first, append=len(pair))
    number = np.zeros(len(kind), np.int64)
    number[order] = np.arange(len(kind)) - np.repeat(first, count)
    each = np.zeros((int(kind.max(initial=-1)) + 1, steps), np.int32)
    each[pair // steps, pair % steps] = count
    ordered = np.sort(each, axis=1)
    median = ordered[:, (steps - 1) // 2]
    most = 2 * (each == median[:, None]).sum(axis=1) >= steps
    # Of what each step does as often as it happens to nothing is of some steps alone.
    some = (ordered[:, -1] > median) & (2 * (each > median[:, None]).sum(axis=1) <= steps)
    return np.asarray((most & some)[kind] & (number >= median[kind]))


def _found(context: RuleContext, row: Ints, step: Ints, usual: Ints) -> Candidate | None:
    """What is said of calls that some steps (positions) make alone; None where it is not these that make their steps longer. ``usual``: rows of
    those that do nothing alone.
    """
    spans, steps = context.spans, context.comparable
    wall, having = step_lengths(context.facts["steps"]), unique_values(step)
    work, _ = context.launched_in(row)
    taken = float(spans["dur"][row].sum() + (work.end - work.start).sum()) / len(having)
    others = usual if len(usual) else np.delete(steps, having)
    longer = float(np.median(wall[steps[having]]) - np.median(wall[others]))
    if not taken / 2 <= longer <= 2 * taken:
        return None
    chief = row[costliest(spans["name"][row], spans["dur"][row])[0]]
    text = context.name_of(int(chief[0]))
    called = _library_call(context, int(chief[spans["dur"][chief].argmax()]))
    return Candidate(
        context.pieces(row),
        {
            "longer": float(spans["dur"][row].sum()) / len(having),
            "some": float(len(having)),
            "steps": float(len(steps)),
            "others": float(np.median(wall[of_one_kind(context.facts, others)])),
        },
        {
            "every_takes": _every(having, len(steps)),
            "extra": f"{function_name(text)} ({called})" if called else function_name(text),
        },
        certainty="theoretical" if context.runs_modules(row) else "certain",
        edit=calls_gone(row, work.row),
    )


def _every(having: Ints, steps: int) -> str:
    """``every third step takes`` or ``3 of 10 steps take``."""
    distance = unique_values(np.diff(having))
    number = int(distance[0]) if len(distance) == 1 else 0
    if 1 < number <= len(_ORDINALS) + 1 and having[0] < number and steps - having[-1] <= number:
        return f"every {_ORDINALS[number - 2]} step takes"
    return f"{len(having)} of {steps} steps take{'s' if len(having) == 1 else ''}"


def _library_call(context: RuleContext, at: int) -> str:
    """The function of torch or of another library in which a call of the program's own spends its time, such as
    ``torch.save``; empty for none.
    """
    spans, parent = context.spans, context.parent
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


QUESTION = Question(__name__)
QUESTION.state("periodic_steps", 33, _claim)
