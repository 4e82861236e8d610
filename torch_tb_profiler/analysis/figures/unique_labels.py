"""Short names that are alike although the full ones differ, told apart by the words in which these do."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from torch_tb_profiler.patterns import regex

_WORD = regex(r"\w+", re.ASCII)
_READ = 4096
_MOST = 4


def unique_labels(full: Sequence[str], short: Sequence[str]) -> list[str]:
    """``short`` with, where different full names share one, up to four words of the full name that
    not all of them have, the rarest first chosen::

        void elementwise<4, AUnaryFunctor<float, MulFunctor>>    elementwise<MulFunctor> …AUnaryFunctor…
        void elementwise<4, BinaryFunctor<float, MulFunctor>>    elementwise<MulFunctor> …BinaryFunctor…
    """
    alike: defaultdict[str, set[str]] = defaultdict(set)
    for name, text in zip(full, short, strict=True):
        alike[text].add(name)
    words: dict[tuple[str, str], str] = {}
    for text, names in alike.items():
        if len(names) > 1:
            words |= {(text, name): own for name, own in _own_words(sorted(names)).items()}
    return [
        f"{text} {words[text, name]}" if words.get((text, name)) else text
        for name, text in zip(full, short, strict=True)
    ]


def _own_words(names: Sequence[str]) -> dict[str, str]:
    listed = {name: list(_numbered(_WORD.findall(name, 0, _READ))) for name in names}
    spread = Counter(word for words in listed.values() for word in words)
    rare: dict[str, list[tuple[str, int]]] = {}
    for name, words in listed.items():
        own = [(spread[word], word[0].isdigit(), place, word) for place, word in enumerate(words)]
        rare[name] = [word for count, *_, word in sorted(own) if count < len(names)]
    for most in range(1, _MOST + 1):
        told = {name: _joined(rare[name][:most], listed[name]) for name in names}
        if len(set(told.values())) == len(names):
            break
    return told


def _numbered(words: Iterable[str]) -> Iterable[tuple[str, int]]:
    """Each word with how many like it come before it: so the second ``float`` is another one."""
    seen: Counter[str] = Counter()
    for word in words:
        yield word, seen[word]
        seen[word] += 1


def _joined(chosen: list[tuple[str, int]], order: list[tuple[str, int]]) -> str:
    texts = [word for word, _ in sorted(chosen, key=order.index)]
    return f"…{'…'.join(texts)}…" if texts else ""
