"""Names that would steer a terminal, whatever prints them, and cells that a spreadsheet would run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.loop import span
from torch_tb_profiler.cli.main import main
from torch_tb_profiler.views.words.escapes import no_formula

pytestmark = pytest.mark.slow

NAME = "\x1b]0;owned\x07\x9b31m\u202egnp\u2066\ufeff\r\nend;=1+1"
FORMS = [
    ["summary"],
    ["summary", "--json"],
    ["findings"],
    ["doctor"],
    ["doctor", "--json"],
    ["operators"],
    ["ranges"],
    ["ranges", "--csv"],
    ["sql", "select name from events"],
    ["sql", "select name from events", "--csv"],
    ["sql", "select name from events", "--json"],
    ["export", "--what", "operators", "--to", "csv", "-o", "-"],
    ["diff", "{}", "--format", "csv"],
    ["diff", "{}", "--format", "markdown"],
    ["diff", "{}", "--format", "json"],
    ["summary", "--worker", NAME],
    ["event", "0"],
    ["baseline", "compare", NAME],
]


def _trace(folder: Path) -> Path:
    kinds = {"cpu_op": 0, "user_annotation": 5, "python_function": 9}
    events = [span(cat, NAME, NAME, NAME, ts, 3, **{NAME: NAME}) for cat, ts in kinds.items()]
    path = folder / "a\x1b[31m\u202e.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": events, "deviceProperties": [{"name": NAME}]}))
    return path


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_what_is_printed_steers_no_terminal(
    form: list[str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = str(_trace(tmp_path))
    command, *rest = (path if word == "{}" else word for word in form)
    place = [rest.pop(0)] if command == "baseline" else []
    if command == "baseline":
        main([command, *place, *rest, path])
    else:
        main([command, path, *rest])
    told = capfdbinary.readouterr()
    assert told.out or told.err
    for text in (told.out.decode(), told.err.decode()):
        plain = text.replace("\r\n", "").replace("\n", "").replace("\t", "").replace("\u202f", "")
        assert [c for c in plain if not c.isprintable()] == []


def test_arguments_that_make_no_sense_steer_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["summary", "x", NAME], [NAME], ["summary", "x", "--limit", NAME]):
        with pytest.raises(SystemExit):
            main(arguments)
        told = capsys.readouterr().err.replace("\r\n", "").replace("\n", "")
        assert [c for c in told if not c.isprintable()] == []


def test_negative_numbers_of_a_statement_are_numbers(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = str(_trace(tmp_path))
    statement = "select -5 as a, -1.5 as b, ';=1' as c, '=1' as d, [-1, 2] as e"
    assert main(["sql", path, statement, "--csv"]) == 0
    rows = list(csv.reader(capfdbinary.readouterr().out.decode().splitlines()))
    assert rows[1] == ["-5", "-1.5", "';'=1", "'=1", "-1;2"]


@given(st.text("=+-@;\t\r\n \"'a1.e\uff1d,", max_size=12))
def test_no_cell_is_a_formula_however_it_is_parted(text: str) -> None:
    guarded = no_formula(text)
    assert not guarded or guarded[0] not in "=+-@;\t\r\n\uff1d"
    for part in guarded.replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";")[1:]:
        cell = part.strip(' "')
        if cell[:1] in (*"=+-@\uff1d",):
            float(cell)
    assert guarded.replace("'", "") == text.replace("'", "")
