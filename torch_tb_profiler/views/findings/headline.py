"""The answer in one sentence, and what follows it.

::

    headline   Loading data takes 50.4 ms of each 56.9 ms step.
    detail     Most of it is in transform at photos.py:31. With batches ready a step would take about 6.5 ms.

The headline is that of the first finding (``findings/order.py``) that is certain or likely, not small and costs time; else
it says where the time goes. A server's says how fast it is, unless a cause takes much of the iteration. It has at most twelve
words and two quantities, and every figure is of the one step that speaks for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS, groups_of_causes
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, unknown_share
from torch_tb_profiler.analysis.figures.devices import device_use
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.missing_data import unrecorded
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.step_kinds import doing_no_less, of_leading_kind
from torch_tb_profiler.analysis.findings.engine import EXPECT_IDLE
from torch_tb_profiler.analysis.findings.rule import HOST, Rule
from torch_tb_profiler.analysis.findings.rules import RULES
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.summary import WorkloadKind
from torch_tb_profiler.units import (
    agreeing,
    format_count,
    format_names,
    format_ns,
    format_rate,
    format_share,
    plural,
)
from torch_tb_profiler.views.findings.about import step_name
from torch_tb_profiler.views.findings.path import (
    MOST,
    NOTABLE,
    Path,
    Place,
    bare_name,
    of_line,
)
from torch_tb_profiler.views.findings.wire import Told
from torch_tb_profiler.views.steps import step_noun
from torch_tb_profiler.views.words.texts import capitalised, filled, group_label
from torch_tb_profiler.views.work.iterations import (
    answer_of_server,
    iteration_of,
    silence,
    spoken_length,
)

PHASE_NOUNS = ("prefill", "decode", "mixed iteration")
LEAST = 0.05
"""Share of the steps that the first finding must save to be the headline."""
BESIDE = 0.05
"""Share of the path's time from which on a cause is said to take what its evidence takes."""
FAR = 2.0
"""Work that no finding is about is told of before a change that acts on less than half as much."""
BUSY = 0.9
"""Share of the steps from which on the device is busy, whatever the host does meanwhile."""
MUCH = 0.25
"""Share of a server's iteration from which on a cause is more of an answer than how fast it is."""
LEAST_JUDGED = 0.5
"""Share of the kernel time that must be known for silence to mean that all is well."""

_VOWEL = regex(r"[aeiou8]|1[18](?!\d)")
_NO_REASON = "No cause was found for it: it may be the work itself."
_GROUP_NOUNS = {
    PathCause.MEMCPY: "Copying",
    PathCause.MEMSET: "Copying",
    PathCause.DATALOADER: "Loading data",
    PathCause.COMMUNICATION: "Communication",
    PathCause.WAITING: "Waiting for a rank",
}


class Answer(msgspec.Struct, frozen=True):
    """The answer in one sentence, and the sentences after it; ``line``: the line that these name, with its folders; ``told``: what
    they say as numbers; ``item``: the finding whose step they speak of, None where that is the median one.
    """

    headline: str
    detail: str
    line: str = ""
    told: Told = Told()
    item: Mapping[str, Any] | None = None


