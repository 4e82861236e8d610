"""Annotations of inference servers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from tests.builders.server_annotations import FORMS, written_by_servers
from torch_tb_profiler.hardware.server_steps import (
    LONGEST,
    NO_REQUESTS,
    PHASES,
    Requests,
    server_step,
)


@pytest.mark.parametrize("form", FORMS)
def test_a_hundred_annotations_of_each_form_are_read(form: str) -> None:
    for said in written_by_servers(form, 100):
        found = server_step(said.text)
        assert found is not None, said.text
        told = (found.server, found.phase, astuple(found.context), astuple(found.generation))
        assert told == (said.server, said.phase, said.context, said.generation), said.text
        assert found.batch == said.batch, said.text


@pytest.mark.parametrize(
    ("text", "server", "phase"),
    [
        ("execute_model", "vLLM", "other"),
        ("execute_context_1(888_788544)_generation_0(0)", "vLLM", "prefill"),
        ("execute_context_1(8_64)_generation_2(2_2)", "vLLM", "mixed"),
        ("step[TARGET_VERIFY bs=4]", "SGLang", "decode"),
        ("step[VERIFY bs=4]", "SGLang", "decode"),
        ("step[DRAFT_EXTEND bs=4]", "SGLang", "draft"),
        ("step[SPLIT_PREFILL bs=1]", "SGLang", "prefill"),
        ("step[DUMMY_FIRST bs=1]", "SGLang", "other"),
        ("step[MIXED bs=1 c=1 g=0 c_sq=3 c_sk=3]", "SGLang", "prefill"),
        ("eager_decode[bs=3 tok=3 d=3]", "ATOM", "decode"),
        ("decode[bs=128 tok=384 p=2 d=126]", "ATOM", "mixed"),
        ("[Executor] _forward_step: 0 ctx reqs, 8 gen reqs", "TensorRT-LLM", "decode"),
        ("_forward_step: 2 ctx reqs, 0 gen reqs", "TensorRT-LLM", "prefill"),
        ("prefill", "", "prefill"),
        ("Decode 12", "", "decode"),
        ("verify #3", "", "decode"),
        ("propose_draft_token_ids", "", "draft"),
        ("gpu_model_runner: Draft", "", "draft"),
    ],
)
def test_other_words(text: str, server: str, phase: str) -> None:
    found = server_step(text)
    assert found is not None
    assert (found.server, found.phase) == (server, phase)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ProfilerStep#3",
        "execute_",
        "execute_context_1",
        "execute_models",
        "step[12]",
        "prefill[]",
    ],
)
def test_what_no_server_writes(text: str) -> None:
    assert server_step(text) is None


def test_drafts_are_verified_with_more_tokens_than_requests() -> None:
    found = server_step("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]")
    assert found is not None
    assert found.generation == Requests(64, 128, 131072, 256, 262144)
    assert found.context == NO_REQUESTS


def test_numbers_that_no_counter_holds_are_unknown() -> None:
    huge = "9" * 19
    found = server_step(f"execute_context_1({huge})_generation_1({2**63 - 1})")
    assert found is not None
    assert (found.context.query, found.generation.query) == (-1, 2**63 - 1)
    assert found.phase == "mixed"


@given(st.text(max_size=LONGEST + 10) | st.from_regex(r"(?:execute_|step\[|decode\[)[\w =()]*"))
def test_any_text_is_an_iteration_or_none(text: str) -> None:
    found = server_step(text)
    assert found is None or found.phase in PHASES
