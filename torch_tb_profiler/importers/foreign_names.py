"""What other writers put into names and arguments → names and arguments as PyTorch writes them.

::

    VizTracer      decode (/srv/serve.py:2)    /srv/serve.py(2): decode       a frame
                   time.sleep                  <built-in function time.sleep>
    XLA            $serve.py:2 decode          serve.py(2): decode
                   $time sleep                 <built-in function time.sleep>
                   decode {"step_num": "3"}    decode#step=3                  a step
    ONNX Runtime   model_run                   model_run#step=3               the third after the first
                   /layers.0/fc1/MatMul_kernel_time {"op_name": "MatMul"}     MatMul of layers.0, fc1
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from torch_tb_profiler.importers.events import ANY as ANY_VALUE
from torch_tb_profiler.importers.events import DECODE_ERRORS
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.process_roles import (
    ONNX_RUNTIME,
    ORT_RUN,
    ORT_SUFFIX,
    VIZTRACER,
    XLA,
)
from torch_tb_profiler.store.roles import DEVICE_ROLES, STEP_MARK, Role
from torch_tb_profiler.store.strings import NONE, StringBuilder
from torch_tb_profiler.units import format_counted, format_ns

PROVIDERS = "execution_providers"
"""Key of the header: what runs the nodes of a graph."""
_FRAME = regex(
    r"(?P<function>.+) \((?P<file>.+):(?P<line>\d+)\)"
    r"|\$(?P<file_xla>.+?):(?P<line_xla>\d+) (?P<function_xla>.+)"
    r"|\$(?P<module>\S+) (?P<inner>.+)"
    r"|(?P<built_in>[\w<>]+(?:\.[\w<>]+)+)",
    re.DOTALL | re.ASCII,
)


def frame_name(text: str) -> str:
    """The name of a call as PyTorch writes that of a frame; any other text as it is."""
    match = _FRAME.fullmatch(text)
    if match is None:
        return text
    function, file, line, *xla, module, inner, built_in = match.groups()
    if xla[0]:
        file, line, function = xla
    if file:
        return f"{file}({line}): {function}"
    if module:
        built_in = inner if module == "<unknown>" else f"{module}.{inner}"
    return f"<built-in function {built_in}>"


def renamed(
    trace: Trace, late: Table, roles: Array, rows: Array, strings: StringBuilder
) -> tuple[Array, Table]:
    """The names of all spans, and ``operator_args``, as PyTorch would have written them.

    Args:
        late: see ``LATE_ARGS``.
        roles: of all spans.
        rows: of spans that got their roles here.
    """
    name, profiler = trace["spans"]["name"].copy(), trace.header.get("profiler")
    frames = rows[(roles[rows] == Role.PYTHON) & (profiler in (VIZTRACER, XLA))]
    numbers, numbered = np.unique(name[frames], return_inverse=True)
    found = [strings.intern(frame_name(trace.strings[n])) for n in numbers.tolist()]
    name[frames] = np.array(found, name.dtype)[numbered]
    marked = np.flatnonzero((late["step"] >= 0) & (roles[late["span"]] == Role.ANNOTATION))
    steps = dict(zip(late["span"][marked].tolist(), late["step"][marked].tolist(), strict=True))
    operators = trace["operator_args"]
    if profiler == ONNX_RUNTIME:
        steps |= {row: number for number, row in enumerate(_runs(trace, roles))}
        operators = _nodes(trace, late, roles, name, strings)
    for row, number in steps.items():
        name[row] = strings.intern(f"{trace.strings[int(name[row])]}{STEP_MARK}{number}")
    return name, operators


def _runs(trace: Trace, roles: Array) -> list[int]:
    """Rows of the runs of a model in time order; none where several run at a time, as in a server."""
    spans = trace["spans"]
    run = trace.strings.number(ORT_RUN)
    row = np.flatnonzero((spans["name"] == run) & (roles == Role.ANNOTATION))
    end = np.maximum.accumulate(spans["start"][row] + spans["dur"][row])
    return [] if (spans["start"][row][1:] < end[:-1]).any() else row.tolist()


def _nodes(trace: Trace, late: Table, roles: Array, name: Array, strings: StringBuilder) -> Table:
    """``operator_args`` of the nodes of a graph, whose names become, in place, those of their operators."""
    spans = trace["spans"]
    node = np.flatnonzero(roles == Role.OPERATOR)
    position = np.searchsorted(late["span"], node)
    position[position == late.n] = 0
    has = late["span"][position] == node if late.n else np.zeros(len(node), np.bool_)
    columns: dict[str, Any] = {
        key: np.full(len(node), NONE) for key in ("dims", "types", "hierarchy")
    }
    by_provider: dict[str, list[int]] = {}
    for at, row in enumerate(node.tolist()):
        path = trace.strings[int(spans["name"][row])].removesuffix(ORT_SUFFIX)
        kind, provider, inputs = (
            trace.strings[int(late[key][position[at]])] if has[at] else ""
            for key in ("operator", "provider", "inputs")
        )
        name[row] = strings.intern(kind or path)
        count = by_provider.setdefault(provider, [0, 0])
        count[0], count[1] = count[0] + 1, count[1] + int(spans["dur"][row])
        texts = (*_inputs(inputs), _hierarchy(path))
        for key, text in zip(columns, texts, strict=True):
            if text:
                columns[key][at] = strings.intern(text)
    trace.header[PROVIDERS] = ", ".join(
        f"{provider} ({format_counted(count, 'node')}, {format_ns(ns)})"
        for provider, (count, ns) in by_provider.items()
        if provider
    )
    absent = np.full(len(node), NONE)
    rest = {c.name: absent for c in schema.OPERATOR_ARGS.columns if c.name not in columns}
    return schema.OPERATOR_ARGS.build(**{**rest, **columns, "span": node})


def tied_to_nodes(trace: Trace, roles: Array) -> Array:
    """``external`` of all spans: ONNX Runtime writes the work of a node directly behind it and gives neither an id."""
    spans = trace["spans"]
    ordinal, external = spans["ordinal"], spans["external"].copy()
    node = np.sort(ordinal[roles == Role.OPERATOR])
    tied = np.isin(roles, (*DEVICE_ROLES, Role.RUNTIME, Role.OPERATOR)) & (external < 0)
    place = np.searchsorted(node, ordinal, side="right") - 1
    tied &= place >= 0
    external[tied] = node[place[tied]].astype(np.int64) + 1
    return np.asarray(external)


def _inputs(text: str) -> tuple[str, str]:
    """Shapes and types of ``[{"float":[64,256]},…]`` as Kineto writes them; empty where the text is another."""
    try:
        written: Any = ANY_VALUE.decode(text or "[]")
        pairs = [next(iter(one.items())) for one in written]
    except (*DECODE_ERRORS, AttributeError, TypeError, StopIteration):
        return "", ""
    if not pairs or not all(isinstance(shape, list) for _, shape in pairs):
        return "", ""
    shapes = json.dumps([shape for _, shape in pairs], separators=(",", ":"))
    return shapes, json.dumps([kind for kind, _ in pairs], separators=(",", ":"))


def _hierarchy(path: str) -> str:
    """The modules that the path of a node names, without the node itself."""
    modules = list(filter(None, re.split(r"[/.]", path.rpartition("/")[0])))
    calls = (re.sub(r"[():]", "_", module) + "()::forward" for module in modules)
    return json.dumps(".".join(calls)) if modules else ""
