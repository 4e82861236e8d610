"""What differs between two recordings, grouped by what changed.

A change of JSON is named by its path, with ``[]`` for any place in a list and ``{}`` for any key that is a recorded name; one of text
by the pattern of its line, with ``#`` for any number and ``~`` for any recorded name. Rows of a table, and objects of a
list, are matched by their names, so that one that is new does not shift all that follow.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from .forks import LATE, RAISED
from .kept import KINDS, lines, parsed

MOST_LINES = 2000
"""Longer texts are compared line by line from the first on."""
SHOWN = 200
"""Characters of an example."""
IDENTITY = (
    "key",
    "name",
    "rule",
    "title",
    "label",
    "run",
    "worker",
    "kernel",
    "operator",
    "path",
    "what",
    "step",
)
"""Fields that say which row is which."""
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"(?<![\w.])[-+−±]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|(?<=[#+−-])\d+")
_NAME = re.compile(r"`[^`]*`|\S*[:_<>()\[\]/@\\]\S*")
_GAP = re.compile(r"\s{2,}|(?:-{3,}|─+)")


class Change(NamedTuple):
    """One difference: where (a route, a command, a tool, a table), what (a path or a pattern), and both sides."""

    where: str
    what: str
    old: str
    new: str


class Group:
    """Changes of one kind in one place. ``first``: an example, with the subject and what was asked."""

    def __init__(self) -> None:
        self.count = 0
        self.subjects: Counter[str] = Counter()
        self.first: tuple[str, str, str, str] | None = None

    def add(self, subject: str, ask: str, old: str, new: str) -> None:
        """One more."""
        self.count += 1
        self.subjects[subject] += 1
        self.first = self.first or (subject, ask, old, new)


Groups = dict[tuple[str, str], Group]


class Found:
    """What a comparison found, of one kind of surface."""

    def __init__(self) -> None:
        self.equal = self.differ = 0
        self.errors: Groups = {}
        self.lone: Groups = {}
        self.changes: Groups = {}


def compare(old: Path, new: Path, only: re.Pattern[str], most: int) -> int:
    """Print what differs between two recordings as Markdown; 1 if anything does."""
    print(f"# What differs\n\nOld: {_about(old)}. New: {_about(new)}.")
    found = {kind: _compared(old, new, kind, only) for kind in KINDS}
    print(
        "\n| | equal | differ | only old or new | errors or other codes |\n| --- | ---: | ---: | ---: | ---: |"
    )
    for kind, each in found.items():
        numbers = (each.equal, each.differ, _count(each.lone), _count(each.errors))
        print(f"| {kind} | {' | '.join(f'{n:,}' for n in numbers)} |")
    for title, part in _PARTS:
        for kind, each in found.items():
            _print(f"{title}: {kind}", getattr(each, part), most)
    return int(any(each.differ or each.lone or each.errors for each in found.values()))


_PARTS = (
    ("Errors, tracebacks and codes", "errors"),
    ("Only one has it", "lone"),
    ("Changed", "changes"),
)


def _count(groups: Groups) -> int:
    return sum(group.count for group in groups.values())


def _about(recording: Path) -> str:
    try:
        about = json.loads((recording / "about.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return f"{recording.name} (not complete)"
    return f"{about['tree']} ({about['subjects']} subjects, Python {about['python']})"


def _print(title: str, groups: Groups, most: int) -> None:
    if not groups:
        return
    print(f"\n## {title}\n")
    ordered = sorted(
        groups.items(), key=lambda item: (-len(item[1].subjects), -item[1].count, item[0])
    )
    for (where, what), group in ordered[: most or None]:
        subjects = [name for name, _ in group.subjects.most_common(3)]
        more = f" and {len(group.subjects) - 3} more" if len(group.subjects) > 3 else ""
        print(f"- {where}: `{_cut(what)}` × {group.count:,} in {', '.join(subjects)}{more}")
        assert group.first is not None
        subject, ask, old, new = group.first
        if not ask:
            continue
        print(f"    - {subject}, `{_cut(ask)}`\n    - old: {_cut(old)}\n    - new: {_cut(new)}")
    if most and len(ordered) > most:
        rest = ordered[most:]
        print(
            f"- and {len(rest)} more groups with {sum(g.count for _, g in rest):,} changes (--most 0)"
        )


def _cut(text: str) -> str:
    text = text.replace("\n", " ⏎ ")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _compared(old: Path, new: Path, kind: str, only: re.Pattern[str]) -> Found:
    found = Found()
    subjects = {
        str(path.parent.relative_to(side))
        for side in (old, new)
        for path in side.rglob(f"{kind}.jsonl.gz")
    }
    for subject in sorted(subjects):
        paths = [side / subject / f"{kind}.jsonl.gz" for side in (old, new)]
        if not all(path.exists() for path in paths):
            which = "old" if paths[0].exists() else "new"
            if only.search(subject):
                _put(found.lone, ("(subject)", which), subject, "", "", "")
            continue
        one, other = (lines(path) for path in paths)
        same = set(one) & set(other)
        found.equal += len(same)
        add(found, subject, _replies(one, same), _replies(other, same), only)
    return found


def _replies(written: Sequence[str], same: Set[str]) -> dict[str, dict[str, Any]]:
    """Those that are not the same in both, by what was asked."""
    replies = map(parsed, (line for line in written if line not in same))
    return {reply["ask"]: reply for reply in replies}


def add(
    found: Found,
    subject: str,
    old: dict[str, dict[str, Any]],
    new: dict[str, dict[str, Any]],
    only: re.Pattern[str],
) -> None:
    """Compare the replies about one subject, by what was asked."""
    for ask in dict.fromkeys((*old, *new)):
        if not only.search(f"{subject} {ask}"):
            continue
        a, b = old.get(ask), new.get(ask)
        where = where_of(ask)
        if b is not None and _is_fault(b) and (a is None or a != b):
            _put(found.errors, (where, _fault(b)), subject, ask, _body(a), _body(b))
        elif a is None or b is None:
            which = "new" if a is None else "old"
            _put(found.lone, (where, which), subject, ask, _body(a), _body(b))
        elif a["code"] != b["code"]:
            what = f"{a['code']} → {b['code']}: {pattern(_words(b if b['code'] else a))}"
            _put(found.errors, (where, what), subject, ask, _body(a), _body(b))
        elif a == b:
            found.equal += 1
        else:
            found.differ += 1
            for change in changes(where, a, b):
                _put(found.changes, change[:2], subject, ask, change.old, change.new)


def _put(groups: Groups, key: tuple[str, str], *example: str) -> None:
    groups.setdefault(key, Group()).add(*example)


def _is_fault(reply: dict[str, Any]) -> bool:
    """Whether a reply is a fault of the program: it raised, took too long, was killed, or answered with 5xx."""
    code = reply["code"]
    return code in (RAISED, LATE) or code < 0 or code >= 500 or "Traceback" in reply.get("text", "")


def _fault(reply: dict[str, Any]) -> str:
    return f"{reply['code']}: {pattern(_words(reply))}"


def _words(reply: dict[str, Any]) -> str:
    """The last line of a text, the message of an error."""
    if "text" in reply:
        lines = [line for line in reply["text"].splitlines() if line.strip()]
        return lines[-1] if lines else ""
    error = reply["json"].get("error") if isinstance(reply["json"], dict) else None
    return str(error["message"]) if isinstance(error, dict) and "message" in error else ""


def _body(reply: dict[str, Any] | None) -> str:
    if reply is None:
        return "–"
    return f"{reply['code']} {_words(reply)}" if reply["code"] else _words(reply) or "a reply"


def where_of(ask: str) -> str:
    """The route, command, tool or table of what was asked, without what it was asked about."""
    first = re.split(r"[?( ]", ask, maxsplit=1)[0]
    rest = ask[len(first) :]
    if first.startswith("/"):
        own = re.findall(r"[?&](by|group|name|kind|of|tree|format|measure)=([a-z_]+)(?=&|$)", rest)
        return " ".join(
            (first, *(f"{key}={value}" for key, value in own if first == "/table" or key != "name"))
        )
    options = re.findall(r"(?<= )--(?:by|what|to|ranks)[ ]\S+|(?<= )--[a-z][\w-]*", rest)
    return " ".join((first, *options)) + (rest if rest.startswith("(by=") else "")


def changes(where: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    """Each difference of two replies to one question."""
    if "json" in old and "json" in new:
        yield from _of_json(where, "", old["json"], new["json"])
    elif "text" in old and "text" in new:
        yield from _of_text(where, "", old["text"], new["text"])
    else:
        yield Change(where, "JSON or text", "text" if "text" in old else "JSON", _body(new))


def _of_json(where: str, path: str, old: Any, new: Any) -> Iterator[Change]:
    if old == new and type(old) is type(new):
        return
    a, b = (_as_rows(side) for side in (old, new))
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys((*a, *b)):
            name = key if _KEY.fullmatch(key) else "{}"
            below = f"{path}.{name}" if path else name
            if key in a and key in b:
                yield from _of_json(where, below, a[key], b[key])
            else:
                yield Change(
                    where,
                    f"{below} {'new' if key in b else 'gone'}",
                    _shown(a.get(key)),
                    _shown(b.get(key)),
                )
    elif isinstance(a, list) and isinstance(b, list):
        yield from _of_lists(where, f"{path}[]", a, b)
    elif isinstance(a, str) and isinstance(b, str) and (" " in a or " " in b):
        yield from _of_text(where, path, a, b)
    else:
        yield Change(where, path or "(whole)", _shown(old), _shown(new))


def _as_rows(value: Any) -> Any:
    """The rows of a table that is written as columns."""
    if isinstance(value, dict) and len(value) > 1:
        columns = list(value.values())
        if all(isinstance(c, list) and c and len(c) == len(columns[0]) for c in columns):
            return [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]
    return value


def _of_lists(where: str, path: str, old: list[Any], new: list[Any]) -> Iterator[Change]:
    pairs, gone, added = matched(old, new)
    for a, b in pairs:
        yield from _of_json(where, path, a, b)
    for word, lone in (("gone", gone), ("new", added)):
        for each in lone:
            yield Change(
                where,
                f"{path} {word}",
                *((_shown(each), "–") if word == "gone" else ("–", _shown(each))),
            )
    if not gone and not added and len(old) == len(new):
        here, there = ([_identity(each) for each in side] for side in (old, new))
        if here != there and Counter(here) == Counter(there):
            at = next(at for at, (a, b) in enumerate(zip(here, there, strict=True)) if a != b)
            yield Change(where, f"{path} order", _shown(old[at]), _shown(new[at]))


def matched(old: list[Any], new: list[Any]) -> tuple[list[tuple[Any, Any]], list[Any], list[Any]]:
    """Which elements of two lists are the same thing, and those that only one has. Of unnamed ones the first are the
    first.
    """
    if not any(
        isinstance(each, dict) and any(key in each for key in IDENTITY) for each in (*old, *new)
    ):
        least = min(len(old), len(new))
        return list(zip(old[:least], new[:least], strict=True)), old[least:], new[least:]
    left: dict[str, list[Any]] = {}
    for each in new:
        left.setdefault(_identity(each), []).append(each)
    pairs, gone = [], []
    for each in old:
        same = left.get(_identity(each))
        if same:
            pairs.append((each, same.pop(0)))
        else:
            gone.append(each)
    added = [each for each in new if any(each is one for one in left.get(_identity(each), ()))]
    return pairs, gone, added


def _identity(value: Any) -> str:
    if isinstance(value, dict):
        own = [value[key] for key in IDENTITY if isinstance(value.get(key), (str, int))]
        return json.dumps(own)
    return json.dumps(value)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _of_text(where: str, path: str, old: str, new: str) -> Iterator[Change]:
    """Differences of lines."""
    before = f"{path}: " if path else ""
    for a, b in _lines(old.splitlines(), new.splitlines()):
        if a is None or b is None:
            word, text = ("new", b or "") if a is None else ("gone", a)
            yield Change(where, f"{before}{pattern(text)} {word}", a or "–", b or "–")
            continue
        one, other = pattern(a), pattern(b)
        what = one if one == other else f"{one} → {other}"
        yield Change(where, before + what, a, b)


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    if max(len(old), len(new)) > MOST_LINES:
        yield from ((a, b) for a, b in zip(old, new, strict=False) if a != b)
        return
    match = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for word, a0, a1, b0, b1 in match.get_opcodes():
        if word != "equal":
            yield from _paired(old[a0:a1], new[b0:b1])


def _paired(old: Sequence[str], new: Sequence[str]) -> Iterable[tuple[str | None, str | None]]:
    """Lines of one pattern belong together; of the rest, where equally many are left, the first with the first."""
    left = list(new)
    gone = []
    for line in old:
        same = next((other for other in left if pattern(other) == pattern(line)), None)
        if same is None:
            gone.append(line)
        else:
            left.remove(same)
            if same != line:
                yield line, same
    if len(gone) == len(left):
        yield from zip(gone, left, strict=True)
        return
    yield from ((line, None) for line in gone)
    yield from ((None, line) for line in left)


def pattern(line: str) -> str:
    """A line without its numbers and recorded names."""
    return _GAP.sub(" ", _NUMBER.sub("#", _NAME.sub("~", line.strip())))
