"""Valid requests for every route of the server, made from its table of routes, and what must hold
of every reply: its declared shape, and sums that add up. For ``soak.py``.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from timeline_server import as_ranges

from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.experiments import Experiments
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.untrusted import prepared
from torch_tb_profiler.views.wire import Wire
from torch_tb_profiler.web.parameters import (
    REQUIRED,
    Kind,
    Names,
    OneOf,
    Ranges,
    StepsOf,
    Text,
    Time,
    Whole,
    Wholes,
    WindowOf,
)
from torch_tb_profiler.web.route import Route
from torch_tb_profiler.web.route_table import ROUTES

Place = tuple[str, str, str]
Ask = Callable[[str, dict[str, str]], "tuple[int, bytes]"]
TILE_HEADER = struct.Struct("<4sHHIIQqIII20x")
MOST_CELLS = 1 << 10
"""Tiles times lanes of a request."""
STATEMENTS = (
    "SELECT name, count(*) FROM operators GROUP BY name ORDER BY 2 DESC, 1 LIMIT 20",
    "SELECT count(*) FROM spans",
)
"""Questions for ``/sql``."""


@dataclass
class Known:
    """What the valid values of parameters follow from, learnt from the server."""

    steps: int
    names: list[str]
    walls: list[int]
    about: dict[str, Any]
    operators: list[str]
    memory_devices: list[int]
    lanes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lanes = [
            lane
            for group in self.about["groups"]
            for lane in range(group["lane"], group["lane"] + group["lanes"])
        ]

    def walls_by_name(self) -> dict[str, int]:
        """How long the steps are whose names are theirs alone."""
        walls = zip(self.names, self.walls, strict=True)
        return {name: wall for name, wall in walls if self.names.count(name) == 1}


def learn(ask: Ask, place: Place) -> Known | None:
    """What is known of a trace; None while one of the replies is not there."""
    query = dict(zip(("run", "worker", "span"), place, strict=True))
    replies: dict[str, Any] = {}
    for path in ("/overview", "/operator", "/trace/timeline", "/memory"):
        status, body = ask(path, query)
        if status != 200:
            return None
        replies[path] = msgspec.json.decode(body)
    return Known(
        len(replies["/overview"]["steps"]["step"]),
        replies["/overview"]["steps"]["name"],
        replies["/overview"]["steps"]["wall_ns"],
        replies["/trace/timeline"],
        replies["/operator"]["rows"]["name"],
        [device["key"] for device in replies["/memory"]["devices"]],
    )


def question(
    chance: random.Random, route: Route, place: Place, other: Place, known: Known
) -> dict[str, str] | None:
    """A valid query for a route; None where the trace has nothing to ask it about."""
    names = ("run", "worker", "span")
    query: dict[str, str] = {}
    if route.opens is not None:
        query = dict(zip(names, place, strict=True))
    if "run2" in route.places:
        query |= dict(zip((f"{name}2" for name in names), other, strict=True))
    if "id" in route.places:
        query["id"] = known.about["id"]
    level = chance.randint(0, known.about["level_max"])
    if route.path == "/trace/search/next":
        return {**query, "q": word(chance, known), "t": "0"}
    for name, parameter in route.parameters.items():
        needed = parameter.default is REQUIRED
        if not needed and chance.random() < 0.5:
            continue
        values = value(chance, route, name, parameter.kind, known, level)
        if values is None and needed:
            return None
        query |= values or {}
    return query


def value(
    chance: random.Random, route: Route, name: str, kind: Kind, known: Known, level: int
) -> dict[str, str] | None:
    """Valid values of one parameter; None where there is none, or of a kind that is not known here."""
    span = max(1, known.about["span_ns"])
    if isinstance(kind, StepsOf):
        if not known.steps or "2" in name or chance.random() < 0.6:
            return {}
        first = chance.randrange(known.steps)
        return {name: f"{first}-{chance.randrange(first, known.steps)}"}
    if isinstance(kind, OneOf):
        return {name: chance.choice(kind.words)}
    if isinstance(kind, WindowOf):
        first = chance.randrange(span)
        return {"t0": str(first), "t1": str(first + 1 + chance.randrange(span - first + 1))}
    if isinstance(kind, Time):
        return {name: str(chance.randrange(span))}
    texts: dict[str, Callable[[], str]] = {
        "level": lambda: str(level),
        "k": lambda: _tiles(chance, known, level),
        "lanes": lambda: as_ranges(sorted(chance.sample(known.lanes, min(8, len(known.lanes))))),
        "series": lambda: str(chance.randrange(len(known.about["counters"]))),
        "step": lambda: str(chance.randrange(known.steps)),
        "event": lambda: str(chance.randrange(known.about["events"])),
        "first": lambda: str(chance.randrange(max(1, known.about["name_count"]))),
        "device": lambda: str(chance.choice(known.memory_devices)),
        "name": lambda: chance.choice(known.operators),
        "kinds": lambda: ",".join(kind["kind"] for kind in known.about["arrow_kinds"][:2]),
        "q": lambda: chance.choice(STATEMENTS) if route.path == "/sql" else word(chance, known),
        "change": lambda: "",
    }
    if name in texts and isinstance(kind, (Text, Names, Ranges, Whole, Wholes)):
        try:
            text = texts[name]()
        except (IndexError, ValueError):  # the trace has none of these
            return None
        return {name: text} if text or name == "change" else None
    if isinstance(kind, Whole) and isinstance(kind.highest, int):
        return {name: str(chance.randint(kind.lowest, min(kind.highest, kind.lowest + 512)))}
    return None


def word(chance: random.Random, known: Known) -> str:
    """A text to search for."""
    names = known.operators or ["aten"]
    return chance.choice([chance.choice(names)[:12], "aten::", "nothing like this"])


def _tiles(chance: random.Random, known: Known, level: int) -> str:
    last = known.about["span_ns"] >> (level + known.about["tile_bits"])
    most = max(1, min(8, MOST_CELLS // max(1, len(known.lanes))))
    first = chance.randint(0, last)
    return ",".join(map(str, range(first, min(last, first + most - 1) + 1)))


def comparable(path: str, alone: bool, body: bytes) -> bool:
    """Whether a question about a file that stays must always get this same answer. ``alone``: it has its run
    to itself; what is said of other workers depends on whether they are read.
    """
    route = ROUTES[path]
    if route.opens is None or Experiments in route.handed.values():
        return False
    if not {Fleets, Catalogue} & set(route.handed.values()):
        return True
    answers = isinstance(route.answers, type) and issubclass(route.answers, Wire)
    payload = msgspec.json.decode(body) if alone and answers else {}
    return bool(payload) and payload.get("progress", 1.0) == 1.0


def fault(path: str, body: bytes, query: Mapping[str, str], known: Known | None) -> str:
    """What is wrong with a reply of status 200, in words; empty when all holds."""
    route = ROUTES[path]
    if route.answers is bytes:
        return _fault_of_tiles(body)
    if not issubclass(route.answers, Wire):
        return ""  # its status and its length are right; it may be empty
    try:
        msgspec.json.decode(body, type=prepared(route.answers), strict=True)
    except (msgspec.DecodeError, ValueError) as error:
        return f"not of the declared shape: {error}"
    payload = msgspec.json.decode(body)
    if path in ("/overview", "/steps", "/trace"):
        return _fault_of_steps(payload["steps"])
    if path == "/trace/area" and payload["overlap"]:
        window = int(query["t1"]) - int(query["t0"])
        parts = sum(payload["overlap"].values())
        asked = min(int(query["t1"]), payload["t1_ns"]) - payload["t0_ns"]
        return "" if parts in (window, asked) else f"the overlap sums to {parts}, not {window}"
    if path == "/distributed" and known is not None:
        return _fault_of_overlap(payload, query["worker"], known.walls_by_name())
    if path == "/critical_path" and known is not None:
        return _fault_of_path(payload["steps"], known.walls)
    return ""


def _fault_of_steps(steps: dict[str, list[Any]]) -> str:
    for at, wall in enumerate(steps["wall_ns"]):
        parts = sum(steps[f"{category}_ns"][at] or 0 for category in CATEGORIES)
        if parts != wall:
            return f"the categories of step {at} sum to {parts}, not to its {wall} ns"
    return ""


def _fault_of_path(steps: dict[str, list[Any]], walls: list[int]) -> str:
    kinds = [key for key in steps if key.endswith("_ns")]
    for at, step in enumerate(steps["step"]):
        path = sum(steps[kind][at] or 0 for kind in kinds)
        if step < len(walls) and path != walls[step]:
            return f"the path of step {step} is {path} ns, the step {walls[step]}"
    return ""


def _fault_of_overlap(payload: dict[str, Any], worker: str, walls: dict[str, int]) -> str:
    rows = [at for at, item in enumerate(payload["workers"]) if item["worker"] == worker]
    for row in rows:
        parts = [column[row] for column in payload["overlap"].values()] if rows else []
        for step, *cells in zip(payload["steps"], *parts, strict=True):
            if None not in cells and step in walls and sum(cells) != walls[step]:
                return f"{worker}, {step}: the four parts sum to {sum(cells)}, not {walls[step]}"
    return ""


def _fault_of_tiles(body: bytes) -> str:
    at = 0
    while at < len(body):
        if len(body) - at < TILE_HEADER.size:
            return "tiles end within a header"
        magic, _, _, size, *_ = TILE_HEADER.unpack_from(body, at)
        if magic != b"TLOD" or size < TILE_HEADER.size:
            return f"no tile at byte {at}"
        at += size
    return "" if at == len(body) else "the last tile is cut"
