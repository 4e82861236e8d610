"""What the kernels of torch.compile fuse, read from their names.

Inductor joins the sorted names of the functions with underscores, which many names contain, too
(``get_fused_kernel_name`` in torch/_inductor/utils.py)::

    triton_poi_fused__to_copy_add_rsqrt_3   pointwise   _to_copy, add, rsqrt
           kind fused _functions_ number
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from torch_tb_profiler.hardware.aten_names import ATEN_NAMES
from torch_tb_profiler.patterns import regex

KINDS = {
    "poi": "pointwise",
    "red": "reduction",
    "per": "persistent reduction",
    "mix": "mixed-order reduction",
    "tem": "template",
    "for": "foreach",
    "spl": "split scan",
}
"""By the three letters after ``triton_`` (``get_kernel_category`` in torch/_inductor)."""
BACKENDS = {
    "triton": "Triton",
    "cpp": "C++",
    "cuda": "CUTLASS",
    "cutlass": "CUTLASS",
    "rocm": "Composable Kernel",
    "xpu": "SYCL",
    "sycl": "SYCL",
    "cutedsl": "CuTe DSL",
    "pallas": "Pallas",
    "halide": "Halide",
    "mps": "Metal",
}
LONGEST = 4096
"""Characters of a name that are read."""
MOST_WORDS = 160
"""Words of a name that are taken apart; what follows is one name."""
_TAIL = r"(?:_\d+)?(?:_(?:\d+[cde]{1,3})+\d*)?$"
_BACKEND = "|".join(BACKENDS)
_FUSED = regex(
    rf"(?:graph_\d+_)?(?P<backend>{_BACKEND})_(?:(?P<kind>[a-z]{{3}})_)?fused(?P<words>_.*?)??{_TAIL}",
    re.ASCII,
)
_PLAIN = regex(rf"triton_(?P<words>[a-z]\w*?){_TAIL}", re.ASCII)
_EXTERN = regex(
    r"(?:torch\.ops\.\w+\.|(?:aten|prims|inductor)\.|(?:inductor_)?extern_kernels\.)"
    r"(?P<name>\w+?)(?:\.\w+)?$",
    re.ASCII,
)
_NAMED_TEMPLATES = (
    "mm addmm bmm baddbmm mm_plus_mm scaled_mm _scaled_mm _int_mm _grouped_mm _scaled_grouped_mm"
    " flex_attention flex_attention_backward flex_decoding"
)
_TEMPLATES = {
    **{name: name for name in _NAMED_TEMPLATES.split()},
    **dict.fromkeys(("convolution2d", "convolution3d"), "convolution"),
}
"""Triton templates by their own names, which kernels have that were not named after what they
fuse, and their functions. Users' kernels may have names like these, but not these."""
_UNKNOWN, _UNORDERED, _KNOWN = 10, 15, 1
_LONGEST_NAME = max(name.count("_") for name in ATEN_NAMES) + 1


class FusedName(msgspec.Struct, frozen=True):
    """What a compiled kernel's name says.

    backend: key of ``BACKENDS``, ``extern`` for a call of a library.
    kind: pointwise, reduction, …; empty if the name does not tell.
    functions: names as in aten, sorted as written, without the namespace.
    """

    backend: str
    kind: str
    functions: tuple[str, ...]


@lru_cache(maxsize=65536)
def fused_name(name: str) -> FusedName | None:
    """What the kernel of this name fuses; None if torch.compile did not make it."""
    name = name[:LONGEST]
    if (match := _FUSED.match(name)) is not None:
        kind = KINDS.get(match["kind"] or "", "")
        return FusedName(match["backend"], kind, split_functions((match["words"] or "")[1:]))
    if (match := _EXTERN.match(name)) is not None:
        return FusedName("extern", "", (match["name"],))
    if (match := _PLAIN.match(name)) is not None:
        function = _TEMPLATES.get(match["words"])
        return None if function is None else FusedName("triton", "template", (function,))
    return None


def fused_operators(name: str) -> str | None:
    """The functions that a compiled kernel fuses, with commas; None if its name does not tell."""
    fused = fused_name(name)
    return ", ".join(fused.functions) if fused is not None and fused.functions else None


def split_functions(words: str) -> tuple[str, ...]:
    """The functions of names joined by underscores: as few and as known as possible, and ascending.

    ::

        _to_copy_add_my_op_rsqrt   ─▶  _to_copy, add, my_op, rsqrt
        sub_sum_var_mean           ─▶  sub, sum, var_mean      (mean would not follow var)

    Words of no known function are kept as written.
    """
    if not words:
        return ()
    parts = words.split("_")
    if len(parts) > MOST_WORDS:
        return (*_split(parts[:MOST_WORDS]), "_".join(parts[MOST_WORDS:]))
    return _split(parts)


def _split(parts: list[str]) -> tuple[str, ...]:
    """The cheapest way: a known name costs ``_KNOWN``, another ``_UNKNOWN`` and as much per word;
    ``_UNORDERED`` is added where a name should not follow the one before.
    """
    n = len(parts)
    # Per (end, begin of the last name): its cost and the begin of the name before.
    best: list[dict[int, tuple[int, int]]] = [{} for _ in range(n + 1)]
    best[0][0] = (0, 0)
    for begin in range(n):
        for end in range(begin + 1, min(begin + _LONGEST_NAME, n) + 1):
            name = "_".join(parts[begin:end])
            if not name.strip("_") or (name[-1] == "_" and name not in ATEN_NAMES):
                continue
            known = name in ATEN_NAMES
            own = _KNOWN if known else _UNKNOWN * (end - begin + 1)
            costs = []
            for before, (cost, _) in best[begin].items():
                ordered = begin == 0 or "_".join(parts[before:begin]) < name
                costs.append((cost + own + (0 if ordered else _UNORDERED), before))
            if costs:
                best[end][begin] = min(costs)
    if not best[n]:
        return ("_".join(parts),)
    names, end = list[str](), n
    begin = min(best[n], key=lambda begin: best[n][begin])
    while end > 0:
        names.append("_".join(parts[begin:end]))
        end, begin = begin, best[end][begin][1]
    return tuple(reversed(names))
