"""Wire types of what-ifs."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.what_if.table import PREDICTED_STEPS, WHAT_IF, WHAT_IF_KINDS
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Wire


class ChangeParameter(Wire, frozen=True, kw_only=True):
    """A parameter of a change; without a default it is empty. ``values``: the only ones, if there are."""

    name: str
    default: str
    about: str
    values: list[str]


class DeclaredChange(Wire, frozen=True, kw_only=True):
    """A change that can be simulated. ``words``: what it does; for parameters in braces: ``{of_name}``
    is `` of `` and the value, or nothing where all are meant; ``{chosen}`` all selectors that are given.
    ``selects``: at least one selector must be.
    """

    name: str
    words: str
    selects: bool
    parameters: list[ChangeParameter]


class ChosenChange(Wire, frozen=True, kw_only=True):
    """A change with its values: as text, and in words."""

    change: str
    words: str


class WhatIfPrediction(Wire, frozen=True, kw_only=True):
    """All chosen changes together; times per step, ns. ``kinds``: what the critical path is made of."""

    changes: list[ChosenChange]
    measured_ns: int
    replayed_ns: int
    replay_error: float
    predicted_ns: int
    low_ns: int
    high_ns: int
    kinds: Annotated[dict[str, Any], table_of(WHAT_IF_KINDS)]
    steps: Annotated[dict[str, Any], table_of(PREDICTED_STEPS)]


class WhatIfPayload(Wire, frozen=True, kw_only=True):
    """Route ``/what_if``. ``measured_ns``: mean wall time of the selected steps; ``replay_error``: by
    which share the simulation without a change misses it; null without steps. ``path``: the file in the
    logdir, for commands.
    """

    path: str
    steps: int
    measured_ns: int | None
    replay_error: float | None
    presets: Annotated[dict[str, Any], table_of(WHAT_IF)]
    catalogue: list[DeclaredChange]
    prediction: WhatIfPrediction | None
