"""TensorBoard plugin that shows why PyTorch training or inference is slow.

Importing this package costs nothing: pandas, numpy and the rest are imported by the rooms that need them.
"""

from torch_tb_profiler._version import __version__

__all__ = ["__version__"]
