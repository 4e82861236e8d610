"""What was captured of a replayed event, as it stands in the details of the event."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import position_of
from torch_tb_profiler.analysis.facts.replay_calls import captured_operators
from torch_tb_profiler.analysis.facts.replay_matching import Evidence
from torch_tb_profiler.analysis.figures.event_kinds import MODULE
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_count
from torch_tb_profiler.views.timeline.event_arguments import OPERATOR_LABELS
from torch_tb_profiler.views.timeline.wire import Argument
from torch_tb_profiler.views.words.texts import cut

LONGEST_NAME = 4096
EVIDENCE = {
    Evidence.NONE: "No capture of its graph was recorded.",
    Evidence.NODE: "The node of the graph says where it was captured.",
    Evidence.ONLY: "Its graph runs the kernels of this capture, in this order, and of no other.",
    Evidence.PLACE: "Several captures have these kernels; its graph has the place of this one in the sequence.",
    Evidence.BATCH: "Several captures have these kernels; the batch of the iteration decides.",
    Evidence.LACKING: "Its graph runs the kernels of this capture, but for some that were not recorded.",
    Evidence.DIFFERENT: "No recorded capture has the kernels of its graph in this order.",
    Evidence.OTHER_BATCH: "Its kernels are those of a capture of another batch than that of the iteration.",
    Evidence.ANNOTATED: "The node of the graph is annotated; no capture of the graph was recorded.",
    Evidence.AMBIGUOUS: "Several captures have these kernels, and nothing decides between them.",
}
_OF_ANOTHER = "It fits several launches of the capture, and nothing decides between them."


def captured_arguments(trace: Trace, facts: Facts, event: int) -> list[Argument]:
    """What names a replayed event, and why; empty for what was not replayed."""
    work = facts["replayed_work"]
    at = position_of(work["span"], event)
    if at < 0:
        return []
    replay, launch = int(work["replay"][at]), int(work["captured"][at])
    evidence = Evidence(int(facts["replays"]["evidence"][replay]))
    graph = int(facts["replays"]["graph"][replay])
    if launch < 0:
        why = EVIDENCE[evidence] if graph < 0 else _OF_ANOTHER
        return [Argument(name="Evidence", value=why)]
    call = int(trace["captured_launches"]["call"][launch])
    return [
        *_said(trace, call),
        *([] if evidence == Evidence.ANNOTATED else _recording(trace, graph)),
        Argument(name="Evidence", value=EVIDENCE[evidence]),
    ]


def captured_operator(trace: Trace, facts: Facts, event: int) -> str | None:
    """The operator around the captured launch of an event."""
    call = int(captured_operators(trace, facts, np.array([event]))[0])
    return trace.strings[int(trace["captured_calls"]["name"][call])] if call >= 0 else None


def _said(trace: Trace, call: int) -> list[Argument]:
    """The innermost operator with its inputs, and the modules around it, outermost first."""
    calls, strings = trace["captured_calls"], trace.strings
    said: list[Argument] = []
    modules: list[str] = []
    annotations: list[str] = []
    while call >= 0:
        name = strings[int(calls["name"][call])]
        if calls["role"][call] == Role.OPERATOR and not said:
            said.append(Argument(name="Operator", value=cut(name, LONGEST_NAME)))
            for key, label in OPERATOR_LABELS.items():
                if (text := strings[int(calls[key][call])]) != "":
                    said.append(Argument(name=label, value=cut(text, LONGEST_NAME)))
        elif name.startswith(MODULE):
            modules.append(name.removeprefix(MODULE).strip())
        elif calls["role"][call] == Role.ANNOTATION:
            annotations.append(name)
        call = int(calls["parent"][call])
    for label, scopes in (("Module", modules), ("Annotation", annotations)):
        if scopes:
            text = cut(" ▸ ".join(reversed(scopes)), LONGEST_NAME)
            said.append(Argument(name=label, value=text))
    return said


def _recording(trace: Trace, graph: int) -> list[Argument]:
    graphs = trace["graph_captures"]
    file, batch = trace.strings[int(graphs["file"][graph])], int(graphs["batch"][graph])
    mode = trace.strings[int(graphs["mode"][graph])]
    told = [Argument(name="Captured in", value=cut(file, LONGEST_NAME) if file else "this trace")]
    if batch >= 0:
        told.append(Argument(name="Captured batch", value=format_count(batch)))
    if mode:
        told.append(Argument(name="Mode", value=mode))
    return told
