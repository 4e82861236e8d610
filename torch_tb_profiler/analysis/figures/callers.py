"""Who calls an operator or launches a kernel: a tree of callers, the program's own lines first.

Frames of libraries are folded, modules stand beside the line that calls them, and siblings that are alike are one row::

    aten::mm ◀ torch/nn/functional.py ◀ nn.Module: Linear_7 ◀ model.py(40): forward ◀ train.py(9): main
    aten::mm ◀ torch/nn/functional.py ◀ nn.Module: Linear_8 ◀ model.py(40): forward ◀ train.py(9): main

    aten::mm                                 calls 2
      model.py(40): forward   Linear ×2      calls 2
        train.py(9): main                    calls 2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.figures.operators import frames, operator_stacks
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.analysis.figures.source_lines import PACKAGE, line_ranks, shown_frames
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.model import Facts

CALLERS = display_spec("""
callers: One row per caller of an operator or a kernel, callees before their callers.
    name             code      -  -           The operator, the class of the module, or `file(line): function`.
    parent           row       -  unit=row    Row that it calls.
    kind             category  -  -           `line` of the program, `frame` of a library, `module`, `operator`.
    layers           text      -  optional    Modules between the two, of the outermost line those around it too; alike ones counted.
    calls            count     -  unit=calls  Calls that come through it.
    device_self_ns   time      -  optional    Their device self time.
    device_total_ns  time      -  optional    Their device total time.
    host_self_ns     time      -  optional    Their host self time.
    host_total_ns    time      -  optional    Their host total time.
    total_ns         time      -  optional    Of a kernel: sum of the durations.
""")
_SUMS = ("calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns")
_MODULE = "nn.Module: "
_NUMBER = regex(r"_\d+$")
_MOST_ROWS = 5000
_MOST_LAYERS = 3


def operator_callers(
    facts: Facts, selection: Selection, name: int, dims: int | None, library: bool
) -> DisplayTable | None:
    """The callers of an operator, of one shape unless ``dims`` is None; with frames of libraries on
    request. None: the selected steps have no such operator.
    """
    stacks = operator_stacks(facts, selection, name, dims)
    if not stacks.n:
        return None
    sums = {key: stacks[key] for key in _SUMS}
    return _tree(facts, stacks["stack"], sums, None, library)


def kernel_callers(
    facts: Facts, selection: Selection, name: int, library: bool
) -> DisplayTable | None:
    """The operators that launch a kernel, and their callers; likewise."""
    kernels, steps, calls = facts["kernels"], facts["kernel_steps"], facts["kernel_calls"]
    wanted = (kernels["name"][steps["kernel"]] == name) & mask(selection, steps["step"])
    taken = np.flatnonzero(wanted[calls["cell"]])
    if not len(taken):
        return None
    operator = kernels["operator"][steps["kernel"][calls["cell"][taken]]]
    stack = calls["stack"][taken]
    first, group = group_rows((operator, stack))
    total = sum_by(group, len(first), calls["duration"][taken])
    order = np.argsort(-total, kind="stable")
    sums = {"calls": np.bincount(group, minlength=len(first))[order], "total_ns": total[order]}
    return _tree(facts, stack[first][order], sums, operator[first][order], library)


class _Rows(msgspec.Struct):
    """The rows of the tree in the order in which they were met."""

    name: list[str] = msgspec.field(default_factory=list)
    parent: list[int] = msgspec.field(default_factory=list)
    kind: list[str] = msgspec.field(default_factory=list)
    layers: list[dict[str, set[str]]] = msgspec.field(default_factory=list)
    sums: list[Array] = msgspec.field(default_factory=list)
    _known: dict[tuple[int, str, str], int] = msgspec.field(default_factory=dict)

    def add(self, path: Sequence[_Caller], sums: Array) -> None:
        at = -1
        for caller in path:
            key = at, caller.kind, caller.name
            row = self._known.get(key, -1)
            if row < 0:
                if len(self.name) >= _MOST_ROWS:
                    return
                row = self._known[key] = len(self.name)
                self.name.append(caller.name)
                self.parent.append(at)
                self.kind.append(caller.kind)
                self.layers.append({})
                self.sums.append(np.zeros_like(sums))
            self.sums[row] = self.sums[row] + sums
            for module in caller.modules:
                self.layers[row].setdefault(class_of(module), set()).add(module)
            at = row


class _Caller(msgspec.Struct, frozen=True):
    kind: str
    name: str
    modules: tuple[str, ...] = ()


def _tree(
    facts: Facts, stack: Ints, sums: Mapping[str, Array], operator: Array | None, library: bool
) -> DisplayTable:
    listed = [frames(facts, row) for row in stack.tolist()]
    used = np.array(sorted({frame for each in listed for frame in each}), np.int64)
    rank = line_ranks(facts.strings, used)
    texts = dict(zip(used.tolist(), facts.strings.many(shown_frames(facts, used)), strict=True))
    rows = _Rows()
    values = np.stack([np.asarray(column) for column in sums.values()], axis=1)
    for i, numbers in enumerate(listed):
        path = _path([(texts[n], int(rank[n])) for n in numbers], library)
        if operator is not None and operator[i] >= 0:
            path = [_Caller("operator", facts.strings[int(operator[i])]), *path]
        rows.add(path, values[i])
    table = np.stack(rows.sums) if rows.sums else np.zeros((0, len(sums)), np.int64)
    return CALLERS.build(
        facts.strings,
        name=rows.name,
        parent=np.array(rows.parent, np.int64),
        kind=rows.kind,
        layers=[_layers(layers) for layers in rows.layers],
        **{key: table[:, i] for i, key in enumerate(sums)},
    )


def _path(frames: Sequence[tuple[str, int]], library: bool) -> list[_Caller]:
    """The callers to show of a stack, innermost first; without a line of the program its modules,
    without these every frame.
    """
    own = [rank >= PACKAGE for _, rank in frames]
    if not library and not any(own):
        modules = [_module(text) for text, _ in frames if text.startswith(_MODULE)]
        if modules:
            return modules
        library = True
    path: list[_Caller] = []
    modules_of_line: list[str] = []
    for (text, _), is_own in zip(frames, own, strict=True):
        if text.startswith(_MODULE):
            if library:
                path.append(_module(text))
            else:
                modules_of_line.append(text[len(_MODULE) :])
        elif is_own:
            path.append(_Caller("line", text, tuple(modules_of_line)))
            modules_of_line = []
        elif library:
            path.append(_Caller("frame", text))
    if path and modules_of_line:
        # Nothing of the program is around them: a recording may begin inside the model.
        path[-1] = replace(path[-1], modules=(*path[-1].modules, *modules_of_line))
    return path


def _module(text: str) -> _Caller:
    name = text[len(_MODULE) :]
    return _Caller("module", class_of(name), (name,))


def class_of(module: str) -> str:
    """``Linear`` of the instance ``Linear_0``; another text as it is."""
    return _NUMBER.sub("", module)


def _layers(layers: Mapping[str, set[str]]) -> str | None:
    """`Linear ×2, Block`: the innermost first."""
    texts = [
        f"{name} ×{len(modules)}" if len(modules) > 1 else name for name, modules in layers.items()
    ]
    more = ["…"] if len(texts) > _MOST_LAYERS else []
    return ", ".join(texts[:_MOST_LAYERS] + more) or None
