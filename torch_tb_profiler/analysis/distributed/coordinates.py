"""Where each rank stands in its job: its place in each dimension of parallelism, from process groups.

A process group is a line of ranks that differ in one dimension; a set of disjoint groups of one size is that dimension.
The place of a rank is its index in its group, as ``torch.distributed.get_rank(group)`` has it. Eight ranks::

    "mesh_pp": [0 4] [1 5] [2 6] [3 7]          TP 0  TP 1
    "mesh_dp": [0 2] [1 3] [4 6] [5 7]   PP 0    0     1   DP 0
    "mesh_tp": [0 1] [2 3] [4 5] [6 7]           2     3   DP 1
                                         PP 1    4     5   DP 0
    rank 6: PP 1, DP 1, TP 0                     6     7   DP 1

A description names a dimension where it holds the word of one (``TENSOR_MODEL_PARALLEL_GROUP``, ``mesh_tp``). Groups without
such a word are told apart by how far apart their ranks are, and are called by that: groups of 2, stride 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.distributed.collectives import ProcessGroup
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints

MOST_GROUPS = 1 << 15
"""Distinct groups that are looked at."""
MOST_DIMENSIONS = 12
_NAMES = {
    "tp": "TP",
    "tensor": "TP",
    "pp": "PP",
    "pipe": "PP",
    "pipeline": "PP",
    "dp": "DP",
    "ddp": "DP",
    "data": "DP",
    "fsdp": "FSDP",
    "replicate": "DP replicate",
    "shard": "DP shard",
    "cp": "CP",
    "context": "CP",
    "sp": "SP",
    "sequence": "SP",
    "ep": "EP",
    "expert": "EP",
    "etp": "expert TP",
    "edp": "expert DP",
}
_PAIRS = {
    ("DP", "DP replicate"): "DP replicate",
    ("DP", "DP shard"): "DP shard",
    ("EP", "TP"): "expert TP",
    ("DP", "EP"): "expert DP",
}
"""Two words that name one dimension, sorted."""
_ANY_GROUP = {
    "group",
    "groups",
    "process",
    "pg",
    "mesh",
    "parallel",
    "model",
    "nccl",
    "gloo",
    "ucc",
}
_WORD = regex(r"[a-z]+", re.ASCII)


class Dimension(msgspec.Struct, frozen=True, eq=False):
    """A dimension of a job. ``size``: ranks of a group; ``stride``: between neighbours in a group, 0 where it varies;
    ``by_name``: not from groups but from what names tell.
    ``independent``: these dimensions together tell ranks apart, where all places are known; others run along them.
    ``place``: of each rank its index in its group, int64 of shape (ranks,), −1 unknown. ``values``: names of the places,
    empty where they are numbers.
    """

    name: str
    size: int
    stride: int
    independent: bool
    place: Ints
    values: tuple[str, ...] = ()
    by_name: bool = False


class _Family(msgspec.Struct, frozen=True):
    """Disjoint groups of one size. ``place``, ``group``: of each rank, −1 none."""

    name: str
    groups: tuple[tuple[int, ...], ...]
    place: Ints
    group: Ints


def dimension_name(text: str) -> str:
    """The dimension that a description names; empty if none or several: ``mesh_tp`` → ``TP``, ``mesh_dp_cp`` → empty."""
    words = [word for word in _WORD.findall(text[:200].lower()) if word not in _ANY_GROUP]
    names = sorted({_NAMES.get(word, "") for word in words})
    if len(names) == 1:
        return names[0]
    return _PAIRS.get((names[0], names[1]), "") if len(names) == 2 else ""


def coordinates(
    ranks: Sequence[int],
    groups: Iterable[ProcessGroup],
    hosts: Sequence[str] = (),
    told: Sequence[Mapping[str, int]] = (),
) -> tuple[Dimension, ...]:
    """The dimensions of a job, those with the nearest ranks first; none where neither groups nor names tell any.

    ranks: the distinct ranks that are asked about.
    hosts: the host of each of them, empty unknown; several hosts are a dimension of their own.
    told: place by dimension of each of them, as its name tells. It counts where no group names the dimension.
    """
    families = _families(ranks, groups)
    named = [family for family in families if family.name]
    unnamed = [family for family in families if not family.name]
    basis: list[_Family] = []
    for family in sorted(named, key=_nearness) + sorted(unnamed, key=_nearness):
        if _is_independent([*basis, family]):
            basis.append(family)
    shown = [family for family in families if family.name or family in basis]
    found = [_dimension(family, family in basis) for family in sorted(shown, key=_nearness)]
    found = _with_names(found, told)
    sets = () if any(dimension.by_name for dimension in found) else _sets(ranks, basis)
    return (*found[:MOST_DIMENSIONS], *sets, *_nodes(hosts))


def _with_names(found: list[Dimension], told: Sequence[Mapping[str, int]]) -> list[Dimension]:
    """Dimensions with what names tell: names of groups without one, and dimensions that no group names. These tell ranks apart
    where there are no groups.
    """
    basis = [] if found else [np.zeros(len(told), np.int64)]
    for name, place in _places_told(told).items():
        same = [d for d in found if not d.by_name and np.array_equal(d.place, place)]
        if any(d.name == name for d in found):
            continue
        if same and same[0].name.startswith("groups of"):
            found = [replace(d, name=name) if d is same[0] else d for d in found]
            continue
        before = len(np.unique(np.stack(basis), axis=1).T) if basis else len(place)
        after = len(np.unique(np.stack([*basis, place]), axis=1).T)
        size = int(place.max()) + 1
        found = [*found, Dimension(name, size, 0, after > before, place, by_name=True)]
        basis = [*basis, place] if after > before else basis
    return found


def _places_told(told: Sequence[Mapping[str, int]]) -> dict[str, Ints]:
    """The places of ranks in the dimensions that all names tell and in which they differ, the fastest first."""
    names = set.intersection(*(set(places) for places in told)) if told else set()
    found = {name: np.array([places[name] for places in told], np.int64) for name in names}
    varying = {name: place for name, place in found.items() if place.max() > place.min()}
    changes = {name: int(np.count_nonzero(np.diff(place))) for name, place in varying.items()}
    return {
        name: varying[name] for name in sorted(varying, key=lambda n: (-changes[n], n != "TP", n))
    }


def _families(ranks: Sequence[int], groups: Iterable[ProcessGroup]) -> list[_Family]:
    """Groups by name and size, unnamed ones by their pattern, where these are disjoint; each set of groups once."""
    place_of = {rank: place for place, rank in enumerate(ranks)}
    sets: dict[tuple[str, int, tuple[int, ...]], dict[tuple[int, ...], None]] = {}
    for group in list(dict.fromkeys(groups))[:MOST_GROUPS]:
        members = tuple(sorted(set(group.ranks)))
        name = dimension_name(group.description) or dimension_name(group.name)
        # The unnamed group of all ranks is the default one.
        if len(members) < 2 or (not name and len(members) >= len(ranks)):
            continue
        pattern = () if name else tuple(rank - members[0] for rank in members)
        sets.setdefault((name, len(members), pattern), {})[members] = None
    families: dict[frozenset[tuple[int, ...]], _Family] = {}
    for (name, _, _), members_of in sorted(sets.items(), key=lambda item: not item[0][0]):
        family = _family(name, tuple(members_of), place_of)
        if family is not None:
            families.setdefault(frozenset(members_of), family)
    return _told_apart(list(families.values()))


def _family(
    name: str, groups: tuple[tuple[int, ...], ...], place_of: Mapping[int, int]
) -> _Family | None:
    """None if a rank is in two of the groups; if unnamed, also if one is in none."""
    place, group = (np.full(len(place_of), -1, np.int64) for _ in range(2))
    for number, members in enumerate(groups):
        for index, rank in enumerate(members):
            at = place_of.get(rank, -1)
            if at >= 0 and place[at] >= 0:
                return None
            if at >= 0:
                place[at], group[at] = index, number
    known = (place >= 0).all() if not name else (place >= 0).any()
    return _Family(name, groups, place, group) if known else None


def _told_apart(families: list[_Family]) -> list[_Family]:
    """Several sets of one name get their size in it."""
    names = [family.name for family in families]
    return [
        replace(family, name=f"{family.name} of {len(family.groups[0])}")
        if family.name and names.count(family.name) > 1
        else family
        for family in families
    ]


def _stride(family: _Family) -> int:
    strides = {after - before for members in family.groups for before, after in pairwise(members)}
    return strides.pop() if len(strides) == 1 else 0


def _nearness(family: _Family) -> tuple[int, int, str]:
    distance = min(members[-1] - members[0] for members in family.groups)
    return distance, len(family.groups[0]), family.name


def _is_independent(families: Sequence[_Family]) -> bool:
    """Whether each new group meets what the earlier dimensions join in one rank at most, and places tell ranks apart; judged
    by the ranks of which all places are known, if these are most.
    """
    *earlier, last = families
    count = len(last.place)
    known = (np.stack([family.place for family in families]) >= 0).all(axis=0)
    if 2 * known.sum() <= count:
        return False
    joined = np.stack([_components(count, earlier), last.group])
    places = np.stack([_components(count, families), *(family.place for family in families)])
    return _all_differ(joined[:, known]) and _all_differ(places[:, known])


def _all_differ(columns: Ints) -> bool:
    return bool(np.unique(columns, axis=1).shape[1] == columns.shape[1])


def _components(count: int, families: Sequence[_Family]) -> Ints:
    """The smallest place of a rank that groups of these dimensions join it with, through others or at once."""
    component = np.arange(count, dtype=np.int64)
    for _ in range(count):
        before = component.copy()
        for family in families:
            inside = family.group >= 0
            least = np.full(len(family.groups), count, np.int64)
            np.minimum.at(least, family.group[inside], component[inside])
            component[inside] = least[family.group[inside]]
        if np.array_equal(before, component):
            break
    return component


def _dimension(family: _Family, independent: bool) -> Dimension:
    size, stride = len(family.groups[0]), _stride(family)
    name = family.name or f"groups of {size}" + (f", stride {stride}" if stride else "")
    return Dimension(name, size, stride, independent, family.place)


def _sets(ranks: Sequence[int], basis: Sequence[_Family]) -> list[Dimension]:
    """Which of the sets that no group joins a rank is in, by their lowest ranks; nothing if all are joined."""
    if not basis:
        return []
    order = np.argsort(np.argsort(np.array(ranks, dtype=object), kind="stable"), kind="stable")
    component = _components(len(ranks), basis)
    least = np.full(len(ranks), len(ranks), np.int64)
    np.minimum.at(least, component, order)
    firsts, place = np.unique(least[component], return_inverse=True)
    if len(firsts) < 2:
        return []
    size = int(np.prod([len(family.groups[0]) for family in basis]))
    name = f"set of {size}" if len(basis) > 1 else f"group of {size}"
    return [Dimension(name, len(firsts), 0, True, place.reshape(-1).astype(np.int64))]


def _nodes(hosts: Sequence[str]) -> list[Dimension]:
    """Hosts in their order, if there are several; one for each rank says no more than the rank."""
    known = list(dict.fromkeys(host for host in hosts if host))
    if not 1 < len(known) < len(hosts):
        return []
    place_of = {host: place for place, host in enumerate(known)}
    place = np.array([place_of.get(host, -1) for host in hosts], np.int64)
    return [Dimension("node", len(known), 0, False, place, tuple(known))]
