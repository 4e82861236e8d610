"""Route ``/overview``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

# Declares the kinds that the analysis finds, also in a process that only reads facts.
from torch_tb_profiler.analysis.critical_path.verdict_texts import number_of
from torch_tb_profiler.analysis.facts.defects import LAUNCH_WITHOUT_KERNEL
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.steps import ITERATION, PASS, hidden_steps
from torch_tb_profiler.analysis.figures.devices import DeviceUse, device_use
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.missing_data import absent, unplaced, unrecorded
from torch_tb_profiler.analysis.figures.selection import Selection, has_steps, judged, recurring
from torch_tb_profiler.analysis.figures.step_kinds import plain_names
from torch_tb_profiler.analysis.figures.step_table import average, averaged
from torch_tb_profiler.store import defects
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.defects import Defect
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.summary import WorkloadKind
from torch_tb_profiler.units import format_count, format_ns, format_share
from torch_tb_profiler.views.overview.first_look import first_look
from torch_tb_profiler.views.overview.headline import headline
from torch_tb_profiler.views.steps import (
    accumulation_text,
    kinds_of_steps,
    step_columns,
    step_noun,
    subject_of,
)
from torch_tb_profiler.views.wire import (
    Average,
    Categories,
    DefectItem,
    DeviceSummary,
    Fact,
    KindOfSteps,
    OverviewPayload,
    Vocabulary,
)
from torch_tb_profiler.views.words.texts import capitalised, missing
from torch_tb_profiler.views.words.vocabulary import device_details, device_title, vocabulary

RECORDED = ("device", "host", "steps", "stack", "memory", "shapes")
"""What the page says when it was not recorded."""
LEAST_OUTSIDE = 0.01
"""Share of the time outside the steps beyond which it is said."""
MOST_NAMED = 3
"""Hidden steps that are named."""
_COMMUNICATION = "Libraries whose collectives were seen in the trace."


_RANK_FROM = {
    "distributedInfo": "As the trace says.",
    "file name": "By the name of its file.",
    "order": "A guess: counted through in the order of the names.",
}


PROVISIONAL = (
    "Other files of this run are still to be imported: whose recordings they are may change."
)


class RankInJob(msgspec.Struct, frozen=True):
    """Where a trace stands in its run, as the catalogue found it; ``remarks`` on whose recordings the run's files are."""

    workers: int
    rank: int | None
    rank_source: str
    world_size: int | None
    remarks: tuple[str, ...] = ()


def overview_payload(facts: Facts, selection: Selection, place: RankInJob) -> OverviewPayload:
    """Everything of the first page for the selected steps."""
    words, lacking = vocabulary(facts), absent(facts)
    source, steps = facts.summary.step_source, step_columns(facts, selection)
    told = judged(facts, selection)
    mean, health = average_item(facts, told), health_items(facts)
    devices = [_device(facts, use, words) for use in device_use(facts, told)]
    return OverviewPayload(
        subject=subject_of(facts, averaged(facts, told)),
        configuration=configuration(facts, place),
        recording=recording_facts(facts, told, devices, words),
        vocabulary=words,
        headline=headline(
            words,
            source,
            steps,
            mean,
            devices,
            health,
            "device_times" in lacking,
            unplaced(facts),
            "events" in lacking,
            step_noun(facts, selection.steps),
            accumulation_text(facts),
        ),
        first_look=first_look(facts, told),
        step_source=source,
        steps=steps,
        kinds=_kinds(facts),
        average=mean,
        devices=devices,
        health=health,
        notes=[*place.remarks, *_notes(facts, selection)],
        missing=missing(lacking, RECORDED),
    )


def _kinds(facts: Facts) -> list[KindOfSteps]:
    """Those of all steps."""
    table = facts["steps"]
    odd = (table["flags"] & StepFlag.ODD) != 0
    kind = np.where(recurring(facts), table["kind"].astype(np.int64), -1)
    return kinds_of_steps(plain_names(facts), kind, step_lengths(table), odd)


def average_item(facts: Facts, selection: Selection) -> Average | None:
    """Mean of the selected steps of the kind that takes most time, as far as the recording holds them whole, rounded to ns; None
    without a step.
    """
    found = average(facts, selection)
    if found is None:
        return None
    wall, times = found
    return Average(
        steps=len(averaged(facts, selection)),
        wall_ns=round(wall),
        categories_ns=Categories(
            **{key: None if time is None else round(time) for key, time in times.items()}
        ),
    )


