"""Files of PyProf's dictionaries of kernels, which are no traces: they have no times."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import sniff
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_text

if TYPE_CHECKING:
    from torch_tb_profiler.store.defects import DefectCounts
    from torch_tb_profiler.store.kernel_line import KernelLine


def kernel_lines(path: str, settings: Settings) -> tuple[list[KernelLine], DefectCounts] | None:
    """The kernels that a file on this machine lists; None if it is not one that does.

    Raises:
        NotATrace: no line is a kernel, or there is too much text.
        SourceError: it cannot be read.
    """
    place = Place(path)
    if not place.is_local or not os.path.isfile(place.path):
        return None
    if not sniff.is_kernel_lines(sniff.read_head(place).text):
        return None
    from torch_tb_profiler.importers.kernel_lines import read_kernel_lines

    with open_text(place, settings) as stream:
        return read_kernel_lines(stream)
