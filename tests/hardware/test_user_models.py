"""The user's performance models: registered or from a file, distinguished in the cache, failures
logged.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from torch_tb_profiler import register_model
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.hardware import user_models, work
from torch_tb_profiler.hardware.call import Call, read_call
from torch_tb_profiler.hardware.work import Work, model_of, modelled, work_of

FILE = """
from torch_tb_profiler import register_model
from torch_tb_profiler.api.models import Work

@register_model("attention", "my::attention", "aten::mm", source="of my own")
def attention(call):
    q = call.tensor(0)
    return Work(flops=2 * q.elements, bytes=None, unit="matrix", precision="bf16", parameters={"elements": q.elements})
"""
MINE = read_call("my::attention", "[[4,8]]", '["c10::BFloat16"]')


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is gone after it."""
    modelled()
    monkeypatch.setattr(work, "_MODELS", dict(work._MODELS))
    monkeypatch.setattr(work, "_PREFIXES", dict(work._PREFIXES))
    monkeypatch.setattr(work, "_WARNED", set())
    user_models.load.cache_clear()
    user_models._digest.cache_clear()
    yield
    user_models.load.cache_clear()
    user_models._digest.cache_clear()


def test_a_file_registers_models_and_takes_the_place_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(FILE)
    assert MINE is not None
    assert work_of(MINE) is None
    user_models.load(str(file))
    assert work_of(MINE) == Work(64, None, "matrix", "bf16", {"elements": 32})
    model = model_of("aten::mm")
    assert model is not None
    assert model.source == "of my own"


def test_an_empty_setting_is_no_file() -> None:
    before = modelled()
    user_models.load("")
    assert modelled() == before
    assert user_models.version("") == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import torch_tb_profiler\n\nraise KeyError('q')", "line 3: KeyError: 'q'"),
        ("def (", "line 1: SyntaxError: invalid syntax"),
        (
            "import no_such_package_of_mine",
            "line 1: ModuleNotFoundError: No module named 'no_such_package_of_mine'",
        ),
    ],
)
def test_a_faulty_file_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "models.py"
    file.write_text(text)
    with pytest.raises(BadRequest) as caught:
        user_models.load(str(file))
    assert caught.value.message.startswith(
        f"The models file models.py could not be used: {message}"
    )
    assert str(tmp_path) not in caught.value.message.split("(")[0]


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("models.py").write_text("\n1 / 0")
    with pytest.raises(BadRequest, match="line 2: ZeroDivisionError"):
        user_models.load("models.py")


def test_a_missing_file_and_one_that_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"models\.py could not be used: FileNotFoundError"):
        user_models.load(str(tmp_path / "models.py"))
    with pytest.raises(BadRequest, match=r"models\.txt is not a Python file"):
        user_models.load(str(tmp_path / "models.txt"))


