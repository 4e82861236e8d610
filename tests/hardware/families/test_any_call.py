"""Every model answers any call sensibly or with None, and every real call with shapes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.loading import load
from torch_tb_profiler.hardware.call import read_call
from torch_tb_profiler.hardware.work import modelled, work_of
from torch_tb_profiler.runs.loading import insight_of
from torch_tb_profiler.settings import Settings

NAMES = sorted(name.replace("*", "add_0") for name in modelled())
SHAPE = st.lists(st.integers(0, 9) | st.sampled_from([1 << 20, 1 << 40]), max_size=5)
DIMS = st.lists(SHAPE | st.lists(SHAPE, min_size=1, max_size=3), max_size=16)
TYPE = st.sampled_from(
    [
        "float",
        "c10::BFloat16",
        "c10::Float8_e4m3fn",
        "long int",
        "bool",
        "Scalar",
        "",
        "TensorList",
        "c10::complex<float>",
        "nonsense",
    ]
)
VALUE = st.sampled_from(
    [
        "",
        "True",
        "False",
        "None",
        "0",
        "1",
        "-1",
        "2.",
        "15",
        "1099511627776",
        "[1, 1]",
        "[2]",
        "[-1, 0]",
        "[True, True, False]",
        "[]",
        "none",
        "nan",
        "[1e400]",
    ]
)
STEPS = (
    "",
    "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk16sqsq2sqsk16)",
    "execute_9_context_2(sq7sk9sqsq25sqsk31)_generation_2(sq2sk16sqsq2sqsk16)",
    "execute_9_context_2(sq7sk9sqsq25sqsk31)_generation_2(sq2sk0sqsq2sqsk99999999999999999)",
)


@examples(400)
@given(
    st.sampled_from(NAMES),
    DIMS,
    st.lists(TYPE, max_size=16),
    st.lists(VALUE, max_size=16),
    st.sampled_from(STEPS),
)
def test_an_answer_or_none(
    name: str, dims: list[object], types: list[str], values: list[str], step: str
) -> None:
    call = read_call(name, json.dumps(dims), json.dumps(types), "", json.dumps(values), step)
    assert call is not None
    work = work_of(call)
    if work is not None:
        assert 0 <= work.bias_flops <= work.flops
        assert work.bytes is None or work.bytes >= 0
        assert (work.unit == "") <= (work.flops == 0)
        assert json.dumps(work.parameters)


def test_every_model_has_a_family_and_a_source() -> None:
    families = Counter(model.family for model in modelled().values())
    assert len(families) == 22
    assert all(len(model.source) > 20 for model in modelled().values())


def test_every_family_is_defined(repository: Path) -> None:
    text = (repository / "docs" / "definitions.md").read_text(encoding="utf-8")
    assert all(f"### efficiency_model_{model.family} — " in text for model in modelled().values())


SHARES = {
    "h100_bert_small": 1.0,
    "h100_vit": 1.0,
    "h100_owlv2": 0.9999,
    "mi300_bert_small": 1.0,
    "mi300_torch_compile": 1.0,
    "mi250_minitoy": 1.0,
    "a100_triton": 1.0,
    "mi300_resnet_ddp": 0.97,
}
"""Of the device time of operators with recorded shapes, communication apart, the part that is
modelled.
"""


@pytest.mark.parametrize("run", sorted(SHARES))
def test_most_of_the_time_of_real_traces_is_modelled(real_traces: Path, run: str) -> None:
    shares = []
    for path in sorted((real_traces / run).iterdir()):
        opened = load(str(path), Settings())
        insight = insight_of(opened, Settings())
        workloads, steps = insight["workloads"], insight["workload_steps"]
        names = [insight.strings[int(number)] for number in workloads["name"]]
        of_compute = [
            dims >= 0 and "nccl" not in name and "param_comms" not in name
            for name, dims in zip(names, workloads["dims"], strict=True)
        ]
        rows = [
            (float(time), int(which))
            for time, which in zip(steps["counted_time"], steps["workload"], strict=True)
            if of_compute[int(which)]
        ]
        shares.append(
            sum(time for time, which in rows if workloads["flops"][which] >= 0)
            / sum(time for time, _ in rows)
        )
    assert min(shares) >= SHARES[run] - 1e-9
