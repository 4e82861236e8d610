"""Where compiled kernels come from, as torch.compile logs it beside a trace."""

from __future__ import annotations

from functools import cached_property

import msgspec


class CompiledKernel(msgspec.Struct, frozen=True):
    """One kernel of one compiled graph.

    name: as in the generated code; a call of a library is ``extern_kernels.mm``.
    graph: key of the graph, as in ``## Call CompiledFxGraph <key> ##``; empty if unknown.
    functions: what it computes, as ``aten.mm``, in order; empty if not written.
    nodes: nodes of the graph before inductor's passes; empty if not written.
    calls: source lines of each call in the graph, in order, like ``model.py(12): forward``.
    path: file of its source, as written.
    """

    name: str
    graph: str
    functions: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    calls: tuple[tuple[str, ...], ...] = ()
    path: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The source lines of all its calls, each once."""
        return tuple(dict.fromkeys(line for call in self.calls for line in call))


class Provenance(msgspec.Struct, frozen=True, dict=True):
    """What the logs of a folder tell.

    kernels: in the order of the logs.
    problems: number of things that could not be used, by what they are.
    """

    kernels: tuple[CompiledKernel, ...]
    problems: dict[str, int] = msgspec.field(default_factory=dict)

    @cached_property
    def _named(self) -> dict[str, list[CompiledKernel]]:
        named: dict[str, list[CompiledKernel]] = {}
        for kernel in self.kernels:
            named.setdefault(kernel.name, []).append(kernel)
        return named

    def find(self, name: str, graph: str) -> tuple[CompiledKernel, ...]:
        """Kernels of this name in this graph; of all graphs if the key is empty or logged nowhere.

        Numbers of names begin anew in each graph, so several may have one name.
        """
        named = self._named.get(name, [])
        same = [kernel for kernel in named if graph and kernel.graph == graph]
        unknown = [kernel for kernel in named if not kernel.graph or not graph]
        return tuple(dict.fromkeys(same or unknown))
