"""Coordinates of ranks from process groups: meshes are recovered, whatever does not form one is unknown."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.distributed.collectives import ProcessGroup
from torch_tb_profiler.analysis.distributed.coordinates import (
    Dimension,
    coordinates,
    dimension_name,
)

NAMES = ("pp", "dp", "cp", "tp")


def group_of(name: str, description: str, ranks: tuple[int, ...]) -> ProcessGroup:
    return ProcessGroup(name, ranks, description, "nccl", len(ranks))


def lines(sizes: tuple[int, ...], axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The groups of a row-major mesh along some of its axes."""
    ranks = np.arange(math.prod(sizes)).reshape(sizes)
    moved = np.moveaxis(ranks, axes, range(-len(axes), 0))
    rows = moved.reshape(-1, math.prod(sizes[axis] for axis in axes))
    return [tuple(sorted(row)) for row in rows.tolist()]


def mesh(sizes: tuple[int, ...], described: bool) -> list[ProcessGroup]:
    """All groups of a mesh, and the default one; without descriptions torch only counts them."""
    count = math.prod(sizes)
    groups = [group_of("0", "default_pg", tuple(range(count)))]
    for axis in range(len(sizes)):
        for ranks in lines(sizes, (axis,)):
            text = f"mesh_{NAMES[axis - len(sizes)]}" if described else "undefined"
            groups.append(group_of(str(len(groups)), text, ranks))
    return groups


def places(found: tuple[Dimension, ...]) -> dict[str, list[int]]:
    return {dimension.name: dimension.place.tolist() for dimension in found}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("TENSOR_MODEL_PARALLEL_GROUP", "TP"),
        ("PIPELINE_MODEL_PARALLEL_GROUP", "PP"),
        ("DATA_PARALLEL_GROUP_GLOO", "DP"),
        ("CONTEXT_PARALLEL_GROUP", "CP"),
        ("EXPERT_MODEL_PARALLEL_GROUP", "EP"),
        ("EXPERT_TENSOR_PARALLEL_GROUP", "expert TP"),
        ("EXPERT_DATA_PARALLEL_GROUP", "expert DP"),
        ("mesh_tp", "TP"),
        ("mesh_dp_replicate", "DP replicate"),
        ("mesh_dp_shard", "DP shard"),
        ("mesh_fsdp", "FSDP"),
        ("tp:0", "TP"),
        # Several dimensions joined, or none: named after nothing.
        ("DATA_PARALLEL_GROUP_WITH_CP", ""),
        ("TENSOR_AND_DATA_PARALLEL_GROUP", ""),
        ("EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP", ""),
        ("MODEL_PARALLEL_GROUP", ""),
        ("mesh_dp_shard_cp", ""),
        ("EMBEDDING_GROUP", ""),
        ("mesh_dim_0", ""),
        ("default_pg", ""),
        ("undefined", ""),
        ("stamp", ""),
        ("", ""),
    ],
)
def test_a_description_names_one_dimension_or_none(text: str, name: str) -> None:
    assert dimension_name(text) == name


