"""The tour of a logdir: places to look at first, as its file ``tour.json`` says. The file is untrusted:
what does not fit its form is no tour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated
from urllib.parse import parse_qsl

import msgspec

from torch_tb_profiler.untrusted import decoded
from torch_tb_profiler.views.wire import Wire

_Text = Annotated[str, msgspec.Meta(max_length=400)]


class TourPlace(Wire, frozen=True, kw_only=True):
    """A place to look at; ``link``: its address behind the ``#`` of the page."""

    text: _Text
    link: _Text


class TourPayload(Wire, frozen=True, kw_only=True):
    """Route ``/tour``: what the logdir shows, and places in it; without places there is no tour."""

    sentences: Annotated[list[_Text], msgspec.Meta(max_length=8)]
    places: Annotated[list[TourPlace], msgspec.Meta(max_length=8)]


NO_TOUR = TourPayload(sentences=[], places=[])


def tour_payload(text: bytes, workers: Mapping[str, Sequence[str]]) -> TourPayload:
    """The tour of a file, with the places whose run and worker are there. ``workers``: of each run."""
    try:
        tour: TourPayload = decoded(text, TourPayload)
    except ValueError:
        return NO_TOUR
    places = [place for place in tour.places if _is_there(place, workers)]
    return TourPayload(sentences=tour.sentences, places=places) if places else NO_TOUR


def _is_there(place: TourPlace, workers: Mapping[str, Sequence[str]]) -> bool:
    keys = dict(parse_qsl(place.link))
    run = workers.get(keys.get("run", ""))
    return run is not None and keys.get("worker", run[0] if run else "") in run