def answer_of(
    path: Path,
    analysis: Mapping[str, Any],
    words: Mapping[str, str],
    texts: Sequence[Mapping[str, str]],
) -> Answer:
    """The answer of the findings of ``analysis`` (``step_findings.py``). ``words``: of the vendor; ``texts``: of each
    finding, in the same order, ``left`` with its interval among them.
    """
    if unjudged := _no_program(path, analysis):
        return unjudged
    rows = np.array(analysis["all_rows"], np.int64)
    own_kind, more = of_leading_kind(path.facts, rows), doing_no_less(path.facts, rows)
    leads = {*own_kind.tolist(), *more.tolist(), *analysis["rows"]}
    first = next(
        (
            (item, own)
            for item, own in zip(analysis["found"], texts, strict=True)
            if item["certainty"] in ("certain", "likely")
            and item["share"] >= LEAST
            and item["once"] is None
            and (item["row"] in leads or item["row"] < 0)
            and RULES[item["rule"]].cause
            and not item.get("untried")
        ),
        None,
    )
    kind = path.facts.summary.workload.kind
    unknown = unknown_share(path.facts, np.array(analysis["rows"], np.int64))
    iteration = iteration_of(path.facts, analysis["rows"][0])
    if (
        unknown > (MUCH if kind not in EXPECT_IDLE else LEAST_UNKNOWN)
        and not (iteration and iteration["rate"])
        and not (first and first[0]["share"] > unknown)
    ):
        return _unrecorded(path, unknown, analysis, words)
    copies = path.take(GROUPS["copies"])
    if copies.total > MOST * path.total and (first is None or first[0]["share"] < MUCH):
        headline = f"Copies take {format_ns(copies.total)} of {the_step(analysis, words)}."
        place = copies.place() if (copies.column("line") >= 0).any() else None
        told = (_pace(copies, path, analysis), _most(place, copies.total))
        return Answer(headline, " ".join(filter(None, told)), place.line if place else "")
    # Who holds a run back, and what happened once, is no matter of what its kernels are.
    led = first is not None and (RULES[first[0]["rule"]].verdict or first[0]["unplanned"])
    shows = kind == WorkloadKind.CAPTURE or _busy(path, analysis) >= MUCH
    if kind in EXPECT_IDLE and not led and shows:
        return _by_design(kind, path, analysis, words)
    # Who holds a run back is more of an answer than how fast it is, where that costs a notable part.
    if first is None or first[0]["share"] < (NOTABLE if RULES[first[0]["rule"]].verdict else MUCH):
        if iteration is None and words["step"] in PHASE_NOUNS:
            iteration = {"phase": words["step"], "rate": "", "told": ()}
        if iteration is not None and (iteration["rate"] or analysis["others"]):
            return _of_server(path, analysis, words, iteration, first and first[0])
    beside = None if first is None else _largest(path, analysis, first[0])
    if first is not None and beside is not None and not RULES[first[0]["rule"]].verdict:
        return _of_place(path, analysis, words, beside, first[0])
    if first is not None:
        return _of_cause(path, analysis, dict(words) | dict(first[1]), first[0])
    besides = _possible(analysis, words, texts), _apart(path, analysis)
    return _and(_account(path, analysis, words), *besides)


def _and(answer: Answer, *more: str) -> Answer:
    detail = " ".join(filter(None, (answer.detail, *more)))
    return msgspec.structs.replace(answer, detail=detail)


def _possible(
    analysis: Mapping[str, Any], words: Mapping[str, str], texts: Sequence[Mapping[str, str]]
) -> str:
    """What the step might take with the first change where no finding that costs time is more than possible."""
    costly = [pair for pair in zip(analysis["found"], texts, strict=True) if pair[0]["costs"]]
    if not costly or costly[0][0]["certainty"] != "theoretical":
        return ""
    item, own = costly[0]
    if item["generic"] or item["share"] < LEAST or item["row"] not in analysis["rows"]:
        return ""
    told = {**words, **own, "the_step": the_step(analysis, words)}
    return _outcome(RULES[item["rule"]], analysis, told, "might")


def _no_program(path: Path, analysis: Mapping[str, Any]) -> Answer | None:
    """Of a trace that has no steps of the program; None of others."""
    if analysis["step_ns"] is None:
        return Answer("The trace holds no steps to analyse.", "No event could form one.")
    if "nothing" in analysis["unsure"]:
        events = format_count(path.spans.n)
        return Answer(
            "The trace holds nothing of the program.",
            f"Its events ({events}) are the profiler's own: record the activities of the CPU as well.",
        )
    if "sums" in analysis["unsure"]:
        total = format_ns(analysis["step_ns"])
        return Answer(
            f"The file holds only sums, {total} in total.",
            "It tells where time was spent, not when.",
        )
    return None


