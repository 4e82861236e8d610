"""TensorBoard plugin that shows why PyTorch training or inference is slow.

``open(path)`` gives a trace's facts as pandas DataFrames, ``open_all(path)`` those of a run folder or a logdir. Importing this package
costs nothing: pandas, numpy and the rest are imported by the rooms that need them, when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_tb_profiler._version import __version__

if TYPE_CHECKING:
    from torch_tb_profiler.api.frames import TraceFrames, open_all
    from torch_tb_profiler.api.frames import open_trace as open

__all__ = ["TraceFrames", "__version__", "open", "open_all"]

_IN_API = {"open": "open_trace", "open_all": "open_all", "TraceFrames": "TraceFrames"}


def __getattr__(name: str) -> Any:
    if name not in _IN_API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from torch_tb_profiler.api import frames

    return getattr(frames, _IN_API[name])


def __dir__() -> list[str]:
    return sorted(__all__)
