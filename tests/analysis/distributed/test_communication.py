"""Collectives of a worker: one row each, whatever tells of it, with kind, message and exposed time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import public
from tests.analysis.figures import opened, trace_files
from tests.builders.drawn import draw
from tests.builders.listed import trace_listed
from tests.conftest import REAL_TRACES
from tests.examples import examples
from torch_tb_profiler.analysis.distributed.communication import build_communication
from torch_tb_profiler.analysis.distributed.message import _tensors, kind_word, peer_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.hardware.element_types import element_bytes
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder, StringTable

TEXTS = ("kind", "library", "group", "dtype")


def built(trace: Trace, facts: Facts | None = None) -> tuple[Table, Table, StringTable]:
    texts = StringBuilder()
    tables, _ = build_communication(trace, facts or derive(trace), {}, texts)
    return tables["collectives"], tables["communication_steps"], texts.table()


def rows(trace: Trace) -> list[dict[str, Any]]:
    """Rows with texts; times in µs."""
    table, _, texts = built(trace)
    found = []
    for row in range(table.n):
        values: dict[str, Any] = {name: int(table[name][row]) for name in table}
        found.append(
            {
                **values,
                **{name: texts[values[name]] for name in TEXTS},
                "exposed": values["exposed"] / 1000,
            }
        )
    return found


ARGUMENTS = (
    '{"Collective name": "allreduce", "In msg nelems": 8, "Out msg nelems": 8, "Group size": 4,'
    ' "dtype": "BFloat16", "Process Group Name": "7", "Seq": 3}'
)
NCCL = f"""
    1       op     c10d::allreduce_@100+50 e1
    1       op     record_param_comms@101+48 e2 {ARGUMENTS}
    1       note   nccl:all_reduce@102+40 e3
    1       call   cudaLaunchKernelExC@110+10 e3 c9
    gpu 0:7 kernel gemm@120+60 c8
    gpu 0:20 kernel ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)@150+100 e3 c9 {ARGUMENTS}
    gpu 0:20 shadow nccl:all_reduce@150+100 e3
