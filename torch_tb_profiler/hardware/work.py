"""The registry of performance models: arithmetic and memory traffic of an operator's call.

A model is a small function; its family, its operators and the source of its formula stand in a row of the file beside it, and
behind the decorator where they follow from a table (``model``, which users have too)::

    modelled = models_beside(__file__)         model: products
                                               family: gemm
    @modelled                                  operators: aten: mm bmm
    def products(call: Call) -> Work | None:   source: 2·M·N·K, one multiplication and one addition per product

None means that this call cannot be modelled, for example because a shape is missing. So does an
error: ``Unrecorded``, or one of a shape that has too few dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeVar, get_args

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor, Unrecorded, moved
from torch_tb_profiler.hardware.element_types import kind
from torch_tb_profiler.hardware.element_types import precision as precision_of
from torch_tb_profiler.patterns import regex

Unit = Literal["matrix", "vector", ""]
"""The units that can do the arithmetic; empty without any (a copy)."""
_LARGEST = 1 << 62
_LONGEST = 2000
"""Characters of all parameters of a call."""

_PYTHON = regex(r"(?:(?:torch(?:\.\w+)*|Tensor)\.)?([A-Za-z_]\w*)", re.ASCII)

_SPECIAL = {
    "__matmul__": "matmul",
    "__add__": "add",
    "__radd__": "add",
    "__iadd__": "add_",
    "__sub__": "sub",
    "__isub__": "sub_",
    "__mul__": "mul",
    "__rmul__": "mul",
    "__imul__": "mul_",
    "__truediv__": "div",
    "__itruediv__": "div_",
    "__pow__": "pow",
    "__neg__": "neg",
    "__eq__": "eq",
    "__ne__": "ne",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
    "cross_entropy": "cross_entropy_loss",
}

_OTHER_ORDER = frozenset(("torch.nn.functional.embedding",))
"""Functions whose tensors are in another order than the operator's."""


class Work(msgspec.Struct, frozen=True):
    """The work of one call.

    Attributes:
        flops: floating-point operations; a multiply-add is two, moving data 0.
        bytes: least memory traffic: every input read once, every output written once; None if an
            element type is unknown.
        unit: the fastest units that can do the arithmetic.
        precision: of the multiplied elements: ``fp64 fp32 tf32 fp16 bf16 fp8 int8 fp4 …``; empty
            if unknown.
        parameters: inputs of the formula in display order: ``{"M": 788, "N": 768, "K": 768}``.
        bias_flops: of ``flops``, those after the products (bias, fused activation, gates), which
            ``torch.utils.flop_counter`` leaves out.
    """

    flops: int
    bytes: int | None
    unit: Unit
    precision: str
    parameters: dict[str, object] = msgspec.field(default_factory=dict)
    bias_flops: int = 0


Described = TypeVar("Described")
Function = Callable[[Call], "Work | None"]


class Model(msgspec.Struct, frozen=True):
    """A registered model; ``family`` is a word that the page shows (``gemm``, ``attention`` …).

    ``of_step``: the work depends on the iteration of the server (``Call.step``).
    """

    family: str
    function: Function
    source: str
    of_step: bool = False


_MODELS: dict[str, Model] = {}
_PREFIXES: dict[str, Model] = {}
_WARNED: set[str] = set()
"""Operators whose failing model was logged."""


def model(
    family: str, *names: str, source: str, of_step: bool = False
) -> Callable[[Function], Function]:
    """Register a function as the model of operators; ``name*`` matches a prefix.

    ``of_step``: the function reads ``call.step``. A later registration replaces an earlier one, also of our own models. This function is public as
    ``torch_tb_profiler.register_model``.

    Raises:
        ValueError: the family, a name or the source is missing.
    """

    if not names or not all(isinstance(text, str) and text for text in (family, source, *names)):
        raise ValueError("a performance model needs a family, operator names and a source, all str")

    def register(function: Function) -> Function:
        if not _is_ours(function):
            # Load ours first, or they would later replace the user's.
            _load()
        for name in names:
            table = _PREFIXES if name.endswith("*") else _MODELS
            table[name.removesuffix("*")] = Model(family, function, source, of_step)
        return function

    return register


def described(lines: Iterable[str], kind: type[Described]) -> dict[str, Described]:
    """What lines of a file say of operators, ``aten: mm bmm; aiter: gemm | places=1,2, out=3 flag``, each as a struct of this kind."""
    found: dict[str, Described] = {}
    for line in lines:
        words, _, fields = line.partition(" |")
        values: dict[str, object] = {}
        for field in fields.split():
            key, is_set, value = field.partition("=")
            values[key] = value.strip(",").split(",") if "," in value else value if is_set else True
        one = msgspec.convert(values, kind, strict=False)
        found |= dict.fromkeys(operators(words), one)
    return found


def operators(text: str) -> tuple[str, ...]:
    """The operators of ``aten: mm bmm add(_); aiter: gemm``; ``(_)``: in place, too."""
    parts = (part.rpartition(": ") for part in re.sub(r"(\S+)\(_\)", r"\1 \1_", text).split("; "))
    return tuple(
        name
        for library, _, words in parts
        for name in (f"{library}::{word}" if library else word for word in words.split())
    )


