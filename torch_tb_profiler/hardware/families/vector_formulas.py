"""Formulas that are some FLOPs per element of one tensor: rows of ``vector_formulas.txt``, without a function.

::

    args: out x scale                   what the arguments are called, in the order of the schema
    work: 6 out as x | x scale? > out   6 FLOPs per element of out, in the type of x; read and written

``scale?``: where it was recorded. ``x~``: a result like x. ``x:bool``: of x's shape and that type. ``x/16:uint8``: one element for 16 of x. Behind
``as`` stands whose type the FLOPs are in, behind ``of`` whose shape is shown, where it is another tensor.
"""

from __future__ import annotations

import re

from torch_tb_profiler.data_rows import Row, rows_beside
from torch_tb_profiler.hardware.call import Call, Tensor, required
from torch_tb_profiler.hardware.work import Function, Work, model, operators, vector_work
from torch_tb_profiler.patterns import regex

_TENSOR = regex(r"(\w+)([?~]?)(?:/(\d+))?(?::(\w+))?")


def _formula(row: Row) -> Function:
    """The function of a row; ``form`` is what it says of itself."""
    (args,), (work,), (form,) = row["args"], row["work"], row["form"]
    places = {name: place for place, name in enumerate(args.split())}
    flops, read, written = re.split(r" \| | > ", work)
    each, counted, *others = flops.split()
    like = dict(zip(others[::2], others[1::2], strict=True))

    def tensor(call: Call, text: str) -> Tensor | None:
        name, mark, part, dtype = required(_TENSOR.fullmatch(text)).groups()
        found = call.tensor(places[name])
        if mark == "?":
            return found
        own = required(found)
        if not (mark or part or dtype):
            return own
        return Tensor((own.elements // int(part),) if part else own.shape, dtype or own.dtype)

    def formula(call: Call) -> Work | None:
        of, typed, shown = (
            required(tensor(call, text))
            for text in (counted, like.get("as", counted), like.get("of", counted))
        )
        used, made = ([tensor(call, text) for text in part.split()] for part in (read, written))
        flops = int(each) * of.elements
        return vector_work(flops, typed.dtype, used, made, {"shape": shown.shape})

    formula.__doc__ = form
    return formula


for _row in rows_beside(__file__):
    (_family,), (_source,), (_words,) = _row["family"], _row["source"], _row["operators"]
    model(_family, *operators(_words), source=_source)(_formula(_row))
