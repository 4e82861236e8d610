"""A short readable name of a kernel: what a person calls it, without return type, template arguments and parameters.

::

    void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, ...>(int, ...)  →  vectorized_elementwise_kernel<FillFunctor>
    sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_...                                        →  the same
    triton_poi_fused_add_0                                                                            →  the same
"""

from __future__ import annotations

import re
from functools import lru_cache

_FUNCTOR = re.compile(r"\b(?:CUDAFunctor(?:OnSelf|OnOther)?_\w+|\w+(?:Functor|Ops|Impl|_kernel|_kernel_impl|_functor|_kernel_cuda))\b")
_WRAPPERS = ("AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor", "gpu_kernel_impl", "OpaqueType")
_LAMBDA = re.compile(r"\{lambda\([^{}]*\)#\d+\}|\(anonymous namespace\)::|\(anonymous\)::")
_QUALIFIER = re.compile(r"^(?:static |inline |__global__ |void )+")
_GENERIC = ("elementwise", "reduce_kernel", "multi_tensor_apply", "for_each", "scan", "radix", "cub::")
_BARE = ("kernel", "Kernel", "Kernel2", "run", "entry")
_WIDTH = 120


@lru_cache(maxsize=65536)
def short_name(full: str) -> str:
    """The readable form; never empty for a name that is not, at most 120 characters."""
    name = full.strip()
    if not name or not re.search(r"[<(:]|^void ", name):
        return name[:_WIDTH]
    text = _QUALIFIER.sub("", _LAMBDA.sub("", name))
    head, arguments = _split(text)
    parts = [p.strip() for p in head.split("::")]
    base = parts[-1]
    if base in _BARE:
        # cutlass::Kernel2<the_real_name> says everything in its argument, gemvx::kernel<...> in its namespace.
        inner = arguments.split("<")[0].split(",")[0].rsplit("::", 1)[-1].strip()
        base = inner if "cutlass" in head and inner else "::".join(parts[-2:])
    functor = _functor(arguments) if any(g in head for g in _GENERIC) else ""
    short = f"{base}<{functor}>" if functor else base
    return (short or name)[:_WIDTH]


def _split(text: str) -> tuple[str, str]:
    """The qualified name before its template arguments and parameters, and the template arguments."""
    start = next((i for i, c in enumerate(text) if c in "<("), len(text))
    if start == len(text) or text[start] == "(":
        return text[:start], ""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == "<":
            depth += 1
        elif text[i] == ">" and text[i - 1] != "-":
            depth -= 1
            if depth == 0:
                follow = text[i + 1 :]
                if follow.startswith("::"):
                    inner, arguments = _split(follow[2:])
                    return text[:start] + "::" + inner, arguments or text[start + 1 : i]
                return text[:start], text[start + 1 : i]
    return text[:start], text[start + 1 :]


def _functor(arguments: str) -> str:
    """What is computed, by the first name in the template arguments that says so: ``FillFunctor``, ``MeanOps``, ``elu_kernel`` …"""
    words = [found.group() for found in _FUNCTOR.finditer(arguments)]
    return next((w for w in words if w not in _WRAPPERS), words[0] if words else "")
