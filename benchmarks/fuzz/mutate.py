"""One mutated trace per number: the same for the same seed and number, whatever came before.

::

    base (header, events) ─▶ mutations of events and header ─▶ text ─▶ damage to the text ─▶ [gzip ─▶ damage]
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from benchmarks.fuzz.bases import BASES, Event, Header
from benchmarks.fuzz.values import BARE, strange_value

MOST_MUTATIONS = 12
MOST_DOUBLED = 4000
"""A longer list of events is not doubled again: time is better spent on other cases."""
_KEYS = ("ph", "name", "cat", "pid", "tid", "ts", "dur", "id", "args", "s", "bp")
_HEADER_KEYS = (
    *("schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds", "traceName"),
    *("displayTimeUnit", "cuda_runtime_version", "record_shapes", "with_stack"),
)
_PHASES = ("X", "B", "E", "i", "I", "C", "M", "s", "t", "f", "R", "b", "n", "e", "", "XX", "é")
_CATEGORIES = (
    *("cpu_op", "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver"),
    *("python_function", "user_annotation", "gpu_user_annotation", "cpu_instant_event", "ac2g"),
    *("fwdbwd", "cuda_sync", "overhead", "cuda_profiler_range", "Trace", "xpu_scope_profiler", ""),
)
_ALONE = "@alone"
"""The value of this key is written in place of the event."""
_BARE = re.compile(r'"' + BARE + r'((?:[^"\\]|\\.)*)"')


class Case(NamedTuple):
    """A mutated trace. ``entries``: how many were written; None where damage may hide some."""

    name: str
    data: bytes
    entries: int | None


def cases(seed: int, n: int) -> Iterator[tuple[str, bytes]]:
    """``n`` mutated traces, (name, content of the file); some are gzipped, some are no traces."""
    for number in range(n):
        made = case(seed, number)
        yield made.name, made.data


def case(seed: int, number: int) -> Case:
    """Mutated trace ``number`` of a seed."""
    random = Random(f"{seed}/{number}")
    base = random.choice(BASES)
    header, events = base(random)
    for _ in range(random.randrange(MOST_MUTATIONS) if random.random() < 0.95 else 200):
        random.choice(_MUTATIONS)(random, header, events)
    entries: int | None
    text, entries = _text(random, header, events, bare_array=base.__name__ == "legacy")
    data = text.encode("utf-8", "surrogatepass")
    if random.random() < 0.35:
        data, entries = _damaged(random, data), None
    if random.random() < 0.15:
        data = gzip.compress(data, 1, mtime=0)
        if random.random() < 0.5:
            data, entries = _damaged(random, data), None
    return Case(f"{seed}-{number}-{base.__name__}", data, entries)


Mutation = Callable[[Random, Header, list[Event]], None]


def _field(random: Random, header: Header, events: list[Event]) -> None:
    for event in _some(random, events):
        event[random.choice(_KEYS)] = strange_value(random)


def _argument(random: Random, header: Header, events: list[Event]) -> None:
    for event in _some(random, events):
        args = event.get("args")
        if isinstance(args, dict) and args:
            args[random.choice(list(args))] = strange_value(random)


def _every_argument(random: Random, header: Header, events: list[Event]) -> None:
    named = [e["args"] for e in events if isinstance(e.get("args"), dict) and e["args"]]
    if named:
        key, value = random.choice(list(random.choice(named))), strange_value(random)
        for args in named:
            if key in args:
                args[key] = value


def _swapped(random: Random, header: Header, events: list[Event]) -> None:
    """Two events exchange a field or an argument: ids that lead elsewhere."""
    if len(events) < 2:
        return
    one, other = random.sample(events, 2)
    if random.random() < 0.5:
        key = random.choice(_KEYS)
    else:
        one, other = one.get("args"), other.get("args")  # type: ignore[assignment]
        if not isinstance(one, dict) or not isinstance(other, dict) or not one:
            return
        key = random.choice(list(one))
    one[key], other[key] = other.get(key), one.get(key)


def _same_id(random: Random, header: Header, events: list[Event]) -> None:
    """Many events share an id."""
    key, value = (
        random.choice(("correlation", "External id", "Python id", "id")),
        strange_value(random),
    )
    for event in _some(random, events):
        args = event.get("args")
        if key == "id":
            event["id"] = value
        elif isinstance(args, dict):
            args[key] = value


def _missing(random: Random, header: Header, events: list[Event]) -> None:
    for event in _some(random, events):
        event.pop(random.choice(_KEYS), None)


def _missing_argument(random: Random, header: Header, events: list[Event]) -> None:
    for event in _some(random, events):
        args = event.get("args")
        if isinstance(args, dict) and args:
            args.pop(random.choice(list(args)))


def _kind(random: Random, header: Header, events: list[Event]) -> None:
    for event in _some(random, events):
        event["cat"] = random.choice(_CATEGORIES)
        if random.random() < 0.5:
            event["ph"] = random.choice(_PHASES)


def _shuffled(random: Random, header: Header, events: list[Event]) -> None:
    random.shuffle(events)


def _twice(random: Random, header: Header, events: list[Event]) -> None:
    if len(events) > MOST_DOUBLED:
        return
    copies = [json.loads(json.dumps(event)) for event in _some(random, events)]
    events[len(events) // 2 : len(events) // 2] = copies


def _dropped(random: Random, header: Header, events: list[Event]) -> None:
    for event in _some(random, events)[: len(events) // 2]:
        events.remove(event)


def _no_event(random: Random, header: Header, events: list[Event]) -> None:
    events.insert(random.randrange(len(events) + 1), {_ALONE: strange_value(random)})


def _moved(random: Random, header: Header, events: list[Event]) -> None:
    """Some times are shifted, scaled, negated, or written in another way."""
    key = random.choice(("ts", "dur"))
    change: Callable[[float], Any] = random.choice(
        (
            lambda t: -t,
            lambda t: t * 1000,
            lambda t: t / 1024,
            lambda t: t + 10**15,
            lambda t: t + 0.0001,
            lambda t: f"{t}",
            lambda t: BARE + f"{t}e0",
            lambda t: 0,
        )
    )
    for event in _some(random, events):
        if _is_number(event.get(key)):
            event[key] = change(event[key])


def _split(random: Random, header: Header, events: list[Event]) -> None:
    """Complete events become begin and end, in any order."""
    for event in _some(random, events):
        if event.get("ph") == "X" and _is_number(event.get("dur")) and _is_number(event.get("ts")):
            end = {**event, "ph": "E", "ts": event["ts"] + event.pop("dur")}
            end.pop("dur", None)
            event["ph"] = "B"
            events.insert(random.randrange(len(events) + 1), end)


def _flows(random: Random, header: Header, events: list[Event]) -> None:
    """Flows that are doubled, lead nowhere, or start at the same place."""
    for event in _some(random, events)[:20]:
        keys = {key: event.get(key) for key in ("pid", "tid", "ts")}
        for phase in random.choice(("sf", "ss", "ff", "stf", "fs", "s", "f")):
            arrow = {"ph": phase, "cat": random.choice(("ac2g", "fwdbwd", "async_gpu", None))}
            events.append({**arrow, "id": random.randrange(4), "name": "ac2g", **keys})


def _header(random: Random, header: Header, events: list[Event]) -> None:
    value: Any = header
    while isinstance(value, dict | list) and value:
        key = (
            random.choice(list(value)) if isinstance(value, dict) else random.randrange(len(value))
        )
        if not isinstance(value[key], dict | list) or random.random() < 0.4:
            value[key] = strange_value(random)
            return
        value = value[key]


def _known_header(random: Random, header: Header, events: list[Event]) -> None:
    header[random.choice(_HEADER_KEYS)] = strange_value(random)


def _nested(random: Random, header: Header, events: list[Event]) -> None:
    for event in _some(random, events)[:3]:
        depth = random.choice((2, 30, 60, 900))
        event["args"] = BARE + '{"a":' * depth + "0" + "}" * depth


def _extra_keys(random: Random, header: Header, events: list[Event]) -> None:
    for event in _some(random, events)[:10]:
        key = random.choice(("traceEvents", "ph ", "", "é", "args2", "\u0000", "x" * 300))
        event[key] = strange_value(random)


_MUTATIONS: tuple[Mutation, ...] = (
    *(_field, _argument, _every_argument, _swapped, _same_id, _missing, _missing_argument),
    *(_kind, _shuffled, _twice, _dropped, _no_event, _moved, _split, _flows, _header),
    *(_known_header, _nested, _extra_keys),
)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e300


def _some(random: Random, events: list[Event]) -> list[Event]:
    """One, a few, or all of the events that are objects."""
    most = random.choice((1, 1, 5, len(events)))
    return random.sample(events, min(most, len(events)))


def _text(random: Random, header: Header, events: list[Event], bare_array: bool) -> tuple[str, int]:
    """The text, and its entries: values may be wrong, but all strings are whole and all brackets balance."""
    texts = [_json(event.get(_ALONE, event)) for event in events]
    for _ in range(random.randrange(4) if random.random() < 0.3 else 0):
        if texts:
            at = random.randrange(len(texts))
            texts[at] = _doubled_key(random, texts[at])
    comma = random.choice((",", ", ", ",\n  ", "\n,\n"))
    array = "[" + comma.join(texts) + "]"
    if bare_array and random.random() < 0.9:
        return array, len(texts)
    parts = [f"{_json(key)}: {_json(value)}" for key, value in header.items()]
    parts.insert(
        random.choice((len(parts), random.randrange(len(parts) + 1))), f'"traceEvents": {array}'
    )
    if random.random() < 0.03:
        parts.append(f'"traceEvents": [{comma.join(texts[:5])}]')
        texts += texts[:5]
    space = random.choice(("", "\ufeff", " \n", "\n\n\n"))
    text = "{" + comma.join(parts) + "}"
    return space + text + random.choice(("", "\n", "\0\0")), len(texts)


def _doubled_key(random: Random, text: str) -> str:
    if not text.startswith("{") or len(text) < 3:
        return text
    key = random.choice(_KEYS)
    return f"{{{_json(key)}: {_json(strange_value(random))}, {text[1:]}"


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _BARE.sub(lambda match: json.loads(f'"{match.group(1)}"'), text)


_DEBRIS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\x00", b"\xff", b"\xed\xa0\x80"),
    *(b"N/A", b"NaN", b'"}, {"', b"]}", b"1" * 40, b'"traceEvents": [', b"{}", b",,", b"//x\n"),
)


def _damaged(random: Random, data: bytes) -> bytes:
    """The bytes cut, with some missing, doubled, replaced, or with debris among them."""
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        if len(data) < 2:
            break
        at = random.randrange(len(data))
        length = random.choice((1, 1, 3, 50, 2000))
        kind = random.randrange(6)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + data[at + length :]
        elif kind == 2:
            data = data[:at] + data[at : at + length] + data[at:]
        elif kind == 3:
            data = data[:at] + random.randbytes(min(length, 50)) + data[at + length :]
        else:
            data = data[:at] + random.choice(_DEBRIS) + data[at + random.randrange(2) :]
    return data
