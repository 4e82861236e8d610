"""Everything that is derived from a trace, once."""

from __future__ import annotations

from torch_tb_profiler.store.trace import Facts, Trace


def derive(trace: Trace) -> Facts:
    """The facts of a trace."""
    raise NotImplementedError