def _pace(copies: Path, path: Path, analysis: Mapping[str, Any]) -> str:
    """What share of the path copies take, and how fast they run where that is known."""
    rate = analysis["copy_rate"]
    at = f", at {format_rate(rate, 'B/s')}" if rate else ""
    return f"That is {format_share(copies.total / path.total)} of it{at}."


def _unrecorded(
    path: Path, unknown: float, analysis: Mapping[str, Any], words: Mapping[str, str]
) -> Answer:
    """Of a recording in which launches lack their device work."""
    time = format_ns(unknown * analysis["step_ns"])
    headline = (
        f"What the {words['device']} did in {time} of {the_step(analysis, words)} is unknown."
    )
    return Answer(headline, unrecorded(path.facts))


def the_step(
    analysis: Mapping[str, Any], words: Mapping[str, str], length: float | None = None
) -> str:
    """``each 12.3 ms step``; of steps that differ ``an 11.3 ms step``. ``length``: where it is not that of the median step."""
    time = f"{format_ns(length or analysis['step_ns'])} {words['step']}"
    if analysis["steps"] == 1:
        return f"the {time}"
    return f"each {time}" if analysis["alike"] else _with_article(time)


def _of_server(
    path: Path,
    analysis: Mapping[str, Any],
    words: Mapping[str, str],
    iteration: Mapping[str, Any],
    cause: Mapping[str, Any] | None,
) -> Answer:
    """How fast a server is, and what its device does meanwhile."""
    facts, row = path.facts, analysis["rows"][0]
    one = f"a {iteration['phase']}" if analysis["others"] else "it"
    headline = answer_of_server(facts, row, iteration, analysis["others"])
    unknown = unknown_share(facts, np.array(analysis["rows"], np.int64))
    if unknown > LEAST_UNKNOWN:
        told = f"What the {words['device']} did in {format_share(unknown)} of {one} is unknown: {unrecorded(facts)}"
        return Answer(headline, told)
    on_device = facts.summary.has_device
    computes = path.take(GROUPS["compute"] if on_device else (PathCause.OPERATOR,))
    share = format_share(min(computes.total / spoken_length(facts, row), 1.0))
    what = group_label("compute", words["device"] if on_device else "CPU")
    told = f"{what} takes {share} of {'its critical path' if one == 'it' else f'the critical path of {one}'}"
    place = computes.place() if path.total else None
    at = f", most of that in {place}" if place and place.time >= MOST * computes.total else ""
    rest = "No cause was found that costs 2 % or more."
    if any(item["costs"] and not item["artefact"] for item in analysis["found"]):
        rest = "Little to save was found." if cause is None else ""
    detail = f"{told}{at}." if path.total else ""
    sentences = (*silence(facts, row, words["device"]), *iteration["told"], detail, rest)
    return Answer(headline, " ".join(filter(None, sentences)), place.line if place and at else "")


