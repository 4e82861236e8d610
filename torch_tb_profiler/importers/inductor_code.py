"""Reads what inductor writes about one graph: generated code, the graph with its lines, mappings.

::

    # kernel path: /tmp/…/cab….py
    # Topologically Sorted Source Nodes: [add, relu], Original ATen: [aten.add, aten.relu]
    # Graph fragment:
    #   %add_1 : Tensor "f32[8]" [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](…)
    triton_poi_fused_add_relu_0 = async_compile.triton('triton_poi_fused_add_relu_0', …

    # File: model.py:12 in forward, code: return (x + y).relu()
    add_1: "f32[8][1]cuda:0" = torch.ops.aten.add.Tensor(x, y)

Nodes lead from the kernel to its lines. Comments are of PyTorch 2.5 and later.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from torch_tb_profiler.store.provenance import CompiledKernel

MOST_KERNELS = 100_000
"""Of one graph."""
MOST_LINES = 1000
"""Source lines of a kernel's call."""
LONGEST = 4096
"""Characters of a name or a line."""
BAD_JSON = "JSON that is damaged or of another form"
ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)
_JSON: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_PATH = re.compile(r"(?:#|//) kernel path: (\S+)")
_SOURCES = re.compile(
    r"\s*(?:#|//) (?:Topologically Sorted|Unsorted) Source Nodes: \[([^\]]*)\](?:, Original ATen: \[([^\]]*)\])?"
)
_FRAGMENT = re.compile(r"(?:#|//)\s+%(\w+) : .*= call_function\[")
_DEFINED = re.compile(r"(\w+) = async_compile\.\w+\(")
_EXTERN = re.compile(r"\s+(?:\w+ = )?((?:extern_kernels|torch\.ops)\.[\w.]+)\(")
_HANDLE = re.compile(r":(\d+)$")
_FILE = re.compile(r"\s*# File: (.+):(\d+) in ([^,]+)(?:, code: .*)?$")
_NODE = re.compile(r"\s*(\w+)(?:\s*:\s*\"[^\"]*\")? = ")
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in ([^\n]+)')


class GraphLog(msgspec.Struct):
    """What was logged of one graph, one field per artifact, empty where it was not."""

    key: str = ""
    code: str = ""
    graph: str = ""
    mappings: bytes = b""
    stacks: bytes = b""


class _Found(msgspec.Struct):
    functions: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    fragment: list[str] = msgspec.field(default_factory=list)
    path: str = ""
    post: dict[int, list[str]] = msgspec.field(default_factory=dict)
    stacks: dict[int, list[str]] = msgspec.field(default_factory=dict)


def kernels_of(log: GraphLog, problems: Counter[str]) -> list[CompiledKernel]:
    """The kernels of a graph, with their lines where the log has them."""
    found: dict[str, _Found] = {}
    _read_code(log.code, found)
    for handle, names in _texts_of(log.mappings, "cppCodeToPost", problems).items():
        _of(found, handle).post[_number(handle)] = names
    for handle, stacks in _texts_of(log.stacks, "", problems).items():
        _of(found, handle).stacks[_number(handle)] = stacks
    line_of = _lines_of_nodes(log.graph)
    kernels = []
    for name, kernel in found.items():
        handles = sorted({*kernel.post, *kernel.stacks})
        calls = [
            _lines(kernel.stacks.get(handle, ()), kernel.post.get(handle, ()), line_of)
            for handle in handles
        ] or [_lines((), kernel.fragment, line_of)]
        calls = calls if any(calls) else []
        kernels.append(
            CompiledKernel(name, log.key, kernel.functions, kernel.nodes, tuple(calls), kernel.path)
        )
    return kernels


def graph_key(text: bytes, problems: Counter[str]) -> str:
    """The key in what is logged of a look into the cache of graphs; empty if it has none."""
    value = _decoded(text, problems)
    key = value.get("key") if isinstance(value, dict) else None
    return key[:LONGEST] if isinstance(key, str) else ""


def _of(found: dict[str, _Found], handle: str) -> _Found:
    name = _HANDLE.sub("", handle)[:LONGEST]
    return found.setdefault(name, _Found()) if len(found) < MOST_KERNELS else _Found()


def _number(handle: str) -> int:
    match = _HANDLE.search(handle)
    return int(match[1][:18]) if match else 0


def _read_code(code: str, found: dict[str, _Found]) -> None:
    """Functions and nodes of kernels from the comments above them in the generated code."""
    above = _Found()
    for line in code.splitlines():
        line = line[:LONGEST]
        if (match := _PATH.match(line)) is not None:
            above = _Found(path=match[1])
        elif (match := _SOURCES.match(line)) is not None:
            above.nodes, above.functions = _listed(match[1]), _listed(match[2] or "")
        elif (match := _FRAGMENT.match(line)) is not None:
            above.fragment.append(match[1])
        elif (match := _DEFINED.match(line) or _EXTERN.match(line)) is not None:
            kernel = _of(found, match[1])
            kernel.functions = kernel.functions or above.functions
            kernel.nodes = tuple(dict.fromkeys((*kernel.nodes, *above.nodes)))[:MOST_LINES]
            kernel.fragment = kernel.fragment or above.fragment
            kernel.path = kernel.path or above.path
            above = _Found()
        elif line.strip() and not line.lstrip().startswith(("#", "//")):
            above = _Found()


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for name in text.split(",") if (part := name.strip()))[:MOST_LINES]


def _lines_of_nodes(graph: str) -> dict[str, str]:
    """Node → source line, from the comments in a printed graph."""
    lines: dict[str, str] = {}
    current = ""
    for line in graph.splitlines():
        line = line[:LONGEST]
        if (match := _FILE.match(line)) is not None:
            current = f"{match[1]}({match[2]}): {match[3].strip()}"
        elif line.lstrip().startswith("#"):
            # Of nodes that say no line.
            current = ""
        elif current and (match := _NODE.match(line)) is not None:
            lines.setdefault(match[1], current)
    return lines


def _lines(
    stacks: list[str] | tuple[str, ...],
    nodes: list[str] | tuple[str, ...],
    line_of: Mapping[str, str],
) -> tuple[str, ...]:
    """The lines of some stacks, innermost frames alone; without any, those of the nodes."""
    lines = dict.fromkeys(
        f"{file}({line}): {function.strip()}"
        for stack in stacks[:MOST_LINES]
        for file, line, function in _FRAME.findall(stack)[-1:]
    ) or dict.fromkeys(line_of[node] for node in nodes[:MOST_LINES] if node in line_of)
    return tuple(line[:LONGEST] for line in lines)


def _texts_of(text: bytes, member: str, problems: Counter[str]) -> dict[str, list[str]]:
    """``{name: [text, …]}`` of JSON text, or of one member of it; what is not like that is counted."""
    value = _decoded(text, problems) if text else {}
    value = value.get(member, {}) if member and isinstance(value, dict) else value
    if not isinstance(value, dict):
        problems[BAD_JSON] += 1
        return {}
    good = {
        name: [part for part in parts if isinstance(part, str)]
        for name, parts in value.items()
        if isinstance(parts, list)
    }
    if len(good) < len(value):
        problems[BAD_JSON] += len(value) - len(good)
    return good


def _decoded(text: bytes, problems: Counter[str]) -> Any:
    try:
        return _JSON.decode(text)
    except ERRORS:
        problems[BAD_JSON] += 1
        return None
