"""A file of nvprof means to us what it means to PyTorch: ``torch.autograd.profiler.load_nvprof``,
which knows one thread and launches of kernels alone.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.builders.nvprof import GEMM, RELU, NvprofFile
from tests.loading import load
from torch_tb_profiler.importers.sqlite.demangle import demangled
from torch_tb_profiler.importers.sqlite.markers import read_marker
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

torch: Any = pytest.importorskip(
    "torch", reason="PyTorch is not installed; what it reads is compared with it"
)


def write(path: Path, seed: int) -> None:
    """Operators nested at random on one thread, with launches within and kernels behind them."""
    rng, time = random.Random(seed), [1000]

    def tick() -> int:
        time[0] += rng.randrange(10, 100)
        return time[0]

    with NvprofFile(path) as file:
        device = [10_000]

        def operator(depth: int) -> None:
            name, begin = rng.choice(("mm", "addmm", "relu", "MmBackward", "layer:fc1")), tick()
            for _ in range(rng.randrange(3)):
                launched = (tick(), tick())
                length = rng.randrange(100, 1000)
                file.kernel(rng.choice((GEMM, RELU)), device[0], device[0] + length, launched)
                device[0] += length + 10
            for _ in range(rng.randrange(3) if depth < 3 else 0):
                operator(depth + 1)
            file.marker(
                f"{name}, seq = {rng.randrange(9)}" if name != "layer:fc1" else name, begin, tick()
            )

        for _ in range(20):
            operator(0)


Found = Counter[tuple[str, int, tuple[int, ...]]]
"""(text, duration, durations of its kernels) of every marker."""


def theirs(path: Path) -> Found:
    found: Found = Counter()
    for event in torch.autograd.profiler.load_nvprof(str(path)):
        found[
            event.name,
            event.time_range.end - event.time_range.start,
            tuple(sorted(kernel.duration for kernel in event.kernels)),
        ] += 1
    return found


def ours(path: Path) -> Found:
    opened = load(str(path), Settings(use_cache=False))
    trace, facts = opened.trace, opened.facts
    spans, links = trace["spans"], facts["span_links"]
    within: dict[int, list[int]] = {}
    for kernel in np.flatnonzero(spans["role"] == Role.KERNEL).tolist():
        for row in _around(facts, int(links["launch"][kernel])):
            within.setdefault(row, []).append(int(spans["dur"][kernel]))
    found: Found = Counter()
    for row in np.flatnonzero(np.isin(spans["role"], (Role.OPERATOR, Role.ANNOTATION))).tolist():
        found[_text(trace, row), int(spans["dur"][row]), tuple(sorted(within.get(row, ())))] += 1
    return found


def _around(facts: Facts, row: int) -> set[int]:
    """The host spans around one."""
    found = set()
    while row >= 0:
        found.add(row)
        row = int(facts["span_links"]["parent"][row])
    return found


def _text(trace: Trace, row: int) -> str:
    side = trace["operator_args"]
    at = int(np.searchsorted(side["span"], row))
    name, sequence = trace.strings[int(trace["spans"]["name"][row])], int(side["sequence"][at])
    return f"{name}, seq = {sequence}" if sequence >= 0 else name


@pytest.mark.parametrize("seed", range(5))
def test_markers_and_their_kernels(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "profile.nvprof"
    write(path, seed)
    expected = theirs(path)
    assert expected.total() > 20
    assert sum(bool(kernels) for _, _, kernels in expected) > 10
    assert ours(path) == expected


@pytest.mark.parametrize(
    "name",
    [
        RELU,
        "_ZN2at6native12_GLOBAL__N_116fill_kernel_implEv",
        "_Z1fIJifEEvDpRKT_",
        "_Z1fRA8_Kf",
    ],
)
def test_scopes_are_those_that_pytorch_reads(name: str) -> None:
    scope = re.split(r"[<(](?!anonymous)", demangled(name))[0]
    assert scope in torch._C._demangle(name)


def test_texts_of_the_newest_emit_nvtx_are_read() -> None:
    """The words that ``getNvtxStr`` puts together stand in PyTorch's library."""
    library = (Path(torch.__file__).parent / "lib" / "libtorch_cpu.so").read_bytes()
    text = "aten::mm"
    for part, value in (
        ("{}, seq = {}", "7"),
        ("{}, op_id = {}", "12"),
        ("{}, sizes = {}", "[[2, 3], [3, 4]]"),
        ("{}, input_op_ids = {}", "[(11,0)]"),
    ):
        assert part.encode() in library
        text = part.format(text, value)
    found = read_marker(text)
    assert (found.name, found.sequence, found.operation, found.dims) == (
        "aten::mm",
        7,
        12,
        b"[[2,3],[3,4]]",
    )