def _of_cause(
    path: Path, analysis: Mapping[str, Any], words: Mapping[str, str], item: Mapping[str, Any]
) -> Answer:
    """The answer that a finding gives, of the step that its saving is of."""
    rule, length = RULES[item["rule"]], item["length_ns"]
    own = dict(words) | {"the_step": the_step(analysis, words, length)}
    if item.get("subject") and format_ns(length) != format_ns(analysis["step_ns"]):
        own["the_step"] += " of the job"
    if item["row"] not in analysis["rows"] and item["hit"]:
        path = path.of_steps([item["row"]])
        noun = step_noun(path.facts, np.array([item["row"]]))
        own["step"] = noun if noun != "step" else words["step"]
        own["the_step"] = f"one {format_ns(length)} {own['step']}"
    part = path.take(rule.causes)
    # What of it is beside the path, such as a DataLoader while the device works, counts where that is much of it.
    beside = rule.causes and item["shown_ns"] > (1 + BESIDE) * part.total
    beside = beside and analysis["steps"] == 1
    shown = item["shown_ns"] if beside else part.total
    # Nothing saves more than it takes: of communication the path may show another rank's wait as host code.
    shown = max(shown, item["recoverable_ns"])
    known = {**item["numbers"], "gain": item["recoverable_ns"], "path": min(shown, length)}
    takes = known[rule.part] if rule.part else None
    if takes is not None:
        own[rule.part] = format_ns(takes)
    place = part.place() if "{path}" in rule.cause else None
    most = _most(place, shown) if place else ""
    library = item["words"].get("library", "")
    where = most if place else _line(item)
    if library:
        where = f"{where if place is None or place.line else ''} {library}".strip()
    copied = PathCause.MEMCPY in rule.causes and part.total > 0
    sentences = [
        _pace(part, path, analysis) if copied else "",
        _aside(item) or where,
        _outcome(rule, analysis, own),
        _of_some(analysis, words, item),
    ]
    apart = _apart(path, analysis) if rule.verdict not in ("", "once") else ""
    if apart:
        sentences = [*sentences[-2:], apart]
    line = place.line if place and most else item["line"] or ""
    told = Told(
        rule=item["rule"],
        part_ns=None if takes is None else round(takes),
        whole_ns=length,
        place_ns=round(place.time) if place and most else None,
        left_ns=max(length - item["recoverable_ns"], 0) if rule.without else None,
    )
    headline = _sentence(filled(rule.cause, own))
    return Answer(headline, " ".join(filter(None, sentences)), line, told, item)


def _largest(path: Path, analysis: Mapping[str, Any], item: Mapping[str, Any]) -> Path | None:
    """The kind of work that takes most of the step and that no finding is about, where it takes far more than all that ``item`` acts
    on: that item is no answer then. None where there is none, or its kernels reach what the device allows.
    """
    own = path.of_steps([item["row"]])
    groups = groups_of_causes(path.facts.summary.has_device)
    compared = (analysis["judged"] or 0) >= LEAST_JUDGED
    for step, group, name, time in analysis["unclaimed"]:
        if step != item["row"] or (compared and group == list(GROUPS).index("compute")):
            continue
        of_kind = groups[own.column("cause")] == group
        operator = own.column("operator")
        called = np.where(operator >= 0, operator, own.column("name"))
        part = own.part(of_kind & ((called == name) | (name < 0)))
        if min(time, part.total) > max(FAR * item["acted_ns"], MOST * own.total):
            return part
    return None


def _of_place(
    path: Path,
    analysis: Mapping[str, Any],
    words: Mapping[str, str],
    part: Path,
    item: Mapping[str, Any],
) -> Answer:
    """Where most of the time goes though no finding says why; ``item``: the first of those that are about the rest."""
    place, cause = part.place(), PathCause(int(part.column("cause")[0]))
    step, time = the_step(analysis, words, item["length_ns"]), format_ns(part.total)
    rest = f"Elsewhere about {format_ns(item['recoverable_ns'])} is recoverable."
    numbers = Told(part_ns=round(part.total), whole_ns=item["length_ns"])
    if cause in GROUPS["not_recorded"] or (cause == PathCause.ANNOTATION and place is None):
        headline, numbers = _of_silence(part, step, item["length_ns"])
        return Answer(headline, rest, "", numbers, item)
    what = _GROUP_NOUNS.get(cause) or (place.what if place else "Host code")
    at = place.at if place else ""
    where = f"It is {'called' if place and place.called else ''}{at}.".replace("  ", " ")
    told = (where if at else "", _NO_REASON, rest)
    return Answer(
        f"{what} takes {time} of {step}.",
        " ".join(filter(None, told)),
        place.line if place else "",
        numbers,
        item,
    )


