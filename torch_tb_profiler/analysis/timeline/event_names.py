"""The names of the events of a timeline."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.figures.naming import looks, modules
from torch_tb_profiler.analysis.timeline.lanes import Lanes
from torch_tb_profiler.store import timeline_schema as schema
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Facts, Trace


def events_table(trace: Trace, facts: Facts, lanes: Lanes) -> tuple[Table, Table]:
    """``(places, names)`` of all events."""
    spans, instants = trace["spans"], trace["instants"]
    text = np.concatenate((spans["name"], instants["name"]))
    shown = lanes.lane >= 0
    texts = len(trace.strings) + 1  # the last one is for −1, an event without a name
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
