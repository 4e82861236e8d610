"""What is kept is made once, and anew where it is damaged or would be another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live import kept as module
from tests.live.kept import kept


@pytest.fixture(autouse=True)
def _a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "version", lambda _: "2.13.0")


class Maker:
    """Writes two files, and counts how often."""

    made = 0

    def __call__(self, folder: Path) -> None:
        self.made += 1
        (folder / "below").mkdir()
        (folder / "below" / "a").write_text("text")
        (folder / "b").write_text(str(self.made))


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    make = Maker()
    first, second = (kept("one", make, "program", base=tmp_path) for _ in range(2))
    assert (make.made, first) == (1, second)
    assert (first / "below" / "a").read_text() == "text"
    assert list(tmp_path.iterdir()) == [first]


@pytest.mark.parametrize("changed", ["name", "text", "file", "version"])
def test_another_is_made_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    source, base = tmp_path / "source.py", tmp_path / "base"
    source.write_text("a")
    first = kept("one", Maker(), source, "text", base=base)
    if changed == "file":
        source.write_text("b")
    if changed == "version":
        monkeypatch.setattr(module, "version", lambda _: "2.14.0")
    name, text = "other" if changed == "name" else "one", "b" if changed == "text" else "text"
    assert kept(name, Maker(), source, text, base=base) != first
    assert len(list(base.iterdir())) == 2


def _cut(folder: Path) -> None:
    (folder / "below" / "a").write_text("te")


def _gone(folder: Path) -> None:
    (folder / "b").unlink()


def _without_sums(folder: Path) -> None:
    (folder / module.SUMS).unlink()


@pytest.mark.parametrize("damage", [_cut, _gone, _without_sums])
def test_what_is_damaged_is_made_anew(tmp_path: Path, damage: Maker) -> None:
    make = Maker()
    damage(kept("one", make, base=tmp_path))
    assert (kept("one", make, base=tmp_path) / "b").read_text() == "2"


def test_of_two_processes_one_is_used(tmp_path: Path) -> None:
    other = Maker()

    def slow(folder: Path) -> None:
        Maker()(folder)
        (folder / "b").write_text("slow")
        kept("one", other, base=tmp_path)

    folder = kept("one", slow, base=tmp_path)
    assert other.made == 1
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "a").write_text("")
        raise RuntimeError("no compiler")

    with pytest.raises(RuntimeError):
        kept("one", fail, base=tmp_path)
    assert list(tmp_path.iterdir()) == []