"""


def test_operator_arguments_region_kernel_and_shadow_are_one() -> None:
    trace = trace_listed(NCCL)
    (row,) = rows(trace)
    assert trace["spans"]["role"][row["event"]] == Role.KERNEL
    assert trace.strings[int(trace["spans"]["name"][row["host"]])] == "nccl:all_reduce"
    assert (row["kind"], row["library"], row["group"], row["group_size"], row["dtype"]) == (
        "all_reduce",
        "nccl",
        "7",
        4,
        "BFloat16",
    )
    assert (row["bytes"], row["sequence"], row["peer"], row["exposed"]) == (16, 3, -1, 100 - 30)


def test_the_four_parts_of_the_step() -> None:
    _, steps, _ = built(trace_listed(NCCL))
    # gemm 120 to 180, collective 150 to 250, step 100 to 250
    assert [
        int(steps[name][0]) // 1000 for name in ("computation", "overlap", "communication", "other")
    ] == [30, 30, 70, 20]


def test_gloo_beside_kernels_of_another_library() -> None:
    found = rows(
        trace_listed(
            NCCL
            + '\n 9 note gloo:broadcast@300+20 e7 {"Input Dims": [[2, 3]], "Input type": ["float"]}'
        )
    )
    assert [(row["kind"], row["library"], row["bytes"]) for row in found] == [
        ("all_reduce", "nccl", 16),
        ("broadcast", "gloo", 24),
    ]


def test_the_operator_that_issued_a_region_of_another_thread() -> None:
    trace = trace_listed("""
        1 op   c10d::allreduce_@0+5 e1
        2 note gloo:all_reduce@3+20 e2
        1 op   c10d::allreduce_@10+5 e3
        2 note gloo:all_reduce@23+20 e4
    """)
    found = rows(trace)
    assert [int(trace["spans"]["start"][row["host"]]) // 1000 for row in found] == [0, 10]
    fewer = trace_listed(
        "1 op c10d::allreduce_@0+5 e1\n2 note gloo:all_reduce@3+20 e2\n2 note"
        " gloo:all_reduce@23+20 e4"
    )
    assert [row["host"] for row in rows(fewer)] == [-1, -1]


@pytest.mark.parametrize(
    ("text", "kind", "size"),
    [
        (
            '1 note gloo:all_reduce@0+9 {"Input Dims": [[2, 5]], "Input type": ["double"]}',
            "all_reduce",
            80,
        ),
        (
            '1 note gloo:all_reduce@0+9 {"Input Dims": [[]], "Input type": ["float"]}',
            "all_reduce",
            -1,
        ),
        (
            '1 note gloo:all_reduce@0+9 {"Input Dims": [[[2], [3]]], "Input type": ["TensorList"]}',
            "all_reduce",
            -1,
        ),
        (
            '1 note gloo:broadcast@0+9 {"Input Dims": [[4]], "Input type": ["c10::Half"]}',
            "broadcast",
            8,
        ),
        # A rank's part and nothing that says of how many.
        (
            '1 note gloo:all_gather@0+9 {"Input Dims": [[4]], "Input type": ["float"]}',
            "all_gather",
            -1,
        ),
        (
            (
                '1 op c10d::_allgather_base_@0+9 {"Input Dims": [[32], [4], []], "Input type":'
                ' ["float", "float", ""]}\n1 note nccl:_all_gather_base@1+7 {"Input Dims": [[4]],'
                ' "Input type": ["float"]}'
            ),
            "all_gather",
            128,
        ),
        (
            '1 note mpi:all_reduce@0+9 {"Input Dims": [["x"], 5], "Input type": "y"}',
            "all_reduce",
            -1,
        ),
    ],
)
def test_bytes_from_shapes(text: str, kind: str, size: int) -> None:
    (row,) = rows(trace_listed(text))
    assert (row["kind"], row["bytes"]) == (kind, size)


def test_the_only_group_of_the_header_is_everybodys() -> None:
    header = {
        "distributedInfo": {
            "backend": "gloo",
            "rank": 0,
            "world_size": 4,
            "pg_config": [{"pg_name": "0", "pg_size": 4, "ranks": [0, 1, 2, 3]}],
        }
    }
    (row,) = rows(
        trace_listed(
            '1 note gloo:all_gather@0+9 {"Input Dims": [[4]], "Input type": ["float"]}', **header
        )
    )
    assert (row["group"], row["group_size"], row["bytes"]) == ("0", 4, 64)


def test_sends_and_receives_name_the_other_rank() -> None:
    transfer = (
        '{{"Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "dtype": "Float",'
        ' "Src Rank": 0, "Dst Rank": 3}}'
    )
    found = rows(
        trace_listed(f"""
        gpu 0:7 kernel ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)@0+9 {transfer.format("send", 5, 0)}
        gpu 0:7 kernel ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)@10+9 {transfer.format("recv", 0, 6)}
    """)
    )
    assert [(row["kind"], row["peer"], row["bytes"]) for row in found] == [
        ("send", 3, 20),
        ("recv", 0, 24),
    ]
    found = rows(trace_listed("1 note gloo:send 2->1@0+9\n1 note gloo:recv 2<-3@20+9"))
    assert [(row["kind"], row["peer"]) for row in found] == [("send", 1), ("recv", 3)]


def test_what_is_no_collective_is_none() -> None:
    assert (
        rows(
            trace_listed(
                '1 op record_param_comms@0+9 {"Collective name": "wait", "Group size": 4}\n1 op'
                " aten::mm@10+5"
            )
        )
        == []
    )


def test_a_kernel_without_a_known_kind_keeps_its_name() -> None:
    (row,) = rows(
        trace_listed("gpu 0:7 kernel void deep_ep::internode::dispatch<false, 8>(int4*)@0+9")
    )
    assert (row["kind"], row["library"]) == ("dispatch", "deepep")


def test_the_only_backend_of_the_header_is_every_calls() -> None:
    text = (
        '1 op record_param_comms@0+9 {"Collective name": "allreduce", "In msg nelems": 2, "dtype":'
        ' "Float"}'
    )
    for backend, library in (("nccl", "nccl"), ("cpu:gloo,cuda:nccl", "")):
        (row,) = rows(trace_listed(text, distributedInfo={"backend": backend}))
        assert (row["kind"], row["library"], row["bytes"]) == ("all_reduce", library, 8)


def test_rccl_on_amd() -> None:
    (row,) = rows(
        draw(
            "gpu 7  {ncclDevKernel_Generic }",
            deviceProperties=[{"id": 0, "name": "AMD Instinct MI300X"}],
        )
    )
    assert row["library"] == "rccl"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("allreduce_", "all_reduce"),
        ("nccl:_all_gather_base", "all_gather"),
        ("hcom_allReduce_", "all_reduce"),
        ("ALLTOALL_BASE", "all_to_all"),
        ("reduce_scatter_tensor_coalesced", "reduce_scatter"),
        ("oneccl_allreduce", "all_reduce"),
        ("gloo:broadcast", "broadcast"),
        ("nccl:isend", "send"),
        ("nccl:recv 0<-1", "recv"),
        ("recv_any_source_", "recv"),
        ("nccl:coalesced", "coalesced"),
        ("ncclDevKernel_SendRecv", ""),
        ("wait", ""),
        ("", ""),
    ],
)
def test_kinds_in_any_spelling(text: str, kind: str) -> None:
    assert kind_word(text) == kind


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("c10::complex<float>", 8),
        ("ComplexDouble", 16),
        ("Float4_e2m1fn_x2", 1),
        ("unsigned char", 1),
        ("QInt32", 4),
        ("TensorList", None),
        ("", None),
    ],
)
def test_sizes_of_elements(name: str, size: int | None) -> None:
    assert element_bytes(name) == size


def test_peers_are_read_from_regions_only() -> None:
    assert (peer_of("nccl:send 0->12"), peer_of("nccl:all_reduce"), peer_of("send 1-2")) == (
        12,
        -1,
        -1,
    )


@pytest.mark.parametrize("path", public.asked(trace_files(REAL_TRACES)))
def test_real_traces_share_every_step_exactly(path: Path, real_traces: Path) -> None:
    trace, facts = opened(path)
    collectives, steps, _ = built(trace, facts)
    table = facts["steps"]
    parts = [steps[name] for name in ("computation", "overlap", "communication", "other")]
    assert (np.sum(parts, axis=0) == step_lengths(table)).all()
    assert all((part >= 0).all() for part in parts)
    if table["kernel"].any():
        assert (steps["computation"] + steps["overlap"] == table["kernel"]).all()
    assert (collectives["start"][1:] >= collectives["start"][:-1]).all()
    dur = collectives["end"] - collectives["start"]
    assert ((collectives["exposed"] >= 0) & (collectives["exposed"] <= dur)).all()
    kernels = facts["kernels"]["communication"][facts["kernel_steps"]["kernel"]] == 1
    on_device = trace["spans"]["role"][collectives["event"]] == Role.KERNEL
    assert int(on_device.sum()) == int(facts["kernel_steps"]["calls"][kernels].sum())
    assert int(dur[on_device].sum()) == int(facts["kernel_steps"]["total"][kernels].sum())


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("a100_nccl", {("all_reduce", "nccl", 8196000): 3, ("broadcast", "nccl", 424): 3}),
        ("mi300_resnet_ddp", {("all_reduce", "rccl", 17632384): 3, ("broadcast", "rccl", 160): 3}),
        (
            "b200_eager",
            {("all_gather", "nccl", 402176): 1, ("all_reduce", "symmetric memory", -1): 73},
        ),
        ("v100_memory_nccl", {("all_reduce", "nccl", -1): 2020}),
        (
            "ddp128_sampled",
            {("all_gather", "nccl", 1 << 30): 2, ("all_to_all", "nccl", 419430400): 2},
        ),
        ("cpu_only", {("all_reduce", "gloo", 321271 * 4): 5}),
    ],
)
def test_what_real_traces_moved(
    run: str, expected: dict[tuple[str, str, int], int], real_traces: Path
) -> None:
    trace, facts = opened(
        next(path for path in trace_files(real_traces) if path.parent.name == run)
    )
    table, _, texts = built(trace, facts)
    found: dict[tuple[str, str, int], int] = {}
    for row in range(table.n):
        key = (
            texts[int(table["kind"][row])],
            texts[int(table["library"][row])],
            int(table["bytes"][row]),
        )
        found[key] = found.get(key, 0) + 1
    assert expected.items() <= found.items()


@pytest.mark.parametrize(
    "dims",
    [
        "[" * 2000 + "]" * 2000,
        "[" * 900 + "]" * 900,
        "[[" + "9223372036854775807," * 60 + "2]]",
        "[[4611686018427387904]]",
        "[[-1]]",
        "[[1.5]]",
        '[["x"]]',
        "[[true]]",
        "[[[2], []]]",
        "{}",
        "7",
        "[[" + "1," * 99 + "1]]",
        "[[",
        "",
    ],
)
def test_shapes_that_nobody_wrote(dims: str) -> None:
    assert _tensors(dims, '["float"]') == []


@examples(60)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=12,
    ),
    st.sampled_from(["float", "x", ""]),
)
def test_any_shape_is_bytes_or_unknown(dims: object, dtype: str) -> None:
    found = _tensors(json.dumps(dims), json.dumps([dtype] * 3))
    assert all(count >= 0 and name == "float" for count, name in found)
