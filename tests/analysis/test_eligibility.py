"""Operators whose work matrix cores could do, and the shares of their kernel time that did."""

from __future__ import annotations

from tests.builders.listed import facts_listed
from torch_tb_profiler.analysis.figures.operators import operator_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.hardware.knowledge import Knowledge

NO, YES, UNKNOWN = int(Knowledge.NO), int(Knowledge.YES), int(Knowledge.UNKNOWN)
Row = tuple[int, float | None, float | None]

USED = "volta_h884gemm_64x128_ldg8_nn"
NOT_USED = "void at::native::vectorized_elementwise_kernel<4, x>(y)"
NOT_TOLD = "my_gemm"


def eligibility(text: str) -> dict[str, Row]:
    """By operator: eligible, share of its own kernel time, share with all below it."""
    facts = facts_listed(text)
    rows = operator_rows(facts, select(facts), "name")
    return {
        facts.strings[int(rows["name"][at])]: (
            int(rows["matrix_eligible"][at]),
            _share(rows["matrix_self_share"][at]),
            _share(rows["matrix_total_share"][at]),
        )
        for at in range(rows.n)
    }


def _share(value: float) -> float | None:
    return None if value != value else float(value)


def launched(operator: str, *kernels: str) -> str:
    """An operator that launches these kernels, 10 µs each, one 3 µs after the other begins."""
    lines = [f"1 op {operator}@0+100"]
    for number, name in enumerate(kernels, 1):
        lines += [
            f"1 call cudaLaunchKernel@{3 * number}+2 c{number}",
            f"gpu 0:7 kernel {name}@{100 + 20 * number}+10 c{number}",
        ]
    return "\n".join(lines)


def test_by_name() -> None:
    assert eligibility(launched("aten::mm", USED)) == {"aten::mm": (YES, 1, 1)}
    assert eligibility(launched("aten::mm", NOT_USED)) == {"aten::mm": (YES, 0, 0)}
    assert eligibility(launched("aten::relu", NOT_USED)) == {"aten::relu": (NO, 0, 0)}
    assert eligibility(launched("aten::relu")) == {"aten::relu": (NO, None, None)}


def test_by_a_kernel_that_uses_them() -> None:
    assert eligibility(launched("aten::new_operator", USED)) == {"aten::new_operator": (YES, 1, 1)}
    assert eligibility(launched("MyFunction", USED, NOT_USED)) == {"MyFunction": (YES, 0.5, 0.5)}


def test_operators_of_others_are_judged_by_their_kernels() -> None:
    assert eligibility(launched("MyFunction", NOT_USED)) == {"MyFunction": (NO, 0, 0)}
    assert eligibility(launched("MyFunction", NOT_TOLD)) == {"MyFunction": (UNKNOWN, None, None)}
    assert eligibility(launched("MyFunction")) == {"MyFunction": (UNKNOWN, None, None)}


def test_share_is_a_lower_bound_where_some_kernels_do_not_tell() -> None:
    assert eligibility(launched("aten::mm", USED, NOT_TOLD)) == {"aten::mm": (YES, 0.5, 0.5)}
    assert eligibility(launched("aten::mm", NOT_TOLD)) == {"aten::mm": (YES, None, None)}


def test_what_is_below_counts_for_the_operators_around() -> None:
    found = eligibility(
        "1 op aten::outer@0+200\n1 note region@0+150\n" + launched("aten::mm", USED)
    )
    assert found["aten::outer"] == (YES, None, 1)


def test_copies_are_not_kernel_time() -> None:
    found = eligibility(
        launched("aten::mm", USED)
        + """
        1 call cudaMemcpyAsync@50+2 c9
        gpu 0:7 copy Memcpy HtoD@300+500 c9
    """
    )
    assert found == {"aten::mm": (YES, 1, 1)}


def test_share_of_eligible_operators_counts_the_lowest_only() -> None:
    facts = facts_listed(
        "1 op aten::linear@0+200\n"
        + launched("aten::addmm", USED, NOT_USED)
        + """
        1 call cudaLaunchKernel@150+2 c8
        gpu 0:7 kernel k@500+20 c8
        1 op aten::relu@300+10
        1 call cudaLaunchKernel@302+2 c9
        gpu 0:7 kernel k@600+40 c9
    """
    )
    # aten::addmm's 20 µs of 80; aten::linear has an eligible operator below, so that its own 20 µs
    # do not count.
    assert facts.summary.matrix_eligible_share == 0.25
