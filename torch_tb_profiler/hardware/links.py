"""How fast an accelerator can send to others of its node over its own links (NVLink, xGMI): published figures.

Figures are per accelerator and for both directions together, as vendors state them; ``rate`` is one direction, which bus
bandwidth (nccl-tests) compares with. Devices whose board decides about their links (PCIe cards with or without a bridge,
superchips) are left out, and so is the network between nodes: a trace names neither.
"""

from __future__ import annotations

import msgspec

from torch_tb_profiler.hardware.accelerators import Accelerator


class Link(msgspec.Struct, frozen=True):
    """name: of the link. total: GB/s (1e9 bytes) of all its links, both directions. links: to how many others they lead, one
    each; 0: through a switch, so that all of it is there for any other. source: title and URL.
    """

    name: str
    total: float
    links: int
    source: str

    def rate(self, ranks: int) -> float:
        """Bytes/s that one of ``ranks`` devices, one rank each, can send to the others."""
        used = min(1.0, max(0, ranks - 1) / self.links) if self.links else 1.0
        return self.total / 2 * 1e9 * used


_EXPORT = (
    "figures of the export variant as published by server makers; NVIDIA has no public data sheet"
)
_OWN = ""
"""The data sheet of the accelerator itself."""

_LINKS = {
    "NVIDIA V100 SXM2": ("NVLink 2", 300, 0, _OWN),
    "NVIDIA A100 SXM 80GB": ("NVLink 3", 600, 0, _OWN),
    "NVIDIA A100 SXM 40GB": ("NVLink 3", 600, 0, _OWN),
    "NVIDIA A800 SXM 80GB": ("NVLink 3", 400, 0, _EXPORT),
    "NVIDIA H100 SXM": ("NVLink 4", 900, 0, _OWN),
    "NVIDIA H800 SXM": ("NVLink 4", 400, 0, _EXPORT),
    "NVIDIA H200": ("NVLink 4", 900, 0, _OWN),
    "NVIDIA H20": ("NVLink 4", 900, 0, _EXPORT),
    "NVIDIA H20 141GB": ("NVLink 4", 900, 0, _EXPORT),
    "NVIDIA B200": ("NVLink 5", 1800, 0, _OWN),
    "NVIDIA B300": ("NVLink 5", 1800, 0, _OWN),
    "NVIDIA GB200": ("NVLink 5", 1800, 0, _OWN),
    "NVIDIA GB300": ("NVLink 5", 1800, 0, _OWN),
    # Seven of its eight links of 128 GB/s lead to the others of a board of eight.
    "AMD Instinct MI300X": ("xGMI", 896, 7, _OWN),
    "AMD Instinct MI325X": ("xGMI", 896, 7, _OWN),
}


def link_of(accelerator: Accelerator) -> Link | None:
    """The links of an accelerator to others of its node; None if they are not known by the device alone."""
    found = _LINKS.get(accelerator.name)
    if found is None:
        return None
    name, total, links, source = found
    return Link(name, total, links, source or accelerator.source)
