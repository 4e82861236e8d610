"""Numbers, times and addresses that are none: each option refuses them in words, with exit code 2, and never in a traceback."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.cli import argument_types, main
from torch_tb_profiler.cli.commands import COMMANDS, command_of
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.live import exchange
from torch_tb_profiler.live.client import record_live
from torch_tb_profiler.live.job_files import FOLDER

NUMBERS = (
    argument_types.positive,
    argument_types.whole,
    argument_types.numbers,
    argument_types.event_number,
    argument_types.percent,
    argument_types.seconds,
    argument_types.port,
)
NONE = (
    "nan",
    "-nan",
    "inf",
    "-inf",
    "-1",
    "1e400",
    "-1e-9",
    "1" * 30,
    "1" * 5000,
    "0x1",
    "",
    "1_0x",
)


def test_no_option_reads_numbers_by_itself() -> None:
    bare = [
        (name, action.option_strings)
        for name in COMMANDS
        for action in _declared(name)
        if action.type in (int, float)
    ]
    assert not bare


def _declared(name: str) -> list[argparse.Action]:
    parser = argparse.ArgumentParser()
    command_of(name).declare(parser)
    return parser._actions


@pytest.mark.parametrize("kind", NUMBERS)
@given(text=st.one_of(st.sampled_from(NONE), st.text(), st.floats().map(str)))
def test_a_number_is_in_its_bounds_or_refused(kind: object, text: str) -> None:
    assert callable(kind)
    try:
        found = kind(text)
    except argparse.ArgumentTypeError:
        return
    for number in found if isinstance(found, tuple) else (found,):
        assert 0 <= number < 1 << 63


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e400", "0", "-0.0", "86401", "x", ""])
@pytest.mark.parametrize("command", ["record", "sql"])
def test_seconds_that_are_none(
    command: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["127.0.0.1:1"] if command == "record" else ["x", "select 1"]
    with pytest.raises(SystemExit) as ended:
        main.main([command, *words, f"--seconds={value}"])
    assert ended.value.code == 2
    assert "argument --seconds" in capsys.readouterr().err.splitlines()[-1]


_HIDDEN = st.characters(categories=["Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"])


@given(before=st.text(max_size=9), hidden=_HIDDEN, after=st.text(max_size=9), port=st.integers())
def test_addresses_with_what_no_host_has(before: str, hidden: str, after: str, port: int) -> None:
    for text in (f"{before}{hidden}{after}:80", f"unix:{before}{hidden}{after}", f"a:{port}"):
        if text == f"a:{port}" and 0 < port < 65536:
            continue
        with pytest.raises(BadRequest) as refused:
            exchange.connection_to(text, 1.0)
        assert refused.value.message.isprintable()


@given(before=st.text(max_size=9), hidden=_HIDDEN, after=st.text(max_size=9))
def test_urls_with_what_no_url_has(before: str, hidden: str, after: str) -> None:
    with pytest.raises(BadRequest) as refused:
        exchange.connection_by(f"http://{before}{hidden}{after}:80/", 1.0)
    assert refused.value.message.isprintable()


@pytest.mark.parametrize(
    "address",
    [
        "\0:46111",
        "a\nb:1",
        "\x1b[31m:1",
        "unix:\0abstract",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "x",
        ":-1",
        "\u202e:1",
        "a b:1",
    ],
)
@pytest.mark.parametrize("in_file", [True, False])
def test_addresses_of_a_folder_and_of_the_command_line(
    address: str, in_file: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = address
    if in_file:
        (tmp_path / FOLDER).mkdir()
        member = {"rank": 0, "address": address, "process": 1}
        (tmp_path / FOLDER / "rank0.json").write_text(json.dumps(member))
        target = str(tmp_path)
    try:
        code = main.main(["record", target, "--token", "x"])
    except SystemExit as ended:
        code = int(ended.code or 0)
    told = capsys.readouterr()
    assert (code, told.out) == (2, "")
    assert told.err.splitlines()[-1].isprintable()
    assert "Traceback" not in told.err


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0, 1e300])
def test_times_that_no_recording_takes(seconds: float) -> None:
    with pytest.raises(BadRequest, match="is no time to record"):
        record_live("http://127.0.0.1:1/", seconds=seconds)


@pytest.mark.parametrize("token", ["a\nb", "\0", "ä€", "x\x7f"])
def test_tokens_that_no_header_holds(token: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["record", "127.0.0.1:1", "--token", token]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "token" in told