def _of_silence(part: Path, step: str, length: int) -> tuple[str, Told]:
    """Of a part of the path that nothing was recorded of: whether anything at all was recorded meanwhile."""
    time = part.empty()
    if time > MOST * part.total:
        numbers = Told(group="nothing", part_ns=round(time), whole_ns=length)
        return f"Nothing was recorded for {format_ns(time)} of {step}.", numbers
    numbers = Told(part_ns=round(part.total), whole_ns=length)
    told = f"What {format_ns(part.total)} of {step} waited for was not recorded."
    return told, numbers


def _apart(path: Path, analysis: Mapping[str, Any]) -> str:
    """The few steps that a rank holds back which else does not."""
    for item in analysis["found"]:
        if RULES[item["rule"]].verdict == "once" and item["hit"]:
            steps = [step_name(path.facts, row) for row in item["hit"]]
            which, only = ("Step", "once") if len(steps) == 1 else ("Steps", "in these alone")
            verb = agreeing(len(steps), "is", "are")
            did = f"{item['words']['worker']} {item['words']['did']}, {only}"
            return f"{which} {format_names(steps)} {verb} another matter: {did}."
    return ""


def _of_some(analysis: Mapping[str, Any], words: Mapping[str, str], item: Mapping[str, Any]) -> str:
    """Of what happens in some of the steps, in how many, and what that is of the mean one."""
    hit, steps = len(item["hit"]), analysis["steps"]
    if item["row"] in analysis["rows"] or not 1 < hit < steps:
        return ""
    mean, left = analysis["mean_ns"], analysis["mean_ns"] - item["mean_saved_ns"]
    often = f"{format_count(hit)} of {format_count(steps)} {plural(words['step'])}"
    return f"That is in {often}: on average {_with_article(words['step'])} would take {format_ns(left)} instead of {format_ns(mean)}."


def _outcome(
    rule: Rule, analysis: Mapping[str, Any], own: Mapping[str, str], verb: str = "would"
) -> str:
    if not rule.without:
        return ""
    one = own["the_step"].startswith("one ")
    whose = f"such {_with_article(own['step'])}" if one else _a_step(analysis, own)
    return f"{capitalised(filled(rule.without, own))} {whose} {verb} take about {own['left']}."


def _most(place: Place | None, whole: float) -> str:
    """How much of some time is at a place."""
    if place is None or place.time < NOTABLE * whole:
        return ""
    if place.time >= MOST * whole:
        return f"Most of it is in {place}."
    return f"{format_share(place.time / whole)} of it is in {place}."


def _line(item: Mapping[str, Any]) -> str:
    """Where the evidence of a finding is that the path does not show apart."""
    if not item["line"]:
        doing = item["words"].get("doing") or item["words"].get("operators")
        return filled("It is in {doing}.", {"doing": doing}) if doing else ""
    share = item.get("line_share", 1.0)
    much = "Most" if share >= MOST else format_share(share)
    return f"{much} of it comes from {of_line(item['line'])}."


def _aside(item: Mapping[str, Any]) -> str:
    """Where it is as the rule itself says it."""
    text = str(item["words"].get("why", ""))
    return text if not text or text.endswith(".") else f"{text}."


def _sentence(text: str) -> str:
    """A full sentence; names at its begin, such as ``aten::mm``, stay as they are."""
    return f"{capitalised(text)}."


def _by_design(
    kind: WorkloadKind, path: Path, analysis: Mapping[str, Any], words: Mapping[str, str]
) -> Answer:
    """Of work between whose kernels the device is idle by design."""
    device, step = words["device"], the_step(analysis, words)
    if kind == WorkloadKind.CAPTURE:
        host = path.take((*HOST, PathCause.LAUNCH))
        idle = f"Its kernels are recorded and do not run, so an idle {device} is expected."
        return Answer(
            f"A graph is captured: the host works for {format_ns(host.total)} of {step}.",
            " ".join(filter(None, (idle, _most(host.place(), host.total)))),
        )
    what = "A single kernel" if kind == WorkloadKind.SINGLE_KERNEL else "A microbenchmark"
    works = format_ns(_busy(path, analysis) * analysis["step_ns"])
    return Answer(
        f"{what} keeps the {device} busy for {works} of {format_ns(analysis['step_ns'])}.",
        _longest(path, analysis),
    )


