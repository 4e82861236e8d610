"""Whether the ranks of a merged file are told apart as their own files tell them."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from tests.builders.merged import Variant, merged_file, truth
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.rank_parts import UNRANKED, RankPart, rank_parts
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.streams import TextInMemory
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role


@dataclass(frozen=True)
class Told:
    """kernels: in the file; launched: with a recorded launch; right: of these at their operator;
    wrong: what is at another rank's operator, or in another rank, in words.
    """

    kernels: int
    launched: int
    right: int
    wrong: tuple[str, ...]
    parts: tuple[str, ...]


def merged_trace(variant: Variant) -> Trace:
    """The merged file, read."""
    text = json.dumps(merged_file(variant)).encode()
    return read_trace(TextInMemory(text), Settings())


def check(variant: Variant) -> Told:
    """What becomes of each kernel of a merged file."""
    trace, told = merged_trace(variant), truth(variant)
    parts = list(rank_parts(trace)) or [RankPart("", (), trace)]
    right, kernels, wrong = 0, 0, []
    for number, part in enumerate(parts):
        spans, facts = part.trace["spans"], derive(part.trace)
        operator = facts["span_links"]["operator"]
        rows = np.flatnonzero(spans["role"] == Role.KERNEL)
        kernels += len(rows)
        for row in rows.tolist():
            name = part.trace.strings[int(spans["name"][row])]
            rank = int(name[1 : name.index("_")])
            if part.name != UNRANKED and part.names and rank != _rank_of(part, number):
                wrong.append(f"{name} is in {part.name}")
            if (at := int(operator[row])) < 0:
                continue
            begin = (part.trace.origin_ns + int(spans["start"][at])) / 1000
            if abs(begin - told[name][0]) < 0.01:
                right += told[name][1]
            else:
                wrong.append(f"{name} is at the operator that begins at {begin}")
    launched = sum(is_launched for _, is_launched in told.values())
    return Told(kernels, launched, right, tuple(wrong), tuple(part.name for part in parts))


def _rank_of(part: RankPart, number: int) -> int:
    """The rank whose host process a part has, by the pid of its operators; else its place."""
    spans, tracks = part.trace["spans"], part.trace["tracks"]
    operators = np.flatnonzero(spans["role"] == Role.OPERATOR)
    thread = int(part.trace.strings[int(tracks["tid"][spans["track"][operators[0]]])])
    return thread - 100
