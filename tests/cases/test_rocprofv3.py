"""rocprofv3's recordings: work of the device, the calls that launched it, and the same from both of its files."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import torch_tb_profiler
from tests.builders.rocprofv3 import (
    COPY_KINDS,
    Call,
    Copy,
    Kernel,
    Record,
    pftrace,
    results,
    rocpd,
    three_launches,
)
from tests.importers.reading import defects, names, read
from tests.loading import load
from torch_tb_profiler.runs.download import cut
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role


def in_json(*processes: dict[str, Any], **layout: Any) -> bytes:
    return json.dumps({"rocprofiler-sdk-tool": processes}, **layout).encode()


def work(trace: Trace) -> list[tuple[Any, ...]]:
    """Of all device work: name, role, begin after the first event, duration, device, stream, bytes, correlation."""
    spans, args = trace["spans"], trace["device_args"]
    named = names(trace)
    return [
        (
            named[span],
            Role(spans["role"][span]).name,
            int(spans["start"][span]),
            int(spans["dur"][span]),
            int(args["device"][row]),
            int(args["stream"][row]),
            int(args["bytes"][row]),
            int(spans["correlation"][span]),
        )
        for row, span in enumerate(args["span"].tolist())
    ]


def launches(trace: Trace) -> list[tuple[str, str, int]]:
    """Grid and block, as JSON, and registers of all kernels."""
    args = trace["device_args"]
    return [
        (trace.strings[int(grid)], trace.strings[int(block)], int(registers))
        for grid, block, registers, span in zip(
            args["grid"], args["block"], args["registers"], args["span"], strict=True
        )
        if trace["spans"]["role"][span] == Role.KERNEL
    ]


def _database(*recordings: tuple[list[Record], int]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.db"
        for number, (records, pid) in enumerate(recordings):
            rocpd(path, records, pid=pid, ending=f"_{number}a_ff")
        return path.read_bytes()


def host_threads(trace: Trace) -> list[int]:
    """The threads of calls and ranges, which are all of process 4242."""
    spans, tracks = trace["spans"], trace["tracks"]
    rows = [row for row, role in enumerate(spans["role"]) if role not in DEVICE_ROLES]
    assert {trace.strings[int(tracks["pid"][spans["track"][row]])] for row in rows} == {"4242"}
    return [int(trace.strings[int(tracks["tid"][spans["track"][row]])]) for row in rows]


FILES = {
    "db": _database((three_launches(), 4242)),
    "pftrace": pftrace(three_launches()),
    "by_queue": pftrace(three_launches(), by_queue=True),
    "old_pftrace": pftrace(three_launches(), agent=""),
    "json": in_json(results(three_launches())),
    "json_indented": in_json(results(three_launches(), first_kind=17), indent=4),
    "json_sorted": in_json(results(three_launches()), sort_keys=True),
}


@pytest.mark.parametrize("kind", FILES)
def test_three_kernels_and_three_copies(tmp_path: Path, kind: str) -> None:
    ending = "db" if kind == "db" else "json" if "json" in kind else "pftrace"
    path = tmp_path / f"4242_results.{ending}"
    path.write_bytes(FILES[kind])
    trace = torch_tb_profiler.open(path)
    (kernel,) = trace.kernels().to_dict("records")
    assert (kernel["calls"], kernel["total_ns"], kernel["mean_ns"]) == (3, 600_000, 200_000)
    stored = trace.trace
    stream = 1 if kind == "by_queue" else 0
    copy_stream = -1 if kind == "by_queue" else 0
    assert work(stored) == [
        row
        for k in range(3)
        for row in (
            (kernel["name"], "KERNEL", k * 10**6 + 100_000, 200_000, 1, stream, -1, k + 1),
            (COPY_KINDS[2], "MEMCPY", k * 10**6 + 400_000, 50_000, 1, copy_stream, 4096, 100 + k),
        )
    ]
    assert launches(stored) == [("[2,1,1]", "[256,1,1]", 32)] * 3
    launched = stored["spans"]["role"] == Role.RUNTIME
    assert int(launched.sum()) == 3
    links = trace.facts.tables["span_links"]["launch"]
    kernels = stored["spans"]["role"] == Role.KERNEL
    assert [names(stored)[row] for row in links[kernels].tolist()] == ["hipLaunchKernel"] * 3
    assert defects(stored) == {}


@st.composite
def drawn_records(draw: st.DrawFn, latest: int = 10**15) -> list[Record]:
    """Launches, kernels and copies of some agents and streams, none at one place at the same time."""
    found: list[Record] = []
    at = draw(st.integers(1, latest))
    for number in range(draw(st.integers(1, 12))):
        agent, stream = draw(st.integers(1, 3)), draw(st.integers(0, 2))
        sizes = st.tuples(*[st.integers(1, 4)] * 3)
        name = draw(st.sampled_from(["gemm", "void k<float, 2>(float*)", "é {", 'a "b"']))
        length = draw(st.integers(1, 10**6))
        category = draw(st.sampled_from(["hip_api", "hsa_api", "rccl_api", "marker_api"]))
        thread = draw(st.sampled_from([4242, 4243]))
        found.append(Call(name, at, length, 3 * number + 1, category, thread))
        found.append(
            draw(
                st.one_of(
                    st.builds(
                        Kernel,
                        st.just(name),
                        st.just(at + 2 * length),
                        st.just(length),
                        st.just(3 * number + 1),
                        st.just(agent),
                        st.just(stream),
                        st.integers(1, 4),
                        sizes,
                        sizes,
                    ),
                    st.builds(
                        Copy,
                        st.just(at + 2 * length),
                        st.just(length),
                        st.just(3 * number + 2),
                        st.sampled_from([2, 3, 4]),
                        st.integers(0, 1 << 40),
                        st.just(agent),
                        st.just(stream),
                    ),
                )
            )
        )
        at += 4 * length
    return found


@given(drawn_records(), st.integers(1, 30), st.sampled_from([None, 1, 4]), st.booleans())
def test_both_files_say_the_same(
    records: list[Record], first_kind: int, indent: int | None, sort_keys: bool
) -> None:
    written = read(
        in_json(results(records, first_kind=first_kind), indent=indent, sort_keys=sort_keys)
    )
    packed = read(pftrace(records))
    stored = read(_database((records, 4242)))
    assert work(written) == work(packed) == work(stored)
    assert launches(written) == launches(stored)
    expected = [r for r in records if not isinstance(r, Call)]
    assert [(row[3], row[4], row[5], row[7]) for row in work(written)] == [
        (r.length, r.agent, r.stream, r.correlation) for r in expected
    ]
    kernels = [r for r in expected if isinstance(r, Kernel)]
    assert [(json.loads(grid), json.loads(block)) for grid, block, _ in launches(written)] == [
        (list(r.groups), list(r.size)) for r in kernels
    ]
    for trace in (written, packed, stored):
        calls = [
            (name, Role(role))
            for name, role in zip(names(trace), trace["spans"]["role"], strict=True)
            if role not in DEVICE_ROLES
        ]
        assert host_threads(trace) == [r.thread for r in records if isinstance(r, Call)]
        assert calls == [
            (r.name, Role.ANNOTATION if r.category == "marker_api" else Role.RUNTIME)
            for r in records
            if isinstance(r, Call)
        ]
        assert defects(trace) == {}


@given(drawn_records(), st.floats(0, 1), st.integers(1, 400))
def test_what_comes_before_the_end_of_a_truncated_file_is_used(
    records: list[Record], share: float, piece: int
) -> None:
    text = in_json(results(records))
    whole = work(read(text))
    begin = text.index(b'"kernel_dispatch"')
    trace = read(text[: begin + int(share * (len(text) - begin - 4))], piece=piece)
    rows = [row[2:4] for row in work(trace)]
    assert len(rows) <= len(whole)
    assert defects(trace)["truncated_file"] == 1


@given(drawn_records(10**12), drawn_records(10**12))
def test_processes_of_one_file_stay_apart(one: list[Record], other: list[Record]) -> None:
    for file in (
        in_json(results(one, pid=7), results(other, pid=8)),
        _database((one, 7), (other, 8)),
    ):
        _expect_apart(read(file), one, other)


def _expect_apart(trace: Trace, one: list[Record], other: list[Record]) -> None:
    spans = trace["spans"]
    on_device = [role in DEVICE_ROLES for role in spans["role"].tolist()]
    assert sum(on_device) == len([r for r in (*one, *other) if not isinstance(r, Call)])
    correlations = {
        int(number)
        for number, is_work in zip(spans["correlation"], on_device, strict=True)
        if is_work
    }
    assert len(correlations) == sum(on_device)


def test_names_are_numbers_where_nothing_describes_them() -> None:
    trace = read(in_json(results(three_launches(), described=False)))
    assert sorted(set(names(trace))) == [
        "hip_api operation 0",
        "kernel 1",
        "memory_copy operation 2",
    ]
    assert len(work(trace)) == 6


def test_without_streams_work_is_on_its_queue() -> None:
    trace = read(in_json(results(three_launches(), streams=False)))
    assert {row[5] for row in work(trace) if row[1] == "KERNEL"} == {1}


def test_damaged_records_cost_only_themselves() -> None:
    process = results(three_launches())
    process["buffer_records"]["kernel_dispatch"][1]["start_timestamp"] = "soon"
    process["buffer_records"]["kernel_dispatch"][2]["start_timestamp"] = 0
    process["buffer_records"]["memory_copy"].append(17)
    process["buffer_records"]["pc_sample_host_trap"] = [{}, {}]
    process["callback_records"] = {"counter_collection": [{"a": [1]}, {}, {}]}
    trace = read(in_json(process))
    assert [row[1] for row in work(trace)] == ["KERNEL", "MEMCPY", "MEMCPY", "MEMCPY"]
    assert defects(trace) == {
        "unparsable_event": 2,
        "missing_timestamp": 1,
        "rows_not_read": 2,
        "metrics_not_read": 3,
    }


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["pftrace", "json", "json_indented"])
def test_the_text_of_every_event_is_read_again(tmp_path: Path, kind: str, packed: bool) -> None:
    path = tmp_path / ("4242_results.json" if "json" in kind else "4242_results.pftrace")
    path.write_bytes(gzip.compress(FILES[kind]) if packed else FILES[kind])
    opened = load(str(path), Settings(use_cache=False))
    spans, texts = opened.trace["spans"], EventTexts()
    for row in range(spans.n):
        found = json.loads(texts.read(opened, row))
        assert found["name"] == opened.trace.strings[int(spans["name"][row])]
        assert found["args"]["correlation"] == int(spans["correlation"][row])
    window = json.loads(b"".join(cut(opened, 0, 1_500_000, Settings())))
    assert sorted(e["name"] for e in window["traceEvents"] if e["ph"] == "X") == sorted(
        names(opened.trace)[:6]
    )


def test_kernels_whose_counters_alone_were_collected() -> None:
    process = results(three_launches())
    dispatches = process["buffer_records"].pop("kernel_dispatch")
    process["callback_records"] = {
        "counter_collection": [
            {"thread_id": 7, "dispatch_data": row, "records": [{"value": 1.0}]}
            for row in (*dispatches, dispatches[0])
        ]
    }
    trace = read(in_json(process))
    assert [row[3] for row in work(trace) if row[1] == "KERNEL"] == [200_000] * 3
    assert launches(trace) == [("[2,1,1]", "[256,1,1]", 32)] * 3
    assert defects(trace) == {"metrics_not_read": 4}
