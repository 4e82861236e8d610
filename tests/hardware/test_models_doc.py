"""docs/performance_models.md has all that is registered."""

from __future__ import annotations

from pathlib import Path

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware import families
from torch_tb_profiler.hardware.accelerators import TABLE
from torch_tb_profiler.hardware.work import modelled


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


def test_each_row_of_a_family_is_of_a_function() -> None:
    functions = {
        (model.function.__module__, model.function.__name__) for model in modelled().values()
    }
    folder = Path(families.__file__).parent
    rows = {
        (f"{families.__name__}.{path.stem}", name)
        for path in folder.glob("*.txt")
        for row in rows_beside(str(path))
        for name in row.get("model", ())
    }
    assert rows - functions == set()
    assert len(rows) > 100
