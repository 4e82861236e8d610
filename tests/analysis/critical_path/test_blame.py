"""Who holds a run back, in drawn runs; a column is a microsecond."""

from __future__ import annotations

from tests.analysis.critical_path.test_ranks import (
    fleet_of,
    group,
    rank,
    reduced,
)
from torch_tb_profiler.analysis.critical_path.blame import Blame, to_blame
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Trace

US = 1000


def computes(number: int, length: int, end: int = 90, of: int = 3) -> Trace:
    """A rank, of so many, that computes for ``length`` and then meets the others, who are through at ``end``."""
    kernel, meets = "{a #1".ljust(length - 1) + "}", "{n #2"
    return rank(
        f"""
main    [ProfilerStep#1 ]
main     <a #1><n #2>
gpu 7                   {kernel}
gpu 20                  {" " * length} {meets.ljust(end - length - 20)}}}
""",
        number,
        {"n #2": reduced("0", of)},
        [group("0", *range(of))],
    )


def blamed(*traces: Trace) -> tuple[Blame, ...]:
    return fleet_of(*traces).blames


def test_the_rank_that_computes_longer_holds_the_others_back_by_so_much() -> None:
    """60 of the path are its kernel; the others take 20."""
    (blame,) = blamed(computes(0, 20), computes(1, 60), computes(2, 20))
    assert (blame.step, blame.rank, blame.also) == (0, 1, ())
    (part,) = blame.parts
    assert (part.cause, part.name, part.held) == (PathCause.KERNEL, "a", 40 * US)
    assert (part.start, part.duration) == (24 * US - 8 * US, 60 * US)
    assert 40 * US <= blame.held <= 41 * US
    assert blame.on_path >= 60 * US


def test_ranks_that_are_as_slow_are_to_blame_alike() -> None:
    (blame,) = blamed(computes(0, 20), computes(1, 60), computes(2, 58))
    assert blame.rank == 1
    assert blame.also == (2,)
    four = [computes(i, length, of=4) for i, length in enumerate((20, 60, 20, 58))]
    (blame,) = fleet_of(*four).blames
    assert (blame.rank, blame.also) == (1, (3,))


def test_where_all_take_as_long_nobody_is_to_blame() -> None:
    assert blamed(computes(0, 40), computes(1, 40), computes(2, 40)) == ()


def test_alone_a_rank_has_nobody_to_be_compared_with() -> None:
    assert blamed(computes(0, 60)) == ()


def test_a_delay_that_was_not_recorded_is_blamed_without_work() -> None:
    """Rank 1 begins its kernel late though it was launched in time: its stream was held by something else."""
    late = rank(
        """
main    [ProfilerStep#1 ]
main     <a #1><n #2>
gpu 7                                                  {a #1  }
gpu 20                                                          {n #2   }
""",
        1,
        {"n #2": reduced("0", 3)},
        [group("0", 0, 1, 2)],
    )
    (blame,) = blamed(computes(0, 8, 70), late, computes(2, 8, 70))
    assert blame.rank == 1
    assert blame.parts[0].cause == PathCause.LAUNCH


def test_who_is_to_blame_in_most_steps_is_named() -> None:
    def of(step: int, rank: int, *also: int) -> Blame:
        return Blame(step, rank, also, 1, 1, ())

    assert to_blame([of(0, 6, 7), of(1, 7, 6), of(2, 7)]) == [6, 7]
    assert to_blame([of(0, 1, 3), of(1, 1)]) == [1]
    assert to_blame([]) == []


def test_no_more_is_blamed_than_the_others_wait() -> None:
    fleet = fleet_of(computes(0, 20), computes(1, 60), computes(2, 35))
    (blame,) = fleet.blames
    assert (blame.rank, blame.waits) == (1, True)
    # Rank 2 is the next-latest.
    assert blame.held == 25 * US
    assert 0 < sum(part.held for part in blame.parts) <= blame.held + len(blame.parts)
