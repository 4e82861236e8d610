"""Names, looks and modules of the events of a timeline."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.names import saying
from torch_tb_profiler.analysis.nesting import nearest
from torch_tb_profiler.analysis.timeline.lanes import Lanes
from torch_tb_profiler.store import timeline_schema as schema
from torch_tb_profiler.store.columns import Array, Mask, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.timeline_schema import Look

MODULE = "nn.Module:"
"""How the name of a Python frame begins that is a module's call."""


def events_table(trace: Trace, facts: Facts, lanes: Lanes) -> tuple[Table, Table]:
    """``(places, names)`` of all events."""
    spans, instants = trace["spans"], trace["instants"]
    text = np.concatenate((spans["name"], instants["name"]))
    shown = lanes.lane >= 0
    texts = len(trace.strings) + 1  # the last one stands for -1, an event without a name
    events = np.bincount(text[shown] % texts, minlength=texts)
    total = np.bincount(text[shown] % texts, weights=lanes.dur[shown], minlength=texts)
    used = np.flatnonzero(events)
    used = used[np.argsort(-events[used], kind="stable")]
    number = np.full(texts, -1, np.int32)
    number[used] = np.arange(len(used))
    name = number[text % texts]
    module_row = modules(trace, facts)
    module = np.full(len(text), -1, np.int32)
    if len(module_row):
        module[: spans.n] = np.where(module_row >= 0, name[module_row], -1)
    places = schema.PLACES.build(
        lane=lanes.lane, name=name, module=module, look=looks(trace, facts)
    )
    return places, schema.NAMES.build(
        text=np.where(used == texts - 1, -1, used),
        events=events[used],
        total=total[used].astype(np.int64),
    )


def looks(trace: Trace, facts: Facts) -> Array:
    """``Look`` of every span and instant; uint8."""
    spans, instants, kernels = trace["spans"], trace["instants"], facts["kernels"]
    talks = np.zeros(len(facts.strings) + 1, np.bool_)
    talks[kernels["name"][kernels["communication"] == 1]] = True
    look = spans["role"].astype(np.uint8)
    look[(look == Role.KERNEL) & talks[spans["name"]]] = Look.COMMUNICATION
    return np.concatenate((look, np.full(instants.n, Look.INSTANT, np.uint8)))


def modules(trace: Trace, facts: Facts) -> Array:
    """For every span the row of the innermost module frame around it, itself included, or around
    what launched it; -1 none.

    int32 of shape (spans,); empty where no module was recorded.
    """
    links = facts["span_links"]
    is_module = _module_frames(trace)
    if not is_module.any():
        return np.zeros(0, np.int32)
    above = links["parent"]
    # Device work stands under its launch, or under its operator where no launch was recorded.
    above = np.where(
        above >= 0, above, np.where(links["launch"] >= 0, links["launch"], links["operator"])
    )
    return nearest(above, is_module)


def _module_frames(trace: Trace) -> Mask:
    spans = trace["spans"]
    python = spans["role"] == Role.PYTHON
    named = saying(trace.strings, spans["name"][python], lambda text: text.startswith(MODULE))
    return np.asarray(python & named[spans["name"]])
