"""Recordings of unitrace, rocprof, XLA and IBM's AIU, and of writers that nobody knows."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.reading import names, read
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.device_causes import causes
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import TextInMemory, open_text
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.views.words.texts import missing
from torch_tb_profiler.views.words.vocabulary import vocabulary

Event = dict[str, Any]


def named(what: str, pid: int, name: str, tid: int = 0, key: str = "name") -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {key: name}}


def span(pid: int, tid: int, name: str, ts: float, dur: float, cat: str = "", **args: Any) -> Event:
    event = {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": ts, "dur": dur, "args": args}
    return event | ({"cat": cat} if cat else {})


def arrow(cat: str, number: int, begin: Event, end: Event, closing: str = "t") -> list[Event]:
    both = {"cat": cat, "name": "dep", "id": number}
    return [
        {"ph": ph, **both, **{key: event[key] for key in ("pid", "tid", "ts")}}
        for ph, event in (("s", begin), (closing, end))
    ]


def of(*events: Any, **settings: Any) -> Trace:
    flat = [e for event in events for e in (event if isinstance(event, list) else [event])]
    return read_trace(
        TextInMemory(json.dumps({"traceEvents": flat}).encode()), Settings(**settings)
    )


def work(trace: Trace) -> Counter[tuple[str, str, int]]:
    """Name, role and duration in µs of device work."""
    spans, texts = trace["spans"], names(trace)
    rows = np.flatnonzero(np.isin(spans["role"], DEVICE_ROLES)).tolist()
    return Counter(
        (texts[r], Role(spans["role"][r]).name, int(spans["dur"][r]) // 1000) for r in rows
    )


def launched(trace: Trace) -> list[str]:
    """The names of the launches of device work."""
    tree = call_tree(trace)
    launch = causes(trace, tree, tree.names).launch
    return [names(trace)[row] if row >= 0 else "" for row in launch.tolist()]


LAUNCH = "zeCommandListAppendLaunchKernel"


@given(
    rank=st.sampled_from(("", "RANK 0 ", "RANK 11 ")),
    name=st.sampled_from(("gemm", "gemm<int[4], {2}>", "a[b]", "k, with comma")),
    geometry=st.sampled_from(("SIMD32 {64; 1; 2} {256; 1; 1}", "SIMD_ANY {64;1;2} {256;1;1}")),
    tile=st.sampled_from(("", "Tile #1: ")),
    shuffled=st.randoms(use_true_random=False),
)
def test_unitrace(rank: str, name: str, geometry: str, tile: str, shuffled: random.Random) -> None:
    device = f"{rank}DEVICE<n1>[Max 1550] 0:3a:0:0 #2.1"
    events = [named("process_name", 7, f"{rank}HOST<n1>"), named("process_name", 80001, device)]
    for number in range(3):
        begin = 1.7e15 + 1000 * number
        call = span(7, 7, LAUNCH, begin, 8, "cpu_op")
        kernel = span(
            80001, 9, f"{tile}{name}[{geometry}]", begin + 90, 200, "gpu_op", id=str(number)
        )
        events += [call, kernel, *arrow(f"Flow_H2D_{number}_0", number, call, kernel)]
    copied = "zeCommandListAppendMemoryCopy(M2D)[4096]"
    events.append(span(80001, 9, copied, 1.7e15 + 4000, 5, "gpu_op", id="9"))
    events.append(span(80001, 9, "zeCommandListAppendBarrier", 1.7e15 + 4010, 5, "gpu_op", id="9"))
    shuffled.shuffle(events)
    trace = of(events)
    assert work(trace) == {
        (name, "KERNEL", 200): 3,
        ("zeCommandListAppendMemoryCopy(M2D)", "MEMCPY", 5): 1,
    }
    assert sorted(launched(trace)) == ["", LAUNCH, LAUNCH, LAUNCH]
    args = trace["device_args"]
    assert set(args["device"].tolist()) == {2}
    assert trace.strings.many(args["grid"]) == ["[64,1,2]"] * 3 + [""]
    assert trace.strings.many(args["block"]) == ["[256,1,1]"] * 3 + [""]
    assert args["bytes"].tolist() == [-1, -1, -1, 4096]
    facts = derive(trace)
    assert (facts.summary.vendor, facts.summary.writer) == ("intel", Writer.OTHER)
    assert facts["operators"].n == 0


@given(gpus=st.integers(1, 3), shuffled=st.randoms(use_true_random=False))
def test_rocprof(gpus: int, shuffled: random.Random) -> None:
    events = [named("process_name", 2, "CPU HIP API"), named("process_name", 0, "COPY")]
    events += [named("process_name", 6 + gpu, f"GPU{gpu}") for gpu in range(gpus)]
    for number in range(3):
        begin, gpu = 1000 + 1000 * number, number % gpus
        call = span(2, 77, "hipLaunchKernel", begin, 10, BeginNs="1")
        kernel = span(6 + gpu, 1, "vec_add(float*)", begin + 100, 200, **{"stream-id": "5"})
        events += [call, kernel, *arrow("DataFlow", number, call, kernel)]
    events.append(span(0, 0, "CopyHostToDevice", 5000, 50))
    events.append(span(0, 0, "hcMemcpy", 5100, 50))
    shuffled.shuffle(events)
    trace = of(events)
    assert work(trace) == {
        ("vec_add(float*)", "KERNEL", 200): 3,
        ("CopyHostToDevice", "MEMCPY", 50): 1,
        ("hcMemcpy", "MEMCPY", 50): 1,
    }
    assert launched(trace)[:3] == ["hipLaunchKernel"] * 3
    facts = derive(trace)
    assert vocabulary(facts).device == "GPU"
    kernels = trace["device_args"]
    assert kernels["device"].tolist()[:3] == [n % gpus for n in range(3)]
    assert kernels["stream"].tolist()[:3] == [5] * 3


def test_xla_counts_operations_once() -> None:
    device = [named("process_name", 1, "/device:TPU:0"), named("process_name", 9, "/host:CPU")]
    threads = ("Steps", "XLA Modules", "XLA Ops", "Framework Name Scope")
    device += [named("thread_name", 1, name, tid=tid) for tid, name in enumerate(threads)]
    events = [span(1, tid, threads[tid], 1000, 400) for tid in (0, 1, 3)]
    events += [span(1, 2, f"fusion.{n}", 1000 + 200 * n, 200) for n in range(2)]
    trace = of(device, events, span(9, 1, "PjitFunction(f)", 900, 50))
    assert work(trace) == {("fusion.0", "KERNEL", 200): 1, ("fusion.1", "KERNEL", 200): 1}
    assert not trace.defects.as_dict()


AIU = (
    ("add_11 Cmpt Prep", 10, Role.SYNC),
    ("add_11 Cmpt Exec", 20, Role.KERNEL),
    ("SenRdmaSend_82 [sync=AllReduce_1] DmaO", 30, Role.KERNEL),
    ("inputs DmaI", 40, Role.MEMCPY),
    ("ScheduleCompute", 50, Role.RUNTIME),
)


@given(
    st.lists(st.sampled_from(AIU), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_aiu_begin_and_end_events(
    drawn: list[tuple[str, int, Role]], shuffled: random.Random, bare: bool
) -> None:
    """Events of one thread may overlap: an end ends the begin of its name."""
    chosen = [("mm Cmpt Exec", 5, Role.KERNEL), *drawn]
    marks: list[Event] = []
    for number, (name, dur, _) in enumerate(chosen):
        begin: Event = {
            "pid": 0,
            "tid": 15514734831341844875,
            "name": f"{number} {name}",
            "ph": "B",
        }
        marks += [{**begin, "ts": 7.0 * number}, {**begin, "ph": "E", "ts": 7.0 * number + dur}]
        if name == "ScheduleCompute":
            marks[-2]["name"] = marks[-1]["name"] = name
    shuffled.shuffle(marks)
    marks.sort(key=lambda mark: mark["ts"])
    trace = read(json.dumps(marks if bare else {"traceEvents": marks}))
    spans, texts = trace["spans"], names(trace)
    if sum(name == "ScheduleCompute" for name, *_ in chosen) < 2:
        expected = {
            (name if name == "ScheduleCompute" else f"{n} {name}"): (dur * 1000, role)
            for n, (name, dur, role) in enumerate(chosen)
        }
        found = {texts[r]: (int(spans["dur"][r]), Role(spans["role"][r])) for r in range(spans.n)}
        assert found == expected or any("SenRdma" in name for name in expected)
    assert int(spans["dur"].sum()) == sum(dur for _, dur, _ in chosen) * 1000
    assert vocabulary(derive(trace)).device == "AIU"


@pytest.mark.traces
@pytest.mark.parametrize("name", ["allreduce_tp4", "sample_flex_3062_job_4"])
def test_aiu_durations_are_those_counted_by_hand(name: str, real_traces: Path) -> None:
    path = real_traces / "ibm_aiu" / f"{name}.json"
    counted: Counter[tuple[int, str]] = Counter()
    for event in json.loads(path.read_text()):
        sign = {"B": -1, "E": 1}[event["ph"]]
        counted[event["pid"], event["name"]] += sign * round(event["ts"] * 1000)
    with open_text(Place(str(path))) as stream:
        trace = read_trace(stream, Settings())
    spans, texts, pids = trace["spans"], names(trace), trace["tracks"]["pid"]
    found: Counter[tuple[int, str]] = Counter()
    for row in range(spans.n):
        pid = int(trace.strings[int(pids[spans["track"][row]])])
        found[pid, texts[row]] += int(spans["dur"][row])
    assert found == counted
    roles: dict[str, set[Role]] = {name.rsplit(" ", 1)[-1]: set() for _, name in found}
    for row in range(spans.n):
        roles[texts[row].rsplit(" ", 1)[-1]].add(Role(spans["role"][row]))
    assert roles.get("Exec", {Role.KERNEL}) == {Role.KERNEL}
    assert not trace.defects.as_dict()


def test_an_event_without_a_category_is_work_where_its_process_is_an_accelerator() -> None:
    for name in ("GPU 3", "NPU 3", "Card: NPU 3", "My accelerator 3", "TPU3"):
        trace = of(named("process_name", 44, name), span(44, 1, "k", 10, 20))
        assert work(trace) == {("k", "KERNEL", 20): 1}
        assert trace["device_args"]["device"].tolist() == [3]
    for name in ("python", "CPU", "GPU memory usage", "host of GPU 3", "GPU counters"):
        trace = of(named("process_name", 44, name), span(44, 1, "k", 10, 20))
        assert not work(trace)
        assert trace.defects.as_dict() == {d.NO_CATEGORY: 1}


_OF_AN_ACCELERATOR = re.compile(r"PU|MTIA|AIU|MLU|GCU|accelerator", re.IGNORECASE)
PROCESS = (
    st.text(min_size=1, max_size=12)
    .filter(lambda text: not _OF_AN_ACCELERATOR.search(text))
    .map(lambda text: f"chip {text} 1")
)
"""Names that say nothing of what runs there."""


@given(PROCESS, st.integers(1, 5), st.integers(0, 5))
def test_what_has_no_role_is_named_and_the_setting_gives_it_one(
    process: str, bare: int, other: int
) -> None:
    events = [named("process_name", 5, process)]
    events += [span(5, 1, "k", 100 * n, 50) for n in range(bare)]
    events += [span(6, 1, "k", 100 * n, 50, "chip_op") for n in range(other)]
    trace = of(events)
    facts = derive(trace)
    assert facts.summary.writer == Writer.OTHER
    (device,) = missing(absent(facts), ("device",))
    assert str(bare) in device.what
    assert ("chip_op" in device.what) == (other > 0)
    assert "TORCH_TB_PROFILER_CATEGORIES" in device.why
    assert "TORCH_TB_PROFILER_CATEGORIES" in device.call
    setting = next(key.setting for key in absent(facts) if hasattr(key, "setting"))
    mapped = of(events, categories=setting)
    assert sum(work(mapped).values()) == bare + other
    assert not mapped.defects.as_dict()
