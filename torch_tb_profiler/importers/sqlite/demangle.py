"""The scope and base name of a mangled C++ name, which nvprof stores of kernels, readable; its arguments stay as they are.

::

    _ZN2at6native13reduce_kernelILi512ELi1EEEvT1_     at::native::reduce_kernel<Li512ELi1EEEvT1_>
    _Z4gemmPfS_i                                      gemm(PfS_i)

Nothing of a name is lost, so two kernels never get one name. What has no plain name (lambdas, local names, operators) stays
mangled.

Source: Itanium C++ ABI, section 5.1, https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
"""

from __future__ import annotations

import re

from torch_tb_profiler.patterns import regex

_BEGIN = regex(r"_Z(?:(N)[rVK]*[RO]?)?", re.ASCII)
_PART = regex(r"St|L?(\d{1,5})", re.ASCII)


def demangled(name: str) -> str:
    """The readable form of a name; the name itself if it has none."""
    begin = _BEGIN.match(name)
    if begin is None:
        return name
    position, parts = begin.end(), list[str]()
    while (match := _PART.match(name, position)) is not None:
        position = match.end()
        if match[1] is None:
            parts.append("std")
            continue
        first, position = position, position + int(match[1])
        part = name[first:position]
        parts.append("(anonymous namespace)" if part.startswith("_GLOBAL__N_") else part)
        if begin[1] is None:
            break
    rest = name[position:]
    if position > len(name) or not parts or parts[-1] in ("", "std", "(anonymous namespace)"):
        return name
    readable = "::".join(parts)
    if rest.startswith("I"):
        return f"{readable}<{rest[1:]}>"
    if begin[1] is not None and not rest.startswith("E"):
        return name
    rest = rest if begin[1] is None else rest[1:]
    return f"{readable}({rest})" if rest else readable
