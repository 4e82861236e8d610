"""TensorBoard plugin that shows why PyTorch training or inference is slow.

``open(path)`` gives a trace's facts as pandas DataFrames, of a folder with several those of all;
``experiments(logdir)`` puts its runs side by side;
``record(directory)`` records a trace that shows everything, ``listen`` lets a running job be recorded; ``register_model`` is for performance
models of your own. Importing this package costs nothing: pandas, numpy, torch and the rest are
imported when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_tb_profiler._version import __version__

if TYPE_CHECKING:
    from torch_tb_profiler.api.experiments import experiments
    from torch_tb_profiler.api.frames import RunFrames, TraceFrames
    from torch_tb_profiler.api.models import register_model
    from torch_tb_profiler.api.opening import open_all
    from torch_tb_profiler.api.opening import open_path as open
    from torch_tb_profiler.live.listener import Listener, listen
    from torch_tb_profiler.recording import Recording, record

__all__ = [
    "Listener",
    "Recording",
    "RunFrames",
    "TraceFrames",
    "__version__",
    "experiments",
    "listen",
    "open",
    "open_all",
    "record",
    "register_model",
]

_FROM = {
    "open": ("api.opening", "open_path"),
    "open_all": ("api.opening", "open_all"),
    "experiments": ("api.experiments", "experiments"),
    "TraceFrames": ("api.frames", "TraceFrames"),
    "RunFrames": ("api.frames", "RunFrames"),
    "record": ("recording", "record"),
    "listen": ("live.listener", "listen"),
    "Listener": ("live.listener", "Listener"),
    "Recording": ("recording", "Recording"),
    "register_model": ("api.models", "register_model"),
}


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _FROM[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