def _account(path: Path, analysis: Mapping[str, Any], words: Mapping[str, str]) -> Answer:
    """Where the time goes when no cause stands out that could be removed."""
    device, step, whole = words["device"], the_step(analysis, words), path.total
    computer, computes, host_code = device, GROUPS["compute"], set(GROUPS["host_code"])
    if not path.facts.summary.has_device:
        computer, computes = "CPU", (PathCause.OPERATOR,)
        host_code -= {PathCause.OPERATOR}
    silent = path.without_record()
    host = path.take(host_code - {PathCause.SYNCHRONIZATION})
    host = host.part(~np.isin(host.row, silent.row))
    groups, nothing = _groups(path, computer, computes, host), silent.total
    group, (says, part) = max(groups.items(), key=lambda pair: pair[1][1].total)
    quiet = nothing > part.total
    judged = _judged(analysis, words)
    if (quiet or part is host) and (analysis["busy"] or 0) >= BUSY:
        return _of_busy(path, analysis, words, step)
    if quiet:
        busy = _busy(path, analysis)
        active = f"The {device} is busy for {format_share(busy)} of it." if busy else ""
        headline, numbers = _of_silence(silent, step, analysis["step_ns"])
        return Answer(headline, " ".join(filter(None, (active, judged))), told=numbers)
    if not whole:
        return _nothing(path, analysis, words, ())
    place = part.place()
    # What could not be compared with anything is not known to be all well.
    known = analysis["judged"] is not None and group == "compute"
    late = _late(path, analysis, step) if part is host else None
    if late is not None:
        return late
    # All of it, as on the strip of the step.
    total = path.take(host_code).total if part is host else part.total
    time = f"{format_ns(total)} of {step}"
    # Moving data and waiting are no work, wherever they are.
    works = group in ("compute", "host_code")
    reason = _NO_REASON if works else ""
    if works and place is not None and place.tells and place.time >= MOST * whole:
        # The name of the trace, as it is written there.
        headline = f"{place.what} takes {format_ns(place.time)} of {step}."
        told = f"It is {'called' if place.called else ''}{place.at}.".replace("  ", " ")
        why = judged or ("" if known else _little_found(analysis, reason))
        numbers = Told(part_ns=round(place.time), whole_ns=analysis["step_ns"])
        said = " ".join(filter(None, (told if place.at else "", why)))
        return Answer(headline, said, told=numbers)
    if judged or not known or (place is not None and place.time >= MOST * whole):
        told = _most(place, total)
        why = judged or _little_found(analysis, reason)
        numbers = Told(
            group=group,
            part_ns=round(total),
            whole_ns=analysis["step_ns"],
            place_ns=round(place.time) if place and told else None,
        )
        return Answer(f"{says} {time}.", " ".join(filter(None, (told, why))), told=numbers)
    told = _most(place, total).replace("of it is", "of that is", 1)
    of_it = f"{says} {format_share(total / whole)} of the critical path."
    return _nothing(path, analysis, words, (of_it, told))


def _of_busy(
    path: Path, analysis: Mapping[str, Any], words: Mapping[str, str], step: str
) -> Answer:
    """Of steps in which a device is busy, whatever the host does meanwhile."""
    device, longest = words["device"], _longest(path, analysis)
    if judged := _judged(analysis, words):
        # What could not be compared is no reason to say that all is well.
        works = format_ns(_busy(path, analysis) * analysis["step_ns"])
        told = " ".join(filter(None, (longest, judged)))
        return Answer(f"The {device} is busy for {works} of {step}.", told)
    return _nothing(path, analysis, words, (f"The {device} is busy.", longest))


