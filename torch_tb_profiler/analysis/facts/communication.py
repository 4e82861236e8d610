"""Which device and host work is communication."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.facts.calltree import CallTree, is_call
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses, device_rows
from torch_tb_profiler.analysis.facts.header import distributed_info
from torch_tb_profiler.analysis.facts.host_names import HostNames, distinct, host_names, named
from torch_tb_profiler.hardware.kernel_names import communication_library
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


def communication_kernels(
    trace: Trace, tree: CallTree, names: HostNames, caused: DeviceCauses
) -> Mask:
    """Which device events are communication, bool of shape (device events,).

    A kernel is if a known library's name is in its own, if it carries collective arguments, or if
    the innermost operator or annotation around its launch is a collective. Copies and memsets never
    are.
    """
    kernel = trace["spans"]["role"][caused.row] == Role.KERNEL
    return np.asarray(
        kernel & (_by_itself(trace, caused.row) | _under_collective(trace, tree, names, caused))
    )


def communication_rows(trace: Trace, facts: Facts) -> Ints:
    """The communication kernels of a trace with facts: rows of spans, ascending."""
    spans, links = trace["spans"], facts["span_links"]
    row = device_rows(trace)
    row = row[spans["role"][row] == Role.KERNEL]
    names = host_names(trace.strings, spans["name"][is_call(spans["role"])])
    is_communication = _by_itself(trace, row)
    if names.collective.any():
        calls = (
            (spans["role"] == Role.OPERATOR) | (spans["role"] == Role.ANNOTATION)
        ) & ~names.hidden[spans["name"]]
        around = climb(links["parent"], links["launch"][row].astype(np.int64), calls)
        is_communication |= (around >= 0) & names.collective[spans["name"][around]]
    return np.asarray(row[is_communication])


def _by_itself(trace: Trace, row: Ints) -> Mask:
    """Which device events are communication by their own name or arguments."""
    by_argument = np.isin(row, trace["collective_args"]["span"])
    return by_argument | named(trace, row, lambda text: communication_library(text) is not None)


def _under_collective(trace: Trace, tree: CallTree, names: HostNames, caused: DeviceCauses) -> Mask:
    collective = names.collective[trace["spans"]["name"][tree.row]]
    result = np.zeros(len(caused.row), np.bool_)
    if not collective.any():
        return result
    known = caused.launch >= 0
    node = tree.node[caused.launch[known]].astype(np.int64)
    around = climb(tree.parent, node, trace["spans"]["role"][tree.row] != Role.RUNTIME)
    result[known] = (around >= 0) & collective[around]
    return result


def backends(trace: Trace, names: HostNames, kernels: Array) -> list[str]:
    """The communication libraries named in header, collectives and kernels, sorted."""
    declared = distributed_info(trace).get("backend")
    libraries = set(names.backends)
    if isinstance(declared, str) and declared:
        libraries.update(part.split(":")[-1] for part in declared.split(","))
    names_of_kernels = trace.strings.many(distinct(kernels, trace.strings))
    return sorted(libraries.union(filter(None, map(communication_library, names_of_kernels))))