def configuration(facts: Facts, place: RankInJob) -> list[Fact]:
    """What ran where; a line only for what is known."""
    summary = facts.summary
    rank = summary.rank if place.rank is None else place.rank
    world = summary.world_size if place.world_size is None else place.world_size
    versions = dict(summary.versions)
    if summary.vendor == "amd" and "NCCL" in versions:
        # PyTorch writes the version of ROCm's library under NCCL's name.
        versions["RCCL"] = versions.pop("NCCL")
    workload = facts.summary.workload
    kind = workload.kind.value if workload.kind != WorkloadKind.UNKNOWN else None
    lines = [
        ("Workload", kind, workload.evidence),
        ("Workers", place.workers, "Processes of this run that left a trace."),
        ("Rank", rank, _RANK_FROM.get(place.rank_source, "")),
        (
            "World size",
            world,
            "Processes of the distributed job, whether or not they left a trace.",
        ),
        ("Backend", summary.backend, "Of torch.distributed."),
        ("Communication", ", ".join(summary.communication_backends), _COMMUNICATION),
        ("Device", _devices(facts), "Accelerators that did work in this trace."),
        *((name, text, "From the header of the trace.") for name, text in versions.items()),
    ]
    return [
        Fact(label=label, value=str(value), hint=hint)
        for label, value, hint in lines
        if value not in (None, "")
    ]


def _devices(facts: Facts) -> str:
    """The accelerators by name; empty without any."""
    names = Counter(facts.strings[int(name)] or "unknown" for name in facts["devices"]["name"])
    return ", ".join(name if n == 1 else f"{n} × {name}" for name, n in names.items())


def recording_facts(
    facts: Facts, selection: Selection, devices: Sequence[DeviceSummary], words: Vocabulary
) -> list[Fact]:
    """What stands under "This recording": figures of the selected steps, and what the recording holds; a line only for what is known."""
    return [
        Fact(label=label, value=value, hint=hint)
        for label, value, hint in (*_device_facts(facts, selection, devices, words), _held(facts))
        if value
    ]


def _device_facts(
    facts: Facts, selection: Selection, devices: Sequence[DeviceSummary], words: Vocabulary
) -> Iterator[tuple[str, str, str]]:
    if not devices:
        return
    matrix = _range([device.matrix_core_share for device in devices])
    hint = "Known from the names of kernels: at least so much."
    yield capitalised(words.matrix_cores), matrix and f"{matrix} of kernel time", hint
    kernels = kernel_rows(facts, selection, "name")
    calls, steps = int(kernels["calls"].sum()), max(len(selection.steps), 1)
    told = format_count(round(calls / steps)) if calls else ""
    each = steps > 1 and not selection.whole
    yield "Kernels", f"{told} per step" if told and each else told, "Launched in these steps."


def _range(shares: Sequence[float | None]) -> str:
    known = [share for share in shares if share is not None]
    if not known:
        return ""
    low, high = format_share(min(known)), format_share(max(known))
    return low if low == high else f"{low} to {high}"


def _held(facts: Facts) -> tuple[str, str, str]:
    summary = facts.summary
    held = {
        "kernels": summary.has_device,
        "operators": facts["operators"].n > 0,
        "shapes": summary.has_shapes,
        "stacks": summary.has_stacks,
        "memory": summary.has_memory,
    }
    return "Recorded", ", ".join(name for name, there in held.items() if there), ""


def _device(facts: Facts, use: DeviceUse, words: Vocabulary) -> DeviceSummary:
    return DeviceSummary(
        id=use.id,
        title=device_title(words, use.id),
        details=device_details(words, use.name, use.memory, use.capability, use.multiprocessors),
        utilization=use.utilization,
        sm_efficiency=use.sm_efficiency,
        occupancy=use.occupancy,
        matrix_core_share=use.matrix_share,
        unknown=list(_unknown(facts, use, words)),
    )


def _unknown(facts: Facts, use: DeviceUse, words: Vocabulary) -> Iterator[str]:
    """Why a figure of a device is not known, or of a part of the time only; one sentence each."""
    if use.unrecorded_share is not None:
        yield f"{unrecorded(facts)} What the {words.device} did in {format_share(use.unrecorded_share)} of the time is unknown."
        return
    if use.utilization is None:
        yield f"Utilization: no step time to compare with, or no kernel of this {words.device}."
    if use.sm_efficiency is None:
        yield (
            f"Estimated {words.multiprocessor} efficiency: the kernels do not say how many blocks"
            f" ran per {words.multiprocessor}."
        )
    if use.occupancy is None:
        yield "Achieved occupancy: the kernels do not carry the profiler's estimate."
    elif use.occupancy_known_share is not None and use.occupancy_known_share < 1:
        share = format_share(use.occupancy_known_share)
        yield f"Achieved occupancy: a mean over {share} of the kernel time; the rest has no estimate."
    if use.matrix_share is None:
        yield f"{capitalised(words.matrix_cores)}: unknown for every kernel."
    elif use.matrix_unknown_share:
        share = format_share(use.matrix_unknown_share)
        yield (
            f"{capitalised(words.matrix_cores)}: not known for {share} of the kernel time; what is"
            " not known counts as not used."
        )