def _groups(
    path: Path, computer: str, computes: Iterable[PathCause], host: Path
) -> dict[str, tuple[str, Path]]:
    """The parts of the strip by key: how a sentence about each begins, and its time."""
    return {
        "compute": (f"{group_label('compute', computer)} takes", path.take(list(computes))),
        "communication": ("Communication takes", path.take(GROUPS["communication"])),
        "waiting": ("Waiting for a rank takes", path.take(GROUPS["waiting"])),
        "copies": ("Copies take", path.take(GROUPS["copies"])),
        "host_code": ("Host code takes", host),
        "data_loading": ("Loading data takes", path.take(GROUPS["data_loading"])),
        "": (
            "Waiting for what was not recorded takes",
            path.take((PathCause.SYNCHRONIZATION,)),
        ),
    }


def _late(path: Path, analysis: Mapping[str, Any], step: str) -> Answer | None:
    """Of steps in which launched work waits for most of the time."""
    late = path.take((PathCause.LAUNCH,)).total
    if late <= MOST * path.total:
        return None
    numbers = Told(part_ns=round(late), whole_ns=analysis["step_ns"])
    waits = f"Launched work waits {format_ns(late)} of {step} to begin."
    return Answer(waits, "The trace does not show why.", told=numbers)


def _nothing(
    path: Path, analysis: Mapping[str, Any], words: Mapping[str, str], told: Iterable[str]
) -> Answer:
    """That nothing, or little, could be saved. ``told``: sentences that follow, some of them empty."""
    found = _little_found(analysis, "Nothing to save was found.").removesuffix(".")
    takes = f"{_a_step(analysis, words)} takes {format_ns(analysis['step_ns'])}"
    return Answer(f"{found}: {takes}.", " ".join(filter(None, told)))


def _little_found(analysis: Mapping[str, Any], nothing: str) -> str:
    """What could be saved in a sentence, ``nothing`` where no finding costs time."""
    first = next((item for item in analysis["found"] if item["costs"]), None)
    if first is None or first["artefact"]:
        return nothing
    possible = first["certainty"] == "theoretical"
    return "Only possible savings were found." if possible else "Little to save was found."


def _busy(path: Path, analysis: Mapping[str, Any]) -> float:
    """Share of the steps in which a kernel ran on the busiest device, as the Overview has it."""
    devices = device_use(path.facts, Selection(np.array(analysis["rows"], np.int64), False))
    return max((device.utilization or 0.0 for device in devices), default=0.0)


def _a_step(analysis: Mapping[str, Any], words: Mapping[str, str]) -> str:
    step = words["step"]
    if analysis["steps"] == 1:
        return f"the {step}"
    return _with_article(step)


def _with_article(step: str) -> str:
    """``an iteration``, ``an 11.3 ms step``, ``a 110 ms step``."""
    return f"an {step}" if _VOWEL.match(step) else f"a {step}"


def _longest(path: Path, analysis: Mapping[str, Any]) -> str:
    """The kernel with most time, where it stands out."""
    steps = Selection(np.array(analysis["rows"], np.int64), False)
    kernels = kernel_rows(path.facts, steps, "name")
    total = kernels["total_ns"].sum()
    if not total or kernels["total_ns"].max() < NOTABLE * total:
        return ""
    row = int(kernels["total_ns"].argmax())
    share = format_share(kernels["total_ns"][row] / total)
    return (
        f"{share} of its kernel time is {bare_name(path.facts.strings[int(kernels['name'][row])])}."
    )


def _judged(analysis: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """That little could be compared, which is why nothing was found."""
    if any(item["costs"] for item in analysis["found"]):
        return ""
    if analysis["judged"] is not None and analysis["judged"] < LEAST_JUDGED:
        share = analysis["judged"]
        compared = f"Only {format_share(share)}" if share else "None"
        return f"{compared} of the kernel time could be compared with the peaks of the {words['device']}."
    return ""
