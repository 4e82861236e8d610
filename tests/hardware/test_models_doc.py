"""docs/performance_models.md has all that is registered."""

from __future__ import annotations

from pathlib import Path

from torch_tb_profiler.hardware.accelerators import TABLE


def test_the_page_has_every_family_and_the_example(repository: Path) -> None:
    written = (repository / "docs" / "performance_models.md").read_text(encoding="utf-8")
    assert "@register_model(" in written
    assert [
        family
        for family in ("gemm", "convolution", "attention", "triton")
        if f"\n## {family}\n" not in written
    ] == []
    assert "`aten::addmm`" in written


def test_the_page_has_every_device(repository: Path) -> None:
    written = (repository / "docs" / "performance_models.md").read_text(encoding="utf-8")
    assert [
        line.name
        for lines in TABLE.values()
        for line in lines
        if f"\n| {line.name} | {line.bandwidth:g} | " not in written
    ] == []
