"""How much arithmetic and memory traffic a call of an operator is: the registry of performance
models.

A model is one small function per family, declared with the operators that it is for and the source
of its formula::

    @model("gemm", "aten::mm", source="2·M·N·K, one multiplication and one addition per product")
    def mm(call: Call) -> Work | None: ...

None means: this call cannot be modelled (a shape is missing). An operator without a model is not
modelled; neither is ever 0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from torch_tb_profiler.hardware.call import Call, Tensor, moved
from torch_tb_profiler.hardware.element_types import kind
from torch_tb_profiler.hardware.element_types import precision as precision_of
from torch_tb_profiler.hardware.python_names import operator_of

logger = logging.getLogger(__name__)
Unit = Literal["matrix", "vector", ""]
"""Which units of the hardware can do the arithmetic; empty where there is none (a copy)."""
_LARGEST = 1 << 62
_LONGEST = 2000
"""Characters of all parameters of a call."""


@dataclass(frozen=True)
class Work:
    """The work of one call.

    Attributes:
        flops: floating-point operations, a multiplication and an addition counting two; 0 for what
            only moves data.
        bytes: least bytes moved to and from memory: every input read once, every output written
            once; None when an element type is not known.
        unit: where the arithmetic can run at best.
        precision: type of the multiplied elements: ``fp64 fp32 tf32 fp16 bf16 fp8 int8 fp4 …``;
            empty when not known.
        parameters: what the formula read, for people: ``{"M": 788, "N": 768, "K": 768}``, in the
            order to be shown.
        bias_flops: of ``flops``, what follows the products: a bias, another addend, a fused
            activation, gates. ``torch.utils.flop_counter`` leaves it out.
    """

    flops: int
    bytes: int | None
    unit: Unit
    precision: str
    parameters: dict[str, object] = field(default_factory=dict)
    bias_flops: int = 0


Function = Callable[[Call], "Work | None"]


@dataclass(frozen=True)
class Model:
    """A registered model: ``family`` is one of the words that the page shows (``gemm``,
    ``convolution``, ``attention``, ``elementwise`` …).
    """

    family: str
    function: Function
    source: str


_MODELS: dict[str, Model] = {}
_PREFIXES: dict[str, Model] = {}
_TOLD: set[str] = set()
"""Operators of which a user was told that their model fails."""


def model(family: str, *names: str, source: str) -> Callable[[Function], Function]:
    """Registers a function as the model of operators; a name that ends with ``*`` is for all that
    begin so and have none of their own.

    A later registration takes the place of an earlier one, so that users can have their own:
    ``torch_tb_profiler.register_model`` is this function.

    Raises:
        ValueError: a text is missing.
    """

    if not names or not all(isinstance(text, str) and text for text in (family, source, *names)):
        raise ValueError(
            "a performance model needs a family, the names of its operators and a source, all of"
            " them texts"
        )

    def register(function: Function) -> Function:
        if not _is_ours(function):
            # Ours first: else they would take the place of the user's when they are loaded.
            _load()
        for name in names:
            table = _PREFIXES if name.endswith("*") else _MODELS
            table[name.removesuffix("*")] = Model(family, function, source)
        return function

    return register


def model_of(name: str) -> Model | None:
    """The model of an operator, also under the name by which Python calls it; None: not modelled."""
    return _found(name)[0]


def _found(name: str) -> tuple[Model | None, str]:
    """(the model of an operator, the name under which that knows it)."""
    _load()
    for known in dict.fromkeys((name, operator_of(name))):
        if known in _MODELS:
            return _MODELS[known], known
        prefix = max(
            (prefix for prefix in _PREFIXES if known.startswith(prefix)), key=len, default=None
        )
        if prefix is not None:
            return _PREFIXES[prefix], known
    return None, name


def modelled() -> dict[str, Model]:
    """All models by operator, or by the beginning of its name and ``*``."""
    _load()
    return _registered()


def _registered() -> dict[str, Model]:
    return _MODELS | {f"{prefix}*": found for prefix, found in _PREFIXES.items()}


def vector_work(
    flops: int,
    dtype: str,
    read: Iterable[Tensor | None],
    written: Iterable[Tensor | None],
    parameters: Mapping[str, object] | None = None,
) -> Work | None:
    """The work of vector units that compute in the type ``dtype``; arithmetic on integers and truth
    values is no FLOP, that on complex ones not modelled.
    """
    sort = kind(dtype)
    if sort == "complex" and flops:
        return None
    count = flops if sort in ("float", "") else 0
    return Work(
        count,
        moved(*read, *written),
        "vector" if count else "",
        precision_of(dtype) if count else "",
        dict(parameters or {}),
    )


def work_of(call: Call) -> Work | None:
    """The work of a call; None when its operator has no model, or a shape that the model needs was
    not recorded.
    """
    found, name = _found(call.name)
    if found is None:
        return None
    call = replace(call, name=name)
    try:
        work = found.function(call)
        if work is not None:
            _check(work)
    except (Exception, SystemExit) as error:
        # Shapes that no such operator can have: a trace may say anything. A user's model may raise
        # anything, and is told.
        if not _is_ours(found.function) and call.name not in _TOLD:
            _TOLD.add(call.name)
            logger.warning(
                "The performance model of %s raised %s: %.300s",
                call.name,
                type(error).__name__,
                error,
            )
        return None
    return work


def _check(work: object) -> None:
    """Whether a model's answer can be shown.

    Raises:
        TypeError, ValueError: it cannot. What the texts of its parameters raise.
    """
    if not (
        isinstance(work, Work) and type(work.flops) is int and type(work.bytes) in (int, type(None))
    ):
        raise TypeError(f"{work!r:.200} is no Work of whole FLOPs and bytes")
    if not 0 <= work.flops < _LARGEST or not 0 <= (work.bytes or 0) < _LARGEST:
        raise ValueError("FLOPs and bytes are numbers from 0 to 2**62")
    if work.unit not in get_args(Unit) or not isinstance(work.precision, str):
        raise ValueError(
            f"unit {work.unit!r:.50}, precision {work.precision!r:.50}: expected is matrix, vector"
            " or empty, and a word like bf16"
        )
    if (
        not isinstance(work.parameters, dict)
        or sum(len(f"{key}{value}") for key, value in work.parameters.items()) > _LONGEST
    ):
        raise ValueError("parameters are no dict of short texts and numbers")


def users() -> dict[str, Function]:
    """Functions that are not of this package, by operator or the beginning of its name and ``*``."""
    # Not ``modelled()``: where the families were not loaded, nobody has registered any of their own.
    return {
        name: found.function
        for name, found in _registered().items()
        if not _is_ours(found.function)
    }


def _is_ours(function: Function) -> bool:
    return str(getattr(function, "__module__", "")).startswith(f"{__package__}.families.")


def _load() -> None:
    """The families register themselves when they are first asked for."""
    from torch_tb_profiler.hardware import families

    families.load()