def _notes(facts: Facts, selection: Selection) -> list[str]:
    """What a reader must know before trusting the figures."""
    notes = []
    summary = facts.summary
    if summary.synthetic:
        notes.append("This trace is synthetic: a program made it up, no hardware ran it.")
    if facts.summary.workload.kind == WorkloadKind.CAPTURE:
        notes.append(
            f"A graph was captured: launches went into it and ran nothing, so an idle"
            f" {vocabulary(facts).device} is expected."
        )
    if summary.device_identified:
        words = vocabulary(facts)
        notes.append(
            f"The trace does not name the {words.device}: {_devices(facts)} follows from its"
            f" {words.multiprocessor}s and memory."
        )
    if summary.sums:
        notes.append(
            "The file holds sums of stacks and no times: frames lie end to end on the timeline, as"
            " long as their sums, and calls are not counted."
        )
    elif "events" in absent(facts):
        pass
    elif summary.step_source == "whole span":
        notes.append("The trace marks no steps: the whole recording stands as one.")
    elif summary.step_source == ITERATION:
        notes.append("The steps are iterations of an inference server, by its annotations.")
    elif summary.step_source == PASS:
        notes.append("The trace marks no steps: each call of the outermost module stands as one.")
    elif summary.step_source != "ProfilerStep":
        notes.append(
            f"The trace has no ProfilerStep: the repeated annotation {summary.step_source!r}"
            " stands for the steps."
        )
    notes += _unrecorded(facts)
    notes += _outside(facts)
    cut = selection.steps[(facts["steps"]["flags"][selection.steps] & StepFlag.CUT) != 0]
    if len(cut):
        notes.append(
            f"{_named(facts, cut)}: the recording ended before the device work of this step did; its"
            " times are too short."
        )
    notes += _hidden(facts)
    return notes


def _unrecorded(facts: Facts) -> Iterator[str]:
    """At which begins nothing was recorded on the devices, and what that means for the figures."""
    table, device = facts["steps"], vocabulary(facts).device
    for key, why in (
        (
            "earlier",
            "while the host waited for it: work that was not recorded ran there, and no figure of the"
            " steps counts that time",
        ),
        (
            "silent",
            "though work had been launched: what ran there is unknown, and that time counts",
        ),
    ):
        row = np.flatnonzero(table[key])
        if len(row):
            where = _numbered(facts, row) if has_steps(facts) else "the recording"
            time = format_ns(table[key].sum())
            yield f"Nothing was recorded on the {device} for {time} at the begin of {where}, {why}."
    row = np.flatnonzero(table["flags"] & StepFlag.INCOMPLETE)
    if 0 < len(row) < table.n:
        yield f"More than half of {_numbered(facts, row)} was not recorded: no mean counts that."


def _numbered(facts: Facts, rows: Ints) -> str:
    """``step 0``; the only one is ``the step``."""
    if facts["steps"].n == 1:
        return "the step"
    names = facts.strings.many(facts["steps"]["name"][rows])
    numbers = [number_of(name, row) for name, row in zip(names, rows.tolist(), strict=True)]
    return f"step{'' if len(rows) == 1 else 's'} {', '.join(numbers)}"


def _named(facts: Facts, rows: Ints) -> str:
    """Steps by name, not too many."""
    names = facts.strings.many(facts["steps"]["name"][rows[:MOST_NAMED]])
    more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    return f"{', '.join(names)}{more}"


def _hidden(facts: Facts) -> Iterator[str]:
    """Steps for which earlier ones left no time."""
    table = facts["steps"]
    rows = np.flatnonzero(hidden_steps(table))
    if len(rows):
        yield (
            f"{_named(facts, rows)}: device work of an earlier step lasted beyond the end of this"
            " step, so no time is left for it."
        )


def _outside(facts: Facts) -> Iterator[str]:
    """How much of the recording no figure of the steps counts."""
    if not has_steps(facts):
        return
    kernels, operators = facts["kernel_steps"], facts["operator_steps"]
    for what, step, time in (
        ("kernels", kernels["step"], kernels["total"]),
        ("host operators", operators["step"], operators["host_self"]),
    ):
        total, left_out = int(time.sum()), int(time[step < 0].sum())
        if left_out > LEAST_OUTSIDE * total:
            yield (
                f"{format_ns(left_out)} of {what} ({format_share(left_out / total)}) ran outside the"
                " steps and counts in no figure of them."
            )
            return


def health_items(facts: Facts) -> list[DefectItem]:
    """Every defect of the trace and of its analysis, the gravest first; ``touched_share`` is of the
    sum of all steps (``touched_ns`` None: not located in time).
    """
    steps, touched = facts["steps"], facts.summary.touched_ns
    wall = int(step_lengths(steps).sum())
    return [
        DefectItem(
            name=defect.name,
            severity=defect.severity.value,
            sentence=_sentence(facts, defect),
            count=count,
            touched_ns=touched.get(defect.name),
            touched_share=touched[defect.name] / wall if defect.name in touched and wall else None,
            doubtful=list(defect.doubtful),
        )
        for defect, count in facts.defects
    ]


_KIND = {defects.NO_CATEGORY: "process", defects.UNKNOWN_CATEGORY: "category"}
"""What the events of a defect are told apart by."""


def _sentence(facts: Facts, defect: Defect) -> str:
    """What is wrong, with the names that the setting maps where that helps."""
    found = unplaced(facts, _KIND[defect.name]) if defect.name in _KIND else None
    if defect.name == LAUNCH_WITHOUT_KERNEL:
        return f"{unrecorded(facts)} {defect.sentence}"
    return f"{defect.sentence} By name: {found}." if found else defect.sentence
