"""The findings in words: the vendor's words, whole sentences, and nothing that a trace's names
could break.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.efficiency.cases import H100, inputs
from tests.analysis.findings.cases import NVIDIA, entries_of, launched, span, steps
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.findings.not_judged import UNSURE
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.views.findings.payload import Source, costly, findings_payload
from torch_tb_profiler.views.findings.wire import FindingsPayload
from torch_tb_profiler.views.wire import to_json

SYNCHRONISED = """
    main   (ProfilerStep#1                              )(ProfilerStep#2                              )
    main    <L #1>[item             ]      <L #2>         <L #3>
    main           <sync           >
    gpu 7     {k #1                }           {l #2    }{k #3                                            }
    """


def page(entries: list[Event], **header: Any) -> FindingsPayload:
    trace = trace_of(entries, **header)
    facts = derive(trace)
    found = findings_payload(Source(trace, facts, build_insight(trace, facts), "w0", "1"))
    assert msgspec.json.decode(to_json(found), type=FindingsPayload, strict=True) == found
    for item in found.findings:
        for text in (item.title, item.sentence, item.attempt, item.caveat):
            assert "{" not in text
            assert text[0].isupper() or text[0].isdigit()
    return found


def test_a_sentence_says_what_and_how_much() -> None:
    found = page(entries_of(SYNCHRONISED), **NVIDIA)
    one = next(item for item in found.findings if item.rule == "host_synchronisation")
    assert one.title == "The host waits for the GPU, then the GPU for the host"
    assert (
        one.sentence
        == "Synchronising calls (1 per step) keep the host from launching ahead; without these"
        " waits the step is 110 µs (23.9 %) shorter. Most of them are in aten::_local_scalar_dense (once)."
    )
    assert (one.certainty, one.change) == ("likely", "no-sync")
    assert [(e.label, e.worker, e.span, e.start_ns, e.dur_ns) for e in one.evidence] == [
        ("cudaStreamSynchronize in aten::_local_scalar_dense", "w0", "1", 80_000, 170_000),
    ]
    assert {(n.label, n.unit) for n in one.numbers} == {
        ("Synchronising calls", "count"),
        ("Time the host is blocked in them", "ns"),
    }
    assert not found.healthy
    assert found.headline == "Synchronising with the GPU costs 110 µs of the 460 µs step."
    assert found.detail == (
        "It is in aten::_local_scalar_dense (once). Without these waits the step would take about 350 µs."
    )


def test_other_vendors_have_their_own_words() -> None:
    instinct = {
        "deviceProperties": [
            {"id": 0, "name": "AMD Instinct MI300X", "computeMajor": 9, "computeMinor": 4}
        ]
    }
    entries = [*steps((0, 10)), *launched("Cijk_Ailk_Bljk_SB_MT64x64x16_SN", 1, 1, 1, 990)]
    entries += launched("k", 2, 4, 991, 9)
    assert page(entries, **instinct).findings[0].title == "Matrix Cores are not used"
    entries[1]["name"] = "hipLaunchKernel"
    assert "Tensor" not in json.dumps(msgspec.to_builtins(page(entries, **instinct)))


def _trained(**shapes: Any) -> list[Event]:
    """A step of training that one product fills."""
    kernel = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"
    return [
        *steps((0, 20)),
        span("cpu_op", "aten::mm", 0.5, 6, **shapes),
        *launched(kernel, 1, 1, 1, 390),
        span("user_annotation", "Optimizer.step#SGD.step", 8, 10),
        *launched("void at::native::multi_tensor_apply_kernel<4>", 2, 10, 391, 5),
    ]


def test_a_healthy_trace_says_so() -> None:
    found = page(_trained(**inputs((8192, 4096), (4096, 4096))), **H100)
    assert found.healthy
    assert (found.headline, found.detail) == ("aten::mm takes 390 µs of the 396 µs step.", "")
    assert UNSURE["one_step"] in found.unsure


def test_what_could_not_be_compared_is_not_called_healthy() -> None:
    found = page(_trained(), **H100)
    assert not found.healthy
    assert found.detail == "None of the kernel time could be compared with the peaks of the GPU."


def test_what_was_not_recorded_is_not_called_healthy() -> None:
    found = page(
        [*steps((0, 1000)), span("cuda_runtime", "cudaLaunchKernel", 10, 5, correlation=7)]
    )
    assert not found.healthy
    assert not found.headline.startswith("Healthy")
    assert any("runtime" in text for text in found.unsure)
    empty = page([])
    assert (empty.healthy, empty.step_ns, empty.findings) == (False, None, [])
    assert empty.headline == "The trace holds no steps to analyse."


def test_mostly_the_profilers_own_doing_is_not_called_healthy() -> None:
    entries = [*steps((0, 1000)), *launched("k", 1, 1, 1, 50), *launched("l", 2, 4, 51, 50)]
    found = page(entries, **NVIDIA)
    assert [item.rule for item in found.findings] == ["silent_end"]
    assert costly(found.findings) == []
    assert not found.healthy
    assert found.headline == "Nothing was recorded for the last 899 µs of the 1.00 ms step."


def _captured(kernels: int) -> list[Event]:
    """A host that records kernels into a graph, and one that runs."""
    calls = [span("cuda_runtime", "cudaLaunchKernel", 20 + 10 * n, 5) for n in range(kernels)]
    return [
        *steps((0, 1000)),
        span("cuda_runtime", "cudaStreamBeginCapture", 10, 5),
        *calls,
        span("cuda_runtime", "cudaStreamEndCapture", 900, 5),
        *launched("k", 999, 920, 925, 20),
    ]


def test_a_graph_capture_is_recognised() -> None:
    found = page(_captured(20), **NVIDIA)
    assert not found.healthy
    assert costly(found.findings) == []
    assert found.headline.startswith("A graph is captured: the host works for ")
    assert found.detail.startswith(
        "Its kernels are recorded and do not run, so an idle GPU is expected."
    )


def test_the_edge_of_a_recording_is_no_loss() -> None:
    """A kernel that was launched at once began 600 µs later: the device was busy with what is not in the trace."""
    found = page(
        [
            *launched("first", 9, 1, 600, 38),
            span("cuda_runtime", "cudaMemcpyWithStream", 5, 646, correlation=1),
            span("gpu_memcpy", "Memcpy DtoD", 640, 10, 7, correlation=1),
            *launched("k", 2, 652, 654, 400),
            *launched("l", 3, 656, 1054, 10),
        ],
        **NVIDIA,
    )
    # The copy itself is a cost of its own.
    assert [item.rule for item in costly(found.findings)] in ([], ["tensor_copies"])
    assert found.detail.startswith("The GPU is busy.")
    assert "before the recording" not in found.headline


@pytest.mark.parametrize(
    "name", ["aten::{gain}", "{0}", "{", "}{", "%s", "a" * 5000, "<script>", "\x1b[0m"]
)
def test_names_of_a_trace_are_only_texts(name: str) -> None:
    entries = entries_of(SYNCHRONISED)
    for entry in entries:
        if entry["name"] == "aten::_local_scalar_dense":
            entry["name"] = name
    trace = trace_of(entries, **NVIDIA)
    facts = derive(trace)
    found = findings_payload(Source(trace, facts, build_insight(trace, facts), "w0", "1"))
    one = next(item for item in found.findings if item.rule == "host_synchronisation")
    assert name[:100] in one.sentence
    assert to_json(found)
    assert len(one.evidence[0].label) <= 150
    assert len(one.sentence) < 500


@examples(4)
@given(
    st.sampled_from(
        ("execute_context_0(0)_generation_4(4)", "step[DECODE bs=4]", "decode[bs=4 tok=4]")
    ),
    st.lists(
        st.sampled_from(("aten::mm", "aten::nonzero", "aten::index", "aten::item", "aten::relu")),
        min_size=1,
        max_size=6,
    ),
    st.integers(3, 8),
    st.integers(100, 2_000),
)
def test_a_server_on_the_cpu_hears_nothing_of_an_accelerator(
    name: str, operators: list[str], count: int, lasts: int
) -> None:
    entries, length = [], len(operators) * lasts + 10
    for n in range(count):
        entries.append(span("user_annotation", name, length * n, length - 2))
        entries += [
            span("cpu_op", operator, length * n + 1 + at * lasts, lasts - 1)
            for at, operator in enumerate(operators)
        ]
    found = page(entries)
    told = " ".join((found.headline, found.detail, *(item.sentence for item in found.findings)))
    assert not re.search(r"accelerator|GPU|device", told)
    assert found.headline.startswith("A decode takes ")
    computes = re.search(r"CPU compute takes ([\d.]+) %", found.detail)
    assert computes is not None
    assert float(computes[1]) == pytest.approx(100 * len(operators) * (lasts - 1) / length, abs=3)
