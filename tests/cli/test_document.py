"""Documents as text and as Markdown: nothing is wider than a terminal, nothing steers it, and a
budget is kept.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.cli.document import Block, Column, Document, Item, Listing, Table
from torch_tb_profiler.cli.markdown import estimate, markdown, within_tokens
from torch_tb_profiler.cli.plain_text import WIDTH, plain_text

COLUMNS = (Column("Name", "name"), Column("Calls"), Column("Shapes", "below"), Column("", "bar"))


def table(rows: int) -> Table:
    return Table(
        "Operators",
        COLUMNS,
        [(f"aten::op_{i}", f"{i:,}", f"[[{i}]]", "#" * (i % 30)) for i in range(rows)],
        rows,
    )


def test_a_table_on_a_terminal() -> None:
    text = plain_text(
        Document(
            "Trace",
            ("A line.",),
            (Table("Operators", COLUMNS, [("aten::mm", "12", "[[2,3],[3,4]]", "##")], 5),),
        )
    )
    assert text.splitlines() == [
        "Trace",
        "=" * 20,
        "A line.",
        "",
        "Operators",
        "---------",
        "  Name      Calls",
        "  aten::mm     12  ##",
        "      [[2,3],[3,4]]",
        "  and 4 more",
    ]


def test_a_table_in_markdown() -> None:
    text = markdown(
        Document(
            "Trace",
            ("A line.",),
            (
                Table(
                    "Operators", COLUMNS, [("aten::mm", "12", "[[2,3],[3,4]]", "##")], 5, "A note."
                ),
            ),
        )
    )
    assert text.splitlines()[4:] == [
        "## Operators",
        "",
        "| Name | Calls | Shapes |",
        "| --- | ---: | --- |",
        "| `aten::mm` | 12 | `[[2,3],[3,4]]` |",
        "",
        "and 4 more",
        "",
        "A note.",
    ]


def test_the_widest_columns_give_way() -> None:
    long = "x" * 300
    text = plain_text(
        Document(
            long,
            (long,),
            (
                Table(
                    "T",
                    (Column("A", "name"), Column("B", "text"), Column("C")),
                    [(long, long, "1,234")],
                    1,
                ),
            ),
        )
    )
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "1,234" in text


def test_names_that_begin_alike_are_told_apart() -> None:
    columns = (
        Column("Name", "name"),
        *(Column("A quantity") for _ in range(6)),
        Column("Shapes", "below"),
    )
    names = [f"aten::cudnn_convolution_backward_{of}" for of in ("input", "weight")]
    text = plain_text(
        Document(
            "T",
            (),
            (Table("Operators", columns, [(name, *("1",) * 6, "[[2,3]]") for name in names], 2),),
        )
    )
    assert [line.split() for line in text.splitlines() if "[[" in line] == [
        [name, "[[2,3]]"] for name in names
    ]


def test_long_names_that_begin_alike_keep_their_ends() -> None:
    columns = (Column("Name", "name"), *(Column("A quantity") for _ in range(5)))
    names = [
        f"cutlass_75_tensorop_bf16_s1688gemm_bf16_{of}"
        for of in ("128x64_nt_align8", "256x128_tn_align8", "256x128_tn_align8")
    ]
    text = plain_text(
        Document(
            "T",
            (),
            (Table("Kernels", columns, [(name, *("1",) * 5) for name in [*names, "gemm"]], 4),),
        )
    )
    shown = [line.split()[0] for line in text.splitlines() if line.endswith("1")]
    assert shown[0].startswith("cutlass_75_tensorop")
    assert shown[0].endswith("128x64_nt_align8")
    assert shown[1] == shown[2]
    assert shown[1].endswith("256x128_tn_align8")
    assert shown[3] == "gemm"
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize("tokens", [2000, 600, 300, 150, 90, 60])
def test_a_budget_is_kept_and_said(tokens: int) -> None:
    blocks: tuple[Block, ...] = (
        Listing(
            "Findings",
            [Item("The first.", ("Detail.",)), *(Item(f"Another {i}.") for i in range(30))],
        ),
        table(500),
        table(40),
    )
    text = within_tokens([Document("Trace", (), blocks)], tokens)
    assert estimate(text) <= tokens
    assert "Shortened to about" in text
    assert text.startswith("# Trace")


@pytest.mark.parametrize("tokens", [3000, 1500, 700, 300, 120])
def test_a_budget_is_shared(tokens: int) -> None:
    documents = [
        Document(f"Trace {i}", (), (table(rows),))
        for i, rows in enumerate((500, 2, 500, 2, 500, 2))
    ]
    text = within_tokens(documents, tokens)
    assert estimate(text) <= tokens
    titles = [line for line in text.splitlines() if line.startswith("# ")]
    assert titles == [f"# Trace {i}" for i in range(len(titles))]
    assert len(titles) == min(6, max(1, tokens // 250))
    assert text.count("Shortened to about") == 1
    assert ("parts left out" in text) == (len(titles) < 6)
    if tokens == 3000:
        assert [("and " in part) for part in text.split("# Trace ")[1:]] == [
            True,
            False,
            True,
            False,
            True,
            False,
        ], "what is short stays whole"


def test_findings_keep_their_events_when_their_details_are_cut() -> None:
    items = [Item(f"The {i}.", ("Detail. " * 40,), brief=f"(#{i})") for i in range(8)]
    text = within_tokens([Document("Trace", (), (Listing("Findings", items, "A note."),))], 100)
    assert "Detail" not in text
    assert "- The 0. (\\#0)" in text
    assert text.count("\\#") == text.count("- The")
    assert " more. A note." in text


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60), st.integers(20, 200))
def test_a_budget_is_kept_whatever_names_there_are(name: str, tokens: int) -> None:
    blocks = (Listing("L", [Item(name * 5, (name,), brief=name)]), table(9))
    text = within_tokens([Document(name or "T", (name * 9,), blocks)], tokens + 40)
    assert estimate(text) <= tokens + 40


def test_the_most_important_rows_stay() -> None:
    text = within_tokens([Document("Trace", (), (table(500), table(500)))], 700)
    assert "`aten::op_0`" in text
    assert "`aten::op_400`" not in text
    assert "more" in text


def test_a_text_within_the_budget_is_not_touched() -> None:
    document = Document("Trace", (), (table(3),))
    assert within_tokens([document], 5000) == markdown(document)


@given(st.text(), st.text(), st.lists(st.text(), min_size=1, max_size=3))
def test_no_text_of_a_trace_steers_a_terminal_or_makes_markup(
    title: str, name: str, items: list[str]
) -> None:
    document = Document(
        title,
        (name,),
        (
            Table("T", (Column("N", "name"), Column("V", "text")), [(name, title)], 1),
            Listing("L", [Item(i) for i in items]),
        ),
    )
    text = plain_text(document)
    assert all(character.isprintable() or character == "\n" for character in text)
    assert max(map(len, text.split("\n"))) <= WIDTH
    rows = [line for line in markdown(document).split("\n") if line.startswith("|")]
    assert len(rows) == 3