def test_the_version_is_that_of_the_content_and_of_what_is_registered(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text(FILE)
    second.write_text(FILE.replace("2 *", "3 *"))
    versions = {user_models.version(str(file)) for file in (first, second, tmp_path / "absent.py")}
    assert len(versions) == 3
    assert "" not in versions
    before = user_models.version("")

    @register_model("attention", "my::other", source="two per element")
    def other(call: Call) -> Work | None:
        return Work(2, None, "", "")

    registered = user_models.version("")

    @register_model("attention", "my::other", source="three per element")
    def another(call: Call) -> Work | None:
        return Work(3, None, "", "")

    assert before == ""
    assert "" != registered != user_models.version("")


def test_a_model_that_fails_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    @register_model("attention", "my::*", source="wrong")
    def wrong(call: Call) -> Work | None:
        raise AttributeError("no such thing")

    assert MINE is not None
    with caplog.at_level(logging.WARNING):
        assert work_of(MINE) is None
        assert work_of(MINE) is None
    assert [record.message for record in caplog.records] == [
        "The performance model of my::attention raised AttributeError: no such thing"
    ]


def test_a_model_must_give_whole_numbers(caplog: pytest.LogCaptureFixture) -> None:
    @register_model("attention", "my::attention", source="wrong")
    def wrong(call: Call) -> Work | None:
        return Work(2.5, None, "", "")  # type: ignore[arg-type]

    assert MINE is not None
    with caplog.at_level(logging.WARNING):
        assert work_of(MINE) is None
    assert "is not a Work with integer FLOPs and bytes" in caplog.text


class Rude:
    """A parameter that cannot be shown."""

    def __str__(self) -> str:
        raise OSError("no")


BAD: list[tuple[Callable[[Call], object], str]] = [
    (lambda call: Work(-1, None, "", ""), "from 0 to 2**62"),
    (lambda call: Work(1, -1, "", ""), "from 0 to 2**62"),
    (lambda call: Work(1 << 70, None, "", ""), "from 0 to 2**62"),
    (lambda call: Work(float("nan"), None, "", ""), "is not a Work with integer"),  # type: ignore[arg-type]
    (lambda call: Work(True, None, "", ""), "is not a Work with integer"),
    (lambda call: (1, 2), "is not a Work with integer"),
    (lambda call: Work(1, None, "tensor", ""), "expected matrix"),  # type: ignore[arg-type]
    (lambda call: Work(1, None, "matrix", None), "expected matrix"),  # type: ignore[arg-type]
    (lambda call: Work(1, None, "matrix", "bf16", [1]), "parameters must be a dict"),  # type: ignore[arg-type]
    (lambda call: Work(1, None, "matrix", "bf16", {"M": "x" * 10**6}), "parameters must be a dict"),
    (lambda call: Work(1, None, "matrix", "bf16", {"M": Rude()}), "OSError: no"),
    (lambda call: sys.exit("enough"), "SystemExit: enough"),
    (lambda call: _endless(call), "RecursionError"),
]


def _endless(call: Call) -> Work | None:
    return _endless(call)


@pytest.mark.parametrize(("function", "message"), BAD)
def test_what_cannot_be_shown_is_told_and_not_shown(
    function: Callable[[Call], object], message: str, caplog: pytest.LogCaptureFixture
) -> None:
    register_model("attention", "my::attention", source="wrong")(function)  # type: ignore[arg-type]
    assert MINE is not None
    with caplog.at_level(logging.WARNING):
        assert work_of(MINE) is None
    assert message in caplog.text
    assert len(caplog.text) < 1000


@pytest.mark.parametrize(
    ("family", "names", "source"),
    [
        ("gemm", (), "x"),
        ("", ("my::op",), "x"),
        ("gemm", ("",), "x"),
    ],
)
def test_a_registration_needs_all_its_texts(
    family: str, names: tuple[str, ...], source: str
) -> None:
    with pytest.raises(ValueError, match="needs a family"):
        register_model(family, *names, source=source)


def test_anything_that_can_be_called_is_a_model() -> None:
    class Model:
        def __call__(self, call: Call) -> Work | None:
            return Work(4, None, "", "")

    def scaled(factor: int, call: Call) -> Work | None:
        return Work(factor, None, "", "")

    versions = set()
    for function, flops in ((Model(), 4), (partial(scaled, 5), 5), (partial(scaled, 6), 6)):
        register_model("attention", "my::attention", source="of my own")(function)
        assert MINE is not None
        cost = work_of(MINE)
        assert cost is not None
        assert cost.flops == flops
        versions.add(user_models.version(""))
    assert len(versions) == 3


def test_a_file_that_ends_the_program_does_not_end_ours(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text("import sys\nsys.exit(3)")
    with pytest.raises(BadRequest, match="line 2: SystemExit: 3"):
        user_models.load(str(file))


def test_ours_fail_silently_on_shapes_that_cannot_be(caplog: pytest.LogCaptureFixture) -> None:
    call = read_call("aten::add", "[[2,3],[4,5],[]]", '["float","float","Scalar"]')
    assert call is not None
    with caplog.at_level(logging.WARNING):
        assert work_of(call) is None
    assert not caplog.records
