"""A second thread, for what numpy computes without Python's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, Protocol, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_LARGE = 50_000
"""Spans from which on a second thread saves more than it costs, 10 ms (measured), and than the import of what keeps threads, 5 ms."""


class Start(Protocol):
    """Has a function called beside the own thread, one after the other; what it returns waits for the result."""

    def __call__(
        self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> Callable[[], _T]: ...


@contextmanager
def beside(spans: int) -> Iterator[Start]:
    """What starts work beside the own thread on a trace of so many spans; of few it is done at once."""
    if spans < _LARGE:
        yield _at_once
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:

        def start(
            function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
        ) -> Callable[[], _T]:
            return thread.submit(function, *args, **kwargs).result

        yield start


def _at_once(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> Callable[[], _T]:
    result = function(*args, **kwargs)
    return lambda: result
