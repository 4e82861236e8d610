"""The comparison as the page and its files give it: sentences, rows, notes, and texts that are not
what they seem.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from msgspec.structs import replace

from tests.analysis.diff.compared import changed, drawn, listed, of_lengths
from tests.builders.pairs import NO_CHANGE
from torch_tb_profiler.analysis.diff.compare import Comparison, compare
from torch_tb_profiler.analysis.diff.side import Side
from torch_tb_profiler.views.diff.file import (
    diff_csv,
    diff_markdown,
)
from torch_tb_profiler.views.diff.payload import Recording, diff_payload
from torch_tb_profiler.views.diff.verdict import from_to, signed_share
from torch_tb_profiler.views.diff.wire import DiffPayload
from torch_tb_profiler.views.words.escapes import csv_field, markdown_name, markdown_text

A, B = Recording("base", "w0", "1", "base · w0", {}), Recording("new", "w0", "1", "new · w0", {})


def payload(found: Comparison, **more: Any) -> DiffPayload:
    return diff_payload(found, A, B, **more)


def test_the_first_line() -> None:
    usual = [2120, 2110, 2130, 2115, 2125]
    found = payload(compare(of_lengths(usual), of_lengths([x - 250 for x in usual]))).verdict
    assert found.sentence == "Steps are 11.8 % shorter (11.1 to 12.5 %); mean 2.12 → 1.87 ms."
    assert (found.delta_ns, found.changed) == (-250_000, True)
    assert found.low is not None
    assert found.high is not None
    assert found.share is not None
    assert found.low < found.share < found.high
    assert found.p is not None
    assert found.p < 0.01
    assert "5 and 5 steps" in found.test
    same = payload(compare(of_lengths(usual), of_lengths(usual))).verdict
    assert same.sentence == "No change beyond ±0.7 %; mean 2.12 → 2.12 ms."


@pytest.mark.parametrize(
    ("less", "workers", "first"),
    [
        (250, ("w0", "w0"), "A step takes 1.87 ms, 250 µs less than before."),
        (-250, ("w0", "w0"), "A step takes 2.37 ms, 250 µs more than before."),
        (0, ("w0", "w0"), "A step takes 2.12 ms, as long as before."),
        (250, ("w0", "w1"), "A step of w1 takes 1.87 ms, 250 µs less than of w0."),
        (0, ("w0", "w1"), "A step of w1 takes 2.12 ms, as long as of w0."),
    ],
)
def test_the_answer_is_of_the_median_steps(less: int, workers: tuple[str, str], first: str) -> None:
    usual = [2120, 2110, 2130, 2115, 2125]
    found = compare(of_lengths(usual), of_lengths([x - less for x in usual]))
    a, b = (
        structs.replace(A, worker=workers[0]),
        structs.replace(B, worker=workers[1]),
    )
    run = A.run if workers[0] != workers[1] else B.run
    told = diff_payload(found, a, structs.replace(b, run=run)).headline
    assert told[0] == first
    assert len(told[0].split()) <= 14
    assert "Steps vary by ±7.91 µs" in told[1]


def test_steps_of_one_recording_are_named() -> None:
    one = drawn(NO_CHANGE)
    first, third = (replace(one, steps=np.array([step])) for step in (0, 2))
    told = diff_payload(compare(first, third), A, A).headline
    assert re.fullmatch(r"Step 3 takes .* than step 1\.", told[0])
    assert "One step each cannot tell" in told[1]


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (
            [2000],
            [1000],
            (
                "Cannot tell: one step each does not suffice; 5 would. Mean 2.00 → 1.00 ms"
                " (−50.0 %)."
            ),
        ),
        (
            [2000],
            [500, 500, 500],
            (
                "Cannot tell: 1 and 3 steps do not suffice; 5 each would. Mean 2.00 ms → 500 µs"
                " (−75.0 %)."
            ),
        ),
        ([2000, 2000], [], "The recording after has no step: nothing can be compared."),
        ([], [], "The recording before has no step: nothing can be compared."),
    ],
)
def test_what_cannot_be_told(a: list[int], b: list[int], sentence: str) -> None:
    found = payload(compare(of_lengths(a), of_lengths(b))).verdict
    assert (found.sentence, found.changed, found.p, found.low, found.high, found.test) == (
        sentence,
        None,
        None,
        None,
        None,
        "",
    )


def test_recordings_without_steps_are_compared_whole() -> None:
    found = payload(compare(listed("1 op a@0+100"), listed("1 op a@0+200")))
    assert found.verdict.sentence.startswith(
        "Cannot tell: neither recording has steps, and nothing"
    )
    assert found.verdict.sentence.endswith("proportions. Time 100 → 200 µs (+100 %).")
    assert (
        "Neither recording has steps: they are compared as a whole, whatever they hold."
        in found.notes
    )


@pytest.mark.parametrize("most", [1, 2, 500])
@pytest.mark.parametrize("name", [NO_CHANGE, "slower_kernel", "extra_copy", "renamed"])
def test_rows_add_up_to_the_whole_of_their_table(name: str, most: int) -> None:
    found = payload(changed(name), most_rows=most)
    rows = found.changes
    lengths = {len(column) for column in rows.values()}
    assert len(lengths) == 1
    for whole in found.wholes:
        at = [i for i, table in enumerate(rows["table"]) if table == whole.table]
        assert sum(rows["delta_ns"][i] for i in at) == whole.time_b_ns - whole.time_a_ns
        assert sum(rows["time_a_ns"][i] or 0 for i in at) == whole.time_a_ns
        assert [rows["rest"][i] for i in at] == [False] * (len(at) - bool(whole.pooled)) + [
            True
        ] * bool(whole.pooled)
        changes = [abs(rows["delta_ns"][i]) for i in at if not rows["rest"][i]]
        assert changes == sorted(changes, reverse=True)
    assert next(w for w in found.wholes if w.table == "category").time_a_ns == found.a.mean_ns


def test_absent_sides_are_null() -> None:
    rows = payload(changed("extra_copy")).changes
    at = next(
        i
        for i, name in enumerate(rows["name"])
        if name == "aten::copy_" and rows["table"][i] == "operator"
    )
    assert (
        rows["status"][at],
        rows["time_a_ns"][at],
        rows["calls_a"][at],
        rows["event_a"][at],
        rows["host_a_ns"][at],
    ) == ("new", None, None, None, None)
    assert rows["calls_b"][at] == 1
    assert rows["event_b"][at] is not None
    assert rows["share"][at] == pytest.approx(rows["delta_ns"][at] / drawn(NO_CHANGE).mean)


def test_the_device_of_a_side() -> None:
    found = payload(compare(drawn(NO_CHANGE), of_lengths([100, 100])))
    assert (found.a.device, found.b.device) == ("GPU", None)


def test_a_renamed_row_names_both() -> None:
    rows = payload(changed("renamed")).changes
    at = rows["name"].index("sm90_xmma_gemm_bf16")
    assert rows["name_b"][at] == "nvjet_tst_256x128"


def test_host_only_and_device() -> None:
    host = listed(
        "1 note ProfilerStep#1@0+100\n1 op aten::mm@10+50\n1 note ProfilerStep#2@100+100\n1 op"
        " aten::mm@110+60"
    )
    found = payload(compare(host, drawn(NO_CHANGE)))
    assert found.device_time is False
    assert set(found.tree["device_a_ns"]) == {None}
    assert None not in found.tree["device_b_ns"]
    assert "host" not in found.changes["table"]
    assert (
        "Only the recording after has an accelerator: operators and modules are compared by host time."
        in found.notes
    )
    assert [m.what for m in found.missing] == ["Accelerator activity"]


def with_summary(side: Side, **summary: Any) -> Side:
    return replace(
        side,
        facts=structs.replace(side.facts, summary=structs.replace(side.facts.summary, **summary)),
    )


def test_notes_on_what_differs() -> None:
    a, b = drawn(NO_CHANGE), drawn(NO_CHANGE, seed=3, steps=4)
    b = with_summary(b, versions={"torch": "2.7"}, world_size=8, step_source="train")
    a = with_summary(a, versions={"torch": "2.6"}, world_size=4)
    found = diff_payload(compare(a, b), structs.replace(A, header={"with_stack": 1}), B).notes
    assert found == [
        (
            "Steps are made from ProfilerStep before and from train after: they may not be the same"
            " stretch of work."
        ),
        "Only the recording before has call stacks, which slows the host down.",
        "PyTorch 2.6 before, 2.7 after.",
        "4 processes before, 8 after.",
    ]


def test_notes_on_steps_that_are_left_out() -> None:
    found = payload(
        compare(of_lengths([1000, 100, 101, 99, 100, 400]), of_lengths([100, 101, 99, 100, 101]))
    ).notes
    assert (
        found[0]
        == "2 steps before left out (1 cold, 1 odd, which the test takes all the same), 4 compared."
    )


def test_other_shapes_are_said() -> None:
    line = '1 op aten::mm@{}+50 {{"Input Dims": [[{}, 4]]}}'
    steps = "1 note ProfilerStep#1@0+100\n1 note ProfilerStep#2@100+100\n"
    one, other = (listed(steps + line.format(10, n) + "\n" + line.format(110, n)) for n in (2, 8))
    assert not [note for note in payload(compare(one, one)).notes if "shapes" in note]
    assert (
        "Input shapes differ: only 0 % of the time before in operators that both have is in calls whose"
        " shapes are there after, too. The work may be of another size."
        in payload(compare(one, other)).notes
    )


HOSTILE = [
    '=cmd|"/c calc"!A1',
    "@SUM(1)",
    "+1",
    "-1",
    "\tx",
    "a|b",
    "`code`",
    "<script>alert(1)</script>",
    "[x](http://evil)",
    "a\nb",
    "| --- |",
    "\u202ename",
]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        (
            "slower_kernel",
            (
                r"Mostly Kernel \+4\d\d µs \(vectorized_elementwise_kernel<GeluCUDAKernelImpl> \+4\d\d µs\); "
                r"operator aten::gelu \+4\d\d µs; module Net › Block ›"
                r" GELU \+4\d\d µs\."
            ),
        ),
        ("missing_overlap", r"Mostly Communication \+1\.\d\d ms\."),
        (
            "extra_copy",
            (
                r"Mostly Memcpy \+9\d\d µs \(Memcpy HtoD \(Pageable -> Device\)\); operator aten::copy_"
                r" \(new\) \+[89]\d\d µs; module Net \+[89]\d\d µs\."
            ),
        ),
        (
            "new_sync",
            r"Mostly CPU Exec \+4\d\d µs; operator aten::nonzero \(new\) \+4\d\d µs on the host\.",
        ),
        (NO_CHANGE, ""),
        ("renamed", ""),
    ],
)
def test_what_made_most_of_the_change_is_said(name: str, pattern: str) -> None:
    found = payload(changed(name)).verdict
    assert re.fullmatch(pattern, found.because)


def test_what_made_it_faster_is_said_too() -> None:
    found = payload(compare(drawn("extra_copy", seed=1), drawn(NO_CHANGE))).verdict
    assert found.because.startswith("Mostly Memcpy −9")
    assert "aten::copy_ (gone) −8" in found.because


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_in_files(name: str) -> None:
    assert re.match(r"[=+\-@\t\r]", csv_field(name).lstrip('"')) is None
    assert next(csv.reader([csv_field(name)]), [""])[0].lstrip("'") == name or "\n" in name
    for shown in (markdown_text(name), markdown_name(name)):
        assert "\n" not in shown
        assert re.search(r"(?<!\\)\|", shown) is None
    assert re.search(r"(?<!\\)[<\[`]", markdown_text(name)) is None
    assert re.fullmatch(r"`[^`]+`", markdown_name(name))


def test_csv_holds_every_row() -> None:
    found = payload(changed("extra_copy"))
    text = diff_csv(found)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(found.changes["name"])
    categories = sum(int(row["delta_ns"]) for row in rows if row["table"] == "category")
    assert categories == found.b.mean_ns - found.a.mean_ns  # type: ignore[operator]
    assert text.count("\r\n") == len(rows) + 1
    copy = next(row for row in rows if row["table"] == "operator" and row["name"] == "aten::copy_")
    assert (copy["status"], copy["time_a_ns"], copy["beyond"]) == ("new", "", "true")


def test_markdown_leads_with_the_verdict_and_lists_what_changed() -> None:
    text = diff_markdown(payload(changed("slower_kernel")))
    lines = text.splitlines()
    assert re.fullmatch(r"\*\*A step takes 6\.\d\d ms, \d+ µs more than before\.\*\*", lines[0])
    assert re.fullmatch(
        r"Steps are \d\.\d % longer \(.* to .* %\); mean 6\.\d\d → 6\.\d\d ms\.", lines[4]
    )
    assert any(
        re.fullmatch(r"\| `aten::gelu` \| .* \| yes \| \\#\d+ → \\#\d+ \|", line) for line in lines
    )
    for table in (block.splitlines() for block in text.split("\n\n") if block.startswith("|")):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1


def test_small_words() -> None:
    assert from_to(212e6, 187e6) == "212 → 187 ms"
    assert from_to(2e6, 5e5) == "2.00 ms → 500 µs"
    assert signed_share(-0.1179) == "−11.8 %"
    assert signed_share(None) == ""
    assert [signed_share(share) for share in (8.88, 8.96, 272.6, 4999.0)] == [
        "+888.0 %",
        "×10",
        "×274",
        "×5\u202f000",
    ]
