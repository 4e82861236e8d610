"""Readable names of nvprof's kernels: scope and base name, with the arguments as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.nvprof import NvprofFile
from tests.importers.sqlite.asked import read, spans
from torch_tb_profiler.importers.sqlite.demangle import demangled

NAMES = {
    "_Z4gemmPfS_i": "gemm(PfS_i)",
    "_Z4gemmv": "gemm(v)",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_": (
        "at::native::reduce_kernel<Li512ELi1ENS0_8ReduceOpIfEEEEvT1_>"
    ),
    "_ZN2at6native12_GLOBAL__N_116fill_kernel_implEv": (
        "at::native::(anonymous namespace)::fill_kernel_impl(v)"
    ),
    "_ZN12_GLOBAL__N_1L4copyEv": "(anonymous namespace)::copy(v)",
    "_Z1f13__nv_bfloat16": "f(13__nv_bfloat16)",
    "_ZSt4swapIfEvRT_S1_": "std::swap<fEvRT_S1_>",
    "_ZNK1a4sizeEv": "a::size(v)",
    "_Z31ncclAllReduceRingLLKernel_sum_f8ncclColl": "ncclAllReduceRingLLKernel_sum_f(8ncclColl)",
    "_Z1fv.constprop.0": "f(v.constprop.0)",
    "_ZN1a1bE": "a::b",
}
UNREADABLE = (
    "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_tn",
    "",
    "_Z",
    "_Z1",
    "_Z0",
    "_Z9short",
    "_ZN1a",
    "_ZSt",
    "_ZN1AplERKS_",
    "_ZZ3fooiENKUlfE_clEf",
)
IDENTIFIERS = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,12}", fullmatch=True).filter(
    lambda text: not text.startswith("_GLOBAL__N_")
)


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    assert demangled(name) == NAMES[name]


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_has_no_plain_name_stays_as_it_is(name: str) -> None:
    assert demangled(name) == name


@given(st.lists(IDENTIFIERS, min_size=1, max_size=4), st.sampled_from(["", "I", "E"]), st.text())
def test_the_scope_is_readable_and_nothing_is_lost(
    scope: list[str], template: str, rest: str
) -> None:
    mangled = "".join(f"{len(part)}{part}" for part in scope)
    mark = template or "E"
    told = demangled(f"_ZN{mangled}{mark}{rest}")
    assert told.startswith("::".join(scope))
    assert told.removeprefix("::".join(scope)) == (
        f"<{rest}>" if mark == "I" else f"({rest})" if rest else ""
    )


@given(st.text(max_size=200))
def test_any_name_has_one(text: str) -> None:
    assert demangled(text) is not None
    assert demangled(f"_Z{text}") is not None


def test_kernels_keep_their_whole_names(tmp_path: Path) -> None:
    """Kernels of one template differ in their arguments alone."""
    path = tmp_path / "a.nvprof"
    mangled = [name for name in NAMES if "reduce" in name]
    mangled += [mangled[0].replace("Li512", "Li256"), "void gemm<4>(float*)", "volta_s884gemm_tn"]
    with NvprofFile(path) as file:
        for k, name in enumerate(mangled):
            file.kernel(name, 1000 * k + 200, 1000 * k + 500, (1000 * k, 1000 * k + 100))
    told = [name for name, role in spans(read(path), "category") if role == "kernel"]
    assert told == [demangled(name) for name in mangled]
    assert len(set(told)) == len(mangled)
