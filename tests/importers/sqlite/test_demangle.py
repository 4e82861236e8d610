"""Readable names of kernels. The expected texts are those of libstdc++'s own demangler, which the
last test asks where it is at hand.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.importers.sqlite.demangle import demangled

NAMES = {
    "_Z4gemmPfS_i": "gemm(float*, float*, int)",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_": (
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>"
        " >(at::native::ReduceOp<float>)"
    ),
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIfffNS0_15CUDAFunctor_addIfEEEENS_6detail5ArrayIPcLi2EEEEEviT0_T1_": (
        "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float,"
        " float, at::native::CUDAFunctor_add<float> >, at::detail::Array<char*, 2> >(int,"
        " at::native::AUnaryFunctor<float, float, float, at::native::CUDAFunctor_add<float> >,"
        " at::detail::Array<char*, 2>)"
    ),
    "_ZN2at6native12_GLOBAL__N_116fill_kernel_implEv": (
        "at::native::(anonymous namespace)::fill_kernel_impl()"
    ),
    "_ZZ3fooiENKUlfE_clEf": "foo(int)::{lambda(float)#1}::operator()(float) const",
    "_ZZ3fooiENKUlfE1_clEf": "foo(int)::{lambda(float)#3}::operator()(float) const",
    "_ZNK3c108ArrayRefIlE4sizeEv": "c10::ArrayRef<long>::size() const",
    "_Z1fIJifEEvDpRKT_": "void f<int, float>(int const&, float const&)",
    "_Z1fIJEEvDpT_": "void f<>()",
    "_Z1fPFviE": "f(void (*)(int))",
    "_Z1fRA8_Kf": "f(float const (&) [8])",
    "_Z1fILb1EEvv": "void f<true>()",
    "_Z1fILj7ELln3EEvv": "void f<7u, -3l>()",
    "_Z1fIL1E2EEvv": "void f<(E)2>()",
    "_Z1fSt6vectorIfSaIfEE": "f(std::vector<float, std::allocator<float> >)",
    "_ZN1AC2Ev": "A::A()",
    "_ZN1AD1Ev": "A::~A()",
    "_ZN1AcvbEv": "A::operator bool()",
    "_ZN1AplERKS_": "A::operator+(A const&)",
    "_Z1f13__nv_bfloat16": "f(__nv_bfloat16)",
    "_Z31ncclAllReduceRingLLKernel_sum_f8ncclColl": "ncclAllReduceRingLLKernel_sum_f(ncclColl)",
    "_Z1fv.constprop.0": "f()",
}
UNREADABLE = (
    "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_tn",
    "",
    "_Z",
    "_Z1",
    "_Z9short",
    "_ZN1a",
    "_Z1fT_",
    "_Z1fS5_",
    "_Z1fIXsZT_EEvv",
    "_Z1fv trailing",
)


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    assert demangled(name) == NAMES[name]


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_not_covered_stays_as_it_is(name: str) -> None:
    assert demangled(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "_Z1f" + "P" * 9000 + "i",
        "_Z1f" + "1aI" * 3000,
        "_Z1fIJ" + "i" * 8000 + "EEvDpT_",
        "_Z1f" + "".join(f"1aI{('S%s_' % (i - 1) if i else 'i') * 9}E" for i in range(30)),
    ],
)
def test_a_short_name_for_an_endless_one_takes_no_time(name: str) -> None:
    begun = time.monotonic()
    assert len(demangled(name)) < 1 << 17
    # Written out, the longest would take the age of the universe.
    assert time.monotonic() - begun < 60


def _native() -> Callable[[str], str | None] | None:
    try:
        function = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_void_p

    def ask(name: str) -> str | None:
        status = ctypes.c_int()
        address = function(name.encode(), None, None, ctypes.byref(status))
        found = ctypes.string_at(address).decode() if address else None
        ctypes.CDLL(None).free(ctypes.c_void_p(address))
        return found

    return ask


TYPES = st.recursive(
    st.sampled_from(
        ["i", "f", "d", "b", "c", "l", "m", "1a", "N1a1bE", "St6vectorIiE", "3c10", "N3c104HalfE"]
    ),
    lambda inner: st.one_of(
        inner.map(lambda t: "P" + t),
        inner.filter(lambda t: t[0] not in "RK").map(lambda t: "R" + t),
        inner.filter(lambda t: t[0] not in "RKF").map(lambda t: "PK" + t),
        st.lists(inner, min_size=1, max_size=3).map(lambda found: "1tI" + "".join(found) + "E"),
        st.tuples(inner.filter(lambda t: t[0] != "F"), inner).map(
            lambda pair: f"PF{pair[0]}{pair[1]}E"
        ),
    ),
    max_leaves=6,
)


@examples(300)
@given(st.lists(TYPES, min_size=1, max_size=4), st.booleans())
def test_the_same_as_the_compilers_own(types: list[str], template: bool) -> None:
    native = _native()
    if native is None:
        pytest.skip("libstdc++ is not on this machine")
    listed = "".join(types)
    name = f"_ZN2at1fI{listed}EEvT_{listed}" if template else f"_ZN2at1fE{listed}"
    expected = native(name)
    if expected is not None:
        assert re.sub(r"\s", "", demangled(name)) == re.sub(r"\s", "", expected)
