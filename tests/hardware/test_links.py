"""The links between accelerators of a node."""

from __future__ import annotations

import pytest

from torch_tb_profiler.hardware.accelerators import TABLE, find
from torch_tb_profiler.hardware.links import _LINKS, link_of


@pytest.mark.parametrize(
    ("device", "vendor", "ranks", "rate"),
    [
        ("NVIDIA H100 80GB HBM3", "nvidia", 2, 450e9),
        ("NVIDIA H100 80GB HBM3", "nvidia", 8, 450e9),
        ("Tesla V100-SXM2-16GB", "nvidia", 4, 150e9),
    ],
)
def test_one_direction_of_the_links_that_a_group_can_use(
    device: str, vendor: str, ranks: int, rate: float
) -> None:
    accelerator = find(device, vendor)
    assert accelerator is not None
    link = link_of(accelerator)
    assert link is not None
    assert link.rate(ranks) == pytest.approx(rate)
    assert link.source.count("http") == 1


def test_where_the_board_decides_nothing_is_said() -> None:
    accelerator = find("NVIDIA H100 PCIe", "nvidia")
    assert accelerator is not None
    assert link_of(accelerator) is None


def test_every_entry_is_an_accelerator_with_a_source() -> None:
    accelerators = {each.name: each for table in TABLE.values() for each in table}
    for name in _LINKS:
        link = link_of(accelerators[name])
        assert link is not None
        assert link.source