@given(
    sizes=st.lists(st.integers(2, 5), min_size=1, max_size=4).map(tuple),
    described=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_the_coordinates_of_a_mesh_are_recovered(
    sizes: tuple[int, ...], described: bool, seed: int
) -> None:
    """Also with the groups of any two of its dimensions joined, as Megatron makes them, in any order of ranks and groups."""
    rng, groups = random.Random(seed), mesh(sizes, described)
    for axes in itertools.combinations(range(len(sizes)), 2):
        groups += [group_of("", "MODEL_PARALLEL_GROUP", ranks) for ranks in lines(sizes, axes)]
    ranks = list(range(math.prod(sizes)))
    rng.shuffle(ranks)
    rng.shuffle(groups)
    found = coordinates(ranks, groups)
    if not described and len(sizes) == 1:
        # The only group is that of all ranks: it tells nothing.
        assert found == ()
        return
    expected = {tuple(np.unravel_index(ranks, sizes)[axis].tolist()) for axis in range(len(sizes))}
    assert all(dimension.independent for dimension in found)
    assert {tuple(dimension.place.tolist()) for dimension in found} == expected
    strides = [math.prod(sizes[axis + 1 :]) for axis in reversed(range(len(sizes)))]
    assert [dimension.stride for dimension in found] == strides
    if described:
        assert [dimension.name for dimension in found] == [
            NAMES[axis - len(sizes)].upper() for axis in reversed(range(len(sizes)))
        ]


def test_experts_run_along_the_dimensions_of_the_mesh() -> None:
    groups = [
        group_of("", text, ranks)
        for text, axes in (("TENSOR_MODEL_PARALLEL_GROUP", (1,)), ("DATA_PARALLEL_GROUP", (0,)))
        for ranks in lines((8, 2), axes)
    ]
    groups += [
        group_of("", "EXPERT_MODEL_PARALLEL_GROUP", tuple(range(first, first + 8)))
        for first in (0, 8)
    ]
    found = coordinates(range(16), groups)
    assert [(d.name, d.independent) for d in found] == [("TP", True), ("EP", False), ("DP", True)]
    assert places(found)["EP"] == [*range(8), *range(8)]


def test_what_no_group_joins_are_sets() -> None:
    groups = [group_of("", "undefined", ranks) for ranks in lines((4, 8), (1,))]
    assert places(coordinates(range(32), groups)) == {
        "groups of 8, stride 1": [rank % 8 for rank in range(32)],
        "group of 8": [rank // 8 for rank in range(32)],
    }


def test_recordings_of_some_ranks_still_have_their_places() -> None:
    groups = [
        group for group in mesh((4, 8), described=True) if 5 in group.ranks or 13 in group.ranks
    ]
    found = coordinates([5, 13], groups)
    assert places(found) == {"TP": [5, 5], "CP": [0, 1]}


def test_ranks_of_an_unknown_group_are_unknown_and_the_others_keep_their_dimensions() -> None:
    """Neither rank 1 nor rank 9 could be read, so nobody lists their pipeline."""
    groups = [group for group in mesh((2, 2, 4), described=True) if group.ranks != (1, 9)]
    found = coordinates(range(16), groups)
    assert [(d.name, d.independent) for d in found] == [("TP", True), ("CP", True), ("DP", True)]
    assert np.flatnonzero(found[2].place < 0).tolist() == [1, 9]


def test_hosts_are_a_dimension_unless_each_rank_has_its_own() -> None:
    nodes = coordinates(range(4), [], ["b", "b", "a", ""])
    assert [(d.name, d.values, d.place.tolist()) for d in nodes] == [
        ("node", ("b", "a"), [0, 0, 1, -1])
    ]
    assert coordinates(range(2), [], ["a", "b"]) == ()
    assert coordinates(range(2), [], ["a", "a"]) == ()


@pytest.mark.parametrize(
    "groups",
    [
        [(0, 1), (1, 2), (2, 3)],
        [(0, 1, 2), (3,)],
        [(0, 1)],
        [(0, 0, 1), (1, 2)],
        [(-5, 10**30), (0, 3)],
        [()],
    ],
)
def test_groups_that_are_no_dimension_are_left_out(groups: list[tuple[int, ...]]) -> None:
    assert coordinates(range(4), [group_of("", "", ranks) for ranks in groups]) == ()


def test_overlapping_groups_of_a_name_say_nothing() -> None:
    groups = [group_of("", "mesh_tp", ranks) for ranks in ((0, 1), (1, 2))]
    assert coordinates(range(4), groups) == ()


def test_two_sets_of_one_name_are_told_apart_by_size() -> None:
    groups = [group_of("", "mesh_tp", ranks) for ranks in ((0, 1), (2, 3), (0, 1, 2, 3))]
    assert places(coordinates(range(4), groups)) == {
        "TP of 2": [0, 1, 0, 1],
        "TP of 4": [0, 1, 2, 3],
        "group of 2": [0, 0, 1, 1],
    }


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "mesh_tp", "mesh_dp", "undefined", "𝔱p"]),
            st.lists(st.integers(-2, 12), max_size=8),
        ),
        max_size=12,
    ),
    st.lists(st.integers(0, 12), unique=True, max_size=10),
)
def test_any_groups_are_read(groups: list[tuple[str, list[int]]], ranks: list[int]) -> None:
    """Places lie within their dimension; the independent ones together tell ranks apart."""
    found = coordinates(ranks, [group_of("", text, tuple(sorted(m))) for text, m in groups])
    for dimension in found:
        assert dimension.place.shape == (len(ranks),)
        assert dimension.place.min(initial=-1) >= -1
        assert dimension.place.max(initial=-1) < dimension.size
    basis = [dimension.place.tolist() for dimension in found if dimension.independent]
    known = [places for places in zip(*basis, strict=True) if min(places) >= 0]
    assert len(set(known)) == len(known)


def told(name: str, *counts: int) -> list[dict[str, int]]:
    """What names tell of a row-major mesh: ``told("dp tp", 2, 2)``."""
    words = name.upper().split()
    return [dict(zip(words, place, strict=True)) for place in np.ndindex(*counts)]


def test_names_tell_dimensions_where_no_group_does() -> None:
    places_told = [{**place, "EP": rank} for rank, place in enumerate(told("dp pp tp", 2, 1, 2))]
    found = coordinates(range(4), [], (), places_told)
    assert places(found) == {"TP": [0, 1, 0, 1], "EP": [0, 1, 2, 3], "DP": [0, 0, 1, 1]}
    assert all(dimension.by_name for dimension in found)
    assert [
        d.name for d in coordinates(range(4), [], (), told("dp tp", 2, 2)) if d.independent
    ] == [
        "TP",
        "DP",
    ]


def test_groups_outweigh_names() -> None:
    groups = mesh((2, 2), True)
    wrong = [{"TP": 1 - place["TP"]} for place in told("dp tp", 2, 2)]
    assert places(coordinates(range(4), groups, (), wrong)) == places(coordinates(range(4), groups))


def test_names_name_the_groups_that_have_no_name() -> None:
    groups = mesh((2, 2), False)
    found = coordinates(range(4), groups, (), told("dp tp", 2, 2))
    assert {d.name: d.stride for d in found} == {"TP": 1, "DP": 2}
    assert not any(dimension.by_name for dimension in found)