def models_beside(module: str) -> Callable[[Function], Function]:
    """The decorator of models whose family, operators and source of the formula are told by the file beside their module,
    ``__file__``: in the row ``model`` of the function's name.
    """
    rows = {name: row for row in rows_beside(module) for name in row.get("model", ())}

    def register(function: Function) -> Function:
        row = rows[function.__name__]
        (family,), (source,), (words,) = row["family"], row["source"], row["operators"]
        return model(family, *operators(words), source=source, of_step="of_step" in row)(function)

    return register


def model_of(name: str) -> Model | None:
    """The model of an operator, also under its Python name; None: not modelled."""
    return _lookup(name)[0]


def _lookup(name: str) -> tuple[Model | None, str]:
    """(model of an operator, the name under which the model knows it)."""
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
    """All models by operator, or by prefix and ``*``."""
    _load()
    return _registered()


def _registered() -> dict[str, Model]:
    return _MODELS | {f"{prefix}*": entry for prefix, entry in _PREFIXES.items()}


def vector_work(
    flops: int,
    dtype: str,
    read: Iterable[Tensor | None],
    written: Iterable[Tensor | None],
    parameters: Mapping[str, object] | None = None,
) -> Work | None:
    """Work of vector units in the type ``dtype``: integers do no FLOPs, complex is not modelled."""
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


def per_element(
    each: int,
    x: Tensor,
    read: Iterable[Tensor | None],
    written: Iterable[Tensor | None],
    **others: object,
) -> Work | None:
    """Work of vector units: ``each`` FLOPs per element of ``x``; parameters are its shape and others."""
    return vector_work(each * x.elements, x.dtype, read, written, {"shape": x.shape} | others)


def matrix_work(
    flops: int,
    a: Tensor,
    tensors: Iterable[Tensor | None],
    parameters: Mapping[str, object],
    others: int = 0,
) -> Work:
    """Work of matrix units: products in the type of ``a``, and ``others`` after them."""
    return Work(
        flops + others, moved(*tensors), "matrix", precision_of(a.dtype), dict(parameters), others
    )


def work_of(call: Call) -> Work | None:
    """The work of a call; None without a model, or if the model misses something."""
    registered, name = _lookup(call.name)
    if registered is None:
        return None
    call = replace(call, name=name)
    try:
        work = registered.function(call)
        if work is not None:
            _check(work)
    except Unrecorded:
        return None
    except (Exception, SystemExit) as error:
        # Invalid shapes: a trace may hold anything. Failures of a user's model are logged.
        if not _is_ours(registered.function) and call.name not in _WARNED:
            _WARNED.add(call.name)
            import logging

            logging.getLogger(__name__).warning(
                "The performance model of %s raised %s: %.300s",
                call.name,
                type(error).__name__,
                error,
            )
        return None
    return work


def _check(work: object) -> None:
    """Raise TypeError or ValueError unless a model's result is valid."""
    if not (
        isinstance(work, Work) and type(work.flops) is int and type(work.bytes) in (int, type(None))
    ):
        raise TypeError(f"{work!r:.200} is not a Work with integer FLOPs and bytes")
    if not 0 <= work.flops < _LARGEST or not 0 <= (work.bytes or 0) < _LARGEST:
        raise ValueError("FLOPs and bytes must be from 0 to 2**62")
    if work.unit not in get_args(Unit) or not isinstance(work.precision, str):
        raise ValueError(
            f"unit {work.unit!r:.50}, precision {work.precision!r:.50}: expected matrix, vector or"
            " empty, and a word like bf16"
        )
    if (
        not isinstance(work.parameters, dict)
        or sum(len(f"{key}{value}") for key, value in work.parameters.items()) > _LONGEST
    ):
        raise ValueError("parameters must be a dict of short texts and numbers")


def users() -> dict[str, Function]:
    """The functions that are not from this package, by operator."""
    # Not ``modelled()``: where the families were not loaded, nobody has registered any of their own.
    return {
        name: entry.function
        for name, entry in _registered().items()
        if not _is_ours(entry.function)
    }


def _is_ours(function: Function) -> bool:
    return str(getattr(function, "__module__", "")).startswith(f"{__package__}.families.")


def _load() -> None:
    """Import the families, which register themselves."""
    from torch_tb_profiler.hardware import families

    families.load()


def operator_of(name: str) -> str:
    """The dispatcher's name of an operator; other names are returned unchanged.

    Maps Python's names of operators, as in PyProf and PyTorch before 1.8, to those of the
    dispatcher.

    ``torch.nn.functional.linear``, ``Tensor.__matmul__``, ``mm`` → ``aten::linear``, ``aten::matmul``,
    ``aten::mm``
    """
    match = _PYTHON.fullmatch(name)
    if match is None or name in _OTHER_ORDER:
        return name
    return f"aten::{_SPECIAL.get(match[1], match[1])}"
