"""Drafts and their verification: whose they are, how long they take, and between which bounds the rate lies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.listed import facts_listed
from tests.examples import examples
from torch_tb_profiler.analysis.figures.iterations import iteration_table, phase_table
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.views.work.iterations import headline, iteration_of

VERIFIES = (
    "execute_context_0(0)_generation_{requests}({tokens})",
    "step[TARGET_VERIFY bs={requests} toks={tokens}]",
    "decode[bs={requests} tok={tokens}]",
    "_forward_step 3: 0 ctx reqs, 0 ctx tokens, {requests} gen reqs, {tokens} gen tokens",
)
DRAFTS = ("draft", "Draft 4", "gpu_model_runner: draft", "propose_draft_token_ids", "eagle.draft")


def loop(name: str, draft: str, place: str, count: int, drafting: int, verifying: int) -> Facts:
    """``count`` iterations of a launch that drafts and one that verifies, in µs; ``place`` of the draft: before, after, within."""
    lines, now = [], 0
    for n in range(count):
        own = {"draft": (now + verifying + 20, drafting), "verify": (now, verifying)}
        if place == "before":
            own = {"draft": (now, drafting), "verify": (now + drafting + 20, verifying)}
        if place == "within":
            own = {"draft": (now, drafting), "verify": (now, drafting + 20 + verifying)}
        for which, (begin, lasts) in own.items():
            text = draft if which == "draft" else name
            launch = begin + 4 if which == "draft" or place != "within" else begin + drafting + 24
            work = lasts - 60 if which == "draft" or place != "within" else verifying - 60
            number = 2 * n + (which == "draft") + 1
            lines += [
                f"1 note {text}@{begin}+{lasts}",
                f"1 call cudaGraphLaunch@{launch}+20 c{number}",
                f"gpu 0:7 kernel k{which}@{launch + 26}+{work} c{number}",
            ]
        now += drafting + verifying + 70
    return facts_listed("\n".join(lines))


@examples(25)
@given(
    st.sampled_from(VERIFIES),
    st.sampled_from(DRAFTS),
    st.sampled_from(("before", "after", "within")),
    st.integers(3, 6),
    st.integers(100, 9_000),
    st.integers(100, 9_000),
    st.integers(1, 64),
    st.integers(2, 8),
)
def test_drafts_belong_to_the_iteration_that_verifies_them(
    words: str,
    draft: str,
    place: str,
    count: int,
    drafting: int,
    verifying: int,
    requests: int,
    each: int,
) -> None:
    tokens = requests * each
    name = words.format(requests=requests, tokens=tokens)
    facts = loop(name, draft, place, count, drafting, verifying)
    table = iteration_table(facts, select(facts))
    assert table.n == count
    assert not table["cut"].any()
    assert set(table["phase"]) == {"decode"}
    assert table["draft_ns"].tolist() == [drafting * 1000] * count
    assert (table["wall_ns"] >= (drafting + verifying) * 1000).all()
    assert (table["device_ns"] == (drafting + verifying - 120) * 1000).all()
    # What drafts is no scheduling.
    assert (table["scheduler_ns"][1:] <= 70_000).all()
    lasts = (drafting + verifying + 70) / 1e6
    for row in range(1, count):
        assert table["least_tokens_per_second"][row] == pytest.approx(requests / lasts, rel=1e-6)
        assert table["tokens_per_second"][row] == pytest.approx(tokens / lasts, rel=1e-6)
    phases = phase_table(table)
    assert list(phases["phase"]) == ["decode", "draft", "verify"]
    assert phases["wall_ns"][1] == drafting * 1000
    assert phases["wall_ns"][1] + phases["wall_ns"][2] == phases["wall_ns"][0]
    told = iteration_of(facts, 1)
    assert told is not None
    assert " to " in told["rate"]
    assert "how many are accepted is not in the trace" in told["told"][0]
    assert " to " in headline(facts, select(facts))


@given(st.integers(1, 64), st.integers(200, 9_000))
@examples(10)
def test_one_token_per_request_is_a_known_rate(requests: int, lasts: int) -> None:
    name = f"execute_context_0(0)_generation_{requests}({requests})"
    lines = [f"1 note {name}@{n * (lasts + 10)}+{lasts}" for n in range(4)]
    facts = facts_listed("\n".join(lines))
    table = iteration_table(facts, select(facts))
    assert (table["least_tokens_per_second"] == table["tokens_per_second"]).all()
    assert table["tokens_per_second"][1] == pytest.approx(requests * 1e6 / (lasts + 10))
    assert " to " not in headline(facts, select(facts))


@given(st.integers(1, 16), st.integers(17, 8192), st.integers(0, 32))
@examples(10)
def test_tokens_of_prompts_are_not_generated(prompts: int, tokens: int, requests: int) -> None:
    name = f"execute_context_{prompts}({tokens})_generation_{requests}({requests})"
    lines = [f"1 note {name}@{n * 1000}+990" for n in range(4)]
    facts = facts_listed("\n".join(lines))
    table = iteration_table(facts, select(facts))
    assert table["prompt_tokens_per_second"][1] == pytest.approx(tokens * 1e3)
    # A prompt that is complete gives its first token.
    if requests:
        assert table["least_tokens_per_second"][1] == pytest.approx(requests * 1e3)
        assert table["tokens_per_second"][1] == pytest.approx((requests + prompts) * 1e3)
    assert headline(facts, select(facts)).endswith("prompt tokens per second.")


def test_a_draft_alone_generates_nothing() -> None:
    lines = [f"1 note step[DRAFT_EXTEND bs=4 toks=16]@{n * 1000}+990" for n in range(4)]
    facts = facts_listed("\n".join(lines))
    table = iteration_table(facts, select(facts))
    assert set(table["phase"]) == {"draft"}
    assert headline(facts, select(facts)) == "A draft takes 990 µs."


def test_drafts_of_annotated_loops_are_no_iterations_of_their_own() -> None:
    lines = [
        line
        for n in range(4)
        for line in (f"1 note draft@{n * 1000}+700", f"1 note verify@{n * 1000 + 710}+200")
    ]
    facts = facts_listed("\n".join(lines))
    table = iteration_table(facts, select(facts))
    assert list(table["phase"]) == ["decode"] * 4
    assert table["draft_ns"].tolist() == [700_000] * 4
    facts = facts_listed("\n".join(line for line in lines if "draft" in line))
    assert not iteration_table(facts, select(facts)).n


@pytest.mark.parametrize("marked", [True, False])
def test_the_last_iteration_is_whole_though_nothing_is_drafted_behind_it(marked: bool) -> None:
    lines = []
    for n in range(5):
        now = 1000 * n
        lines += [
            f"1 note execute_context_0(0)_generation_4(20)@{now}+700",
            f"1 call cudaGraphLaunch@{now + 5}+10 c{2 * n + 1}",
            f"gpu 0:7 kernel target@{now + 20}+660 c{2 * n + 1}",
        ]
        if n < 4:
            lines += [f"1 note draft@{now + 710}+200"] if marked else []
            lines += [f"1 call cudaGraphLaunch@{now + 715}+10 c{2 * n + 2}"]
            lines += [
                f"gpu 0:7 kernel small@{now + 730 + 40 * k}+39 c{2 * n + 2}" for k in range(4)
            ]
    facts = facts_listed("\n".join(lines))
    table = iteration_table(facts, select(facts))
    assert not table["cut"][:4].any()
    # The last verifies as all others do; a draft that is marked belongs to the iteration, and the last has none.
    assert table["cut"][4] == marked
